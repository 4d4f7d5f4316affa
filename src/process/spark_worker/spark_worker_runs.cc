#include <algorithm>
#include <utility>

#include "process/spark_worker/spark_worker.h"

// Executors and drivers that a worker runs.

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

namespace {

constexpr size_t kFinishedMax = 1000;  // spark.worker.ui.retainedExecutors, .retainedDrivers
/// A driver that has run for so long begins anew with short pauses.
constexpr base::Duration kSteadyAfter = base::Duration::Seconds(5);
constexpr base::Duration kPauseMax = base::Duration::Seconds(3600);

std::string KeyOf(const std::string& application, int32_t executor) {
  return application + "/" + std::to_string(executor);
}

std::string RandomName(env::Loop& loop) {
  uint8_t bytes[16];
  loop.RandomBytes(bytes);
  std::string name;
  for (const uint8_t byte : bytes) {
    name.push_back("0123456789abcdef"[byte >> 4]);
    name.push_back("0123456789abcdef"[byte & 15]);
  }
  return name;
}

/// Keeps the memory of what has ended bounded.
template <class Run>
void Keep(std::map<std::string, Run>& finished, const std::string& key, Run run) {
  finished[key] = std::move(run);
  if (finished.size() > kFinishedMax) finished.erase(finished.begin());
}

}  // namespace

int32_t SparkWorker::cores_used() const {
  int32_t cores = 0;
  for (const auto& [key, run] : executors_) cores += run.launch.cores;
  for (const auto& [id, run] : drivers_) cores += run.launch.description.cores;
  return cores;
}

int32_t SparkWorker::memory_used() const {
  int32_t memory = 0;
  for (const auto& [key, run] : executors_) memory += run.launch.memory_mib;
  for (const auto& [id, run] : drivers_) memory += run.launch.description.memory_mib;
  return memory;
}

es::ExecutorDescription SparkWorker::Describe(const ExecutorRun& run) const {
  return {run.launch.application, run.launch.executor,   run.launch.profile,
          run.launch.cores,       run.launch.memory_mib, run.state};
}

base::Status SparkWorker::WriteHead(const env::SpawnRequest& request, const std::string& kind) {
  const auto file = world_.disk.OpenForAppending(request.stderr_path);
  if (!file) return file.error();
  return (*file)->Append(LogHead(kind, request));
}

// ---- executors -----------------------------------------------------------------------------------------------------

void SparkWorker::On(PeerId peer, const es::LaunchExecutor& message) {
  const std::string key = KeyOf(message.application, message.executor);
  if (peer != master_peer_ || message.master_url != master_url_ || decommissioned_ || executors_.contains(key)) {
    return world_.log.Warn("an order to launch an executor is not followed",
                           {{"executor", key}, {"master", message.master_url}});
  }
  ExecutorRun& run = executors_[key];
  run.launch = message;
  if (const base::Status started = StartExecutor(key, run); !started.ok()) {
    return EndExecutor(key, es::ExecutorState::kFailed, started.error().message, std::nullopt);
  }
  run.state = es::ExecutorState::kRunning;
  world_.log.Info("an executor runs", {{"executor", key}, {"pid", std::to_string(run.child->pid())}});
  Report(es::ExecutorStateChanged{message.application, message.executor, run.state, std::nullopt, std::nullopt});
}

base::Status SparkWorker::StartExecutor(const std::string& key, ExecutorRun& run) {
  const es::LaunchExecutor& launch = run.launch;
  if (!IsDirectoryName(launch.application)) return base::Error{"no valid id of an application: " + launch.application};
  run.directory = settings_.work_directory + "/" + key;
  if (const base::Status made = world_.disk.MakeDirectories(run.directory); !made.ok()) return made;
  const auto local = LocalDirectories(launch.application);
  if (!local) return local.error();
  const env::SpawnRequest request = ExecutorProcess(settings_.launch, launch, run.directory, *local);
  if (!launch.resources.empty()) {
    const base::Status written = world_.disk.WriteFileAtomically(run.directory + "/resources.json",
                                                                 ResourcesFile(launch.resources, "spark.executor"));
    if (!written.ok()) return written;
  }
  if (const base::Status written = WriteHead(request, "Executor"); !written.ok()) return written;
  run.child = std::make_unique<Child>(world_.loop, world_.processes);
  return run.child->Start(request, [this, key](int32_t code) {
    const bool killed = executors_.at(key).child->ending();
    if (killed) return EndExecutor(key, es::ExecutorState::kKilled, std::nullopt, code);
    EndExecutor(key, es::ExecutorState::kExited, "Command exited with code " + std::to_string(code), code);
  });
}

/// Directories of their own for an application's blocks, the same for all its executors here.
base::Result<std::vector<std::string>> SparkWorker::LocalDirectories(const std::string& application) {
  const auto found = local_directories_.find(application);
  if (found != local_directories_.end()) return found->second;
  std::vector<std::string> made;
  std::string why = "there is none";
  for (const std::string& root : settings_.local_directories) {
    std::string path = root + "/executor-" + RandomName(world_.loop);
    const base::Status status = world_.disk.MakeDirectories(path, 0700);
    if (status.ok()) made.push_back(std::move(path));
    if (!status.ok()) why = status.error().message;
  }
  if (made.empty()) return base::Error{"no directory for blocks can be made in SPARK_LOCAL_DIRS: " + why};
  return local_directories_[application] = std::move(made);
}

void SparkWorker::EndExecutor(const std::string& key, es::ExecutorState state, std::optional<std::string> message,
                              std::optional<int32_t> code) {
  auto node = executors_.extract(key);
  ExecutorRun run = std::move(node.mapped());
  run.state = state;
  const std::string application = run.launch.application;
  world_.log.Info(
      "an executor ended",
      {{"executor", key}, {"state", std::string(Name(state))}, {"code", code ? std::to_string(*code) : "none"}});
  Report(es::ExecutorStateChanged{application, run.launch.executor, state, std::move(message), code});
  // The child is in the middle of its end.
  auto gone = std::make_shared<std::unique_ptr<Child>>(std::move(run.child));
  world_.loop.Post([gone] { gone->reset(); });
  if (settings_.on_executor_gone) settings_.on_executor_gone(application, std::to_string(run.launch.executor));
  Keep(finished_executors_, key, std::move(run));
  CleanUp(application);
  ReportIfAllEnded();
}

void SparkWorker::On(PeerId peer, const es::KillExecutor& message) {
  const auto found = executors_.find(KeyOf(message.application, message.executor));
  if (peer != master_peer_ || found == executors_.end()) return;
  world_.log.Info("an executor is killed", {{"executor", found->first}});
  found->second.child->End();
}

void SparkWorker::On(PeerId peer, const es::ApplicationFinished& message) {
  if (peer != master_peer_) return;
  finished_applications_.insert(message.application);
  CleanUp(message.application);
}

/// Removes an application's local directories when it and all its executors here have ended.
void SparkWorker::CleanUp(const std::string& application) {
  if (!finished_applications_.contains(application)) return;
  const auto at = executors_.lower_bound(application + "/");
  if (at != executors_.end() && at->second.launch.application == application) return;
  finished_applications_.erase(application);
  if (settings_.on_application_gone) settings_.on_application_gone(application);
  const auto directories = local_directories_.extract(application);
  if (directories.empty()) return;
  world_.loop.Offload(
      [disk = &world_.disk, paths = directories.mapped()] {
        for (const std::string& path : paths) (void)disk->RemoveTree(path).ok();
      },
      [] {});
}

/// From time to time: what ended long ago. An application that has not ended keeps its directory, where Spark's own
/// Worker takes it from one without an executor here.
void SparkWorker::CleanWorkDirectory() {
  cleaning_timer_ = world_.loop.After(settings_.cleaning->interval, [this] { CleanWorkDirectory(); });
  std::set<std::string> in_use;
  for (const auto& [key, run] : executors_) in_use.insert(run.launch.application);
  for (const auto& [application, directories] : local_directories_) in_use.insert(application);
  for (const auto& [id, run] : drivers_) in_use.insert(id);
  const base::WallTime before{world_.loop.Wall().ms - settings_.cleaning->kept.millis()};
  world_.loop.Offload(
      [disk = &world_.disk, work = settings_.work_directory, in_use = std::move(in_use), before] {
        for (const std::string& path : AbandonedDirectories(*disk, work, in_use, before)) {
          (void)disk->RemoveTree(path).ok();
        }
      },
      [] {});
}

// ---- drivers -------------------------------------------------------------------------------------------------------

void SparkWorker::On(PeerId peer, const es::LaunchDriver& message) {
  if (peer != master_peer_ || drivers_.contains(message.driver)) return;
  DriverRun& run = drivers_[message.driver];
  run.launch = message;
  if (const base::Status started = StartDriver(message.driver); !started.ok()) {
    world_.log.Error("a driver cannot be started", {{"driver", message.driver}, {"why", started.error().message}});
    EndDriver(message.driver, es::DriverState::kError);
  }
}

/// The driver's jar on this machine. Only files are fetched: whatever else there is, spark-submit's --jars can name.
base::Result<std::string> SparkWorker::JarOf(const DriverRun& run) {
  std::string path = run.launch.description.jar_url;
  for (const char* scheme : {"file://", "file:", "local://", "local:"}) {
    if (!path.starts_with(scheme)) continue;
    path.erase(0, std::string_view(scheme).size());
    break;
  }
  if (path.find("://") != std::string::npos) {
    return base::Error{"the jar " + path + " is no file: only file: and local: are supported here"};
  }
  if (const auto there = world_.disk.Stat(path); !there.ok()) return there.error();
  return path;
}

base::Status SparkWorker::StartDriver(const std::string& id) {
  DriverRun& run = drivers_.at(id);
  if (!IsDirectoryName(id)) return base::Error{"no valid id of a driver: " + id};
  run.directory = settings_.work_directory + "/" + id;
  if (const base::Status made = world_.disk.MakeDirectories(run.directory); !made.ok()) return made;
  const auto jar = JarOf(run);
  if (!jar) return jar.error();
  const env::SpawnRequest request = DriverProcess(settings_.launch, run.launch, run.directory, *jar);
  if (!run.launch.resources.empty()) {
    const base::Status written = world_.disk.WriteFileAtomically(run.directory + "/resources.json",
                                                                 ResourcesFile(run.launch.resources, "spark.driver"));
    if (!written.ok()) return written;
  }
  if (const base::Status written = WriteHead(request, "Driver"); !written.ok()) return written;
  run.child = std::make_unique<Child>(world_.loop, world_.processes);
  run.started = world_.loop.Now();
  if (const base::Status started = run.child->Start(request, [this, id](int32_t code) { OnDriverExit(id, code); });
      !started.ok()) {
    return started;
  }
  run.state = es::DriverState::kRunning;
  world_.log.Info("a driver runs", {{"driver", id}, {"pid", std::to_string(run.child->pid())}});
  return {};
}

void SparkWorker::OnDriverExit(const std::string& id, int32_t code) {
  DriverRun& run = drivers_.at(id);
  if (run.killed) return EndDriver(id, es::DriverState::kKilled);
  if (code == 0) return EndDriver(id, es::DriverState::kFinished);
  if (!run.launch.description.supervise) return EndDriver(id, es::DriverState::kFailed);
  if (world_.loop.Now() - run.started > kSteadyAfter) run.pause = base::Duration::Seconds(1);
  world_.log.Warn("a supervised driver ended and is started again",
                  {{"driver", id}, {"code", std::to_string(code)}, {"after_ms", std::to_string(run.pause.millis())}});
  world_.loop.After(run.pause, [this, alive = alive_, id] {
    if (!*alive || !drivers_.contains(id)) return;
    if (const base::Status started = StartDriver(id); !started.ok()) EndDriver(id, es::DriverState::kError);
  });
  run.pause = std::min(run.pause + run.pause, kPauseMax);
}

void SparkWorker::EndDriver(const std::string& id, es::DriverState state) {
  auto node = drivers_.extract(id);
  DriverRun run = std::move(node.mapped());
  run.state = state;
  world_.log.Info("a driver ended", {{"driver", id}, {"state", std::string(Name(state))}});
  Send(master_peer_, es::DriverStateChanged{id, state, std::nullopt});  // one-way, as Spark's Worker says it
  auto gone = std::make_shared<std::unique_ptr<Child>>(std::move(run.child));
  world_.loop.Post([gone] { gone->reset(); });
  Keep(finished_drivers_, id, std::move(run));
  ReportIfAllEnded();
}

void SparkWorker::On(PeerId peer, const es::KillDriver& message) {
  const auto found = drivers_.find(message.driver);
  if (peer != master_peer_ || found == drivers_.end()) return;
  Kill(message.driver);
}

/// One that waits for its next life ends at once.
void SparkWorker::Kill(const std::string& driver) {
  DriverRun& run = drivers_.at(driver);
  run.killed = true;
  if (!run.child->running()) return EndDriver(driver, es::DriverState::kKilled);
  run.child->End();
}

// ---- the end -------------------------------------------------------------------------------------------------------

void SparkWorker::EndAll(std::function<void()> done) {
  on_all_ended_ = std::move(done);
  for (auto& [key, run] : executors_) run.child->End();
  std::vector<std::string> drivers;
  for (const auto& [id, run] : drivers_) drivers.push_back(id);
  for (const std::string& id : drivers) Kill(id);
  ReportIfAllEnded();
}

void SparkWorker::ReportIfAllEnded() {
  if (on_all_ended_ && executors_.empty() && drivers_.empty()) world_.loop.Post(std::exchange(on_all_ended_, nullptr));
}

}  // namespace fairlead::process::spark_worker

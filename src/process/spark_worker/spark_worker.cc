#include "process/spark_worker/spark_worker.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/dispatch.h"
#include "base/stored.h"
#include "endpoints/spark/master_messages.h"

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

namespace {

/// A driver that has run for so long begins again with short pauses.
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

/// What pages show of it: nothing of how it was started.
void DropCommand(ExecutorRun& run) {
  es::Command shown;
  shown.main_class = run.launch.description.command.main_class;
  run.launch.description.command = std::move(shown);
}
void DropCommand(DriverRun& run) {
  es::Command shown;
  shown.main_class = MainClassOf(run.launch.description);
  run.launch.description.command = std::move(shown);
}

/// Bounds how many ended runs are remembered.
template <class Run>
void Keep(std::map<std::string, Run>& finished, size_t retained, const std::string& key, Run run) {
  DropCommand(run);
  finished[key] = std::move(run);
  if (finished.size() > retained) finished.erase(finished.begin());
}

}  // namespace

std::string MainClassOf(const es::DriverDescription& driver) {
  constexpr size_t kMainClass = 2;  // DriverWrapper WORKER_URL USER_JAR CLASS
  const std::vector<std::string>& arguments = driver.command.arguments;
  return arguments.size() > kMainClass ? arguments[kMainClass] : driver.command.main_class;
}

base::Result<std::unique_ptr<SparkWorker>> SparkWorker::Start(const World& world, const es::SparkBuild& build,
                                                              SparkWorkerSettings settings,
                                                              std::function<void(const std::string&)> on_given_up) {
  std::unique_ptr<SparkWorker> worker(new SparkWorker(world, build, std::move(settings), std::move(on_given_up)));
  SparkWorkerSettings& own = worker->settings_;
  if (const base::Status made = world.disk.MakeDirectories(own.work_directory); !made.ok()) {
    return base::Error{"cannot make the work directory " + own.work_directory + ": " + made.error().message};
  }
  if (const base::Status listens = worker->link_.Listen(); !listens.ok()) return listens.error();
  own.launch.host = own.host;
  own.launch.log_url = own.reverse_proxy ? *own.reverse_proxy + "/proxy/" + worker->link_.id() : own.launch.web_url;
  worker->Supervise();
  worker->link_.Begin(own.launch.web_url);
  if (own.cleaning) worker->CleanWorkDirectory();
  return worker;
}

SparkWorker::SparkWorker(const World& world, const es::SparkBuild& build, SparkWorkerSettings settings,
                         std::function<void(const std::string&)> on_given_up)
    : world_(world),
      settings_(std::move(settings)),
      on_given_up_(std::move(on_given_up)),
      link_({world.loop, world.net, world.log, build, settings_, *this}) {}

SparkWorker::~SparkWorker() = default;

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

// ---- the master ----------------------------------------------------------------------------------------------------

void SparkWorker::Take(const es::MasterMessage& order) {
  base::Dispatch(
      order, [this](const es::LaunchExecutor& one) { On(one); }, [this](const es::LaunchDriver& one) { On(one); },
      [this](const es::KillExecutor& one) { On(one); }, [this](const es::KillDriver& one) { On(one); },
      [this](const es::ApplicationFinished& one) { On(one); },
      [this](const es::DecommissionWorker&) { decommissioned_ = true; }, base::Others{[](const auto&) {}});
}

es::WorkerSchedulerStateResponse SparkWorker::State() const {
  es::WorkerSchedulerStateResponse state{link_.id(), {}, {}};
  for (const auto& [key, run] : executors_) {
    const es::LaunchExecutor& launch = run.launch;
    state.executors.push_back(
        {{launch.application, launch.executor, launch.profile, launch.cores, launch.memory_mib, run.state},
         launch.resources});
  }
  for (const auto& [id, run] : drivers_) state.drivers.push_back({id, run.launch.resources});
  return state;
}

void SparkWorker::OnMaster(bool is_ours) { world_.supervision.KeepFor(is_ours ? es::kAbsence : base::Duration{}); }

void SparkWorker::OnEndKnown(const std::string& key) {
  if (!executors_.contains(key) && !drivers_.contains(key)) world_.supervision.Forget(key);
}

void SparkWorker::Decommission() {
  decommissioned_ = true;
  world_.log.Info("this worker takes nothing more");
  link_.Send(es::WorkerDecommissioning{link_.id(), link_.Self()});
}

// ---- what runs, as the supervisor tells ----------------------------------------------------------------------------

void SparkWorker::Supervise() {
  world_.supervision.Listen(
      {[this](const std::string& key, int64_t pid) { OnStarted(key, pid); },
       [this](const std::string& key, const std::string& why) { OnFailed(key, why); },
       [this](const std::string& key, int32_t code, const std::string& note) { OnEnded(key, code, note); }});
  for (const SupervisedRun& run : std::exchange(settings_.runs, {})) TakeUp(run);
}

/// What the worker before this one has left running, or has not reported.
void SparkWorker::TakeUp(const SupervisedRun& run) {
  const auto record = base::DecodeStored<RunRecord>(run.record);
  if (!record.ok()) {
    world_.log.Error("what runs here is not understood, and ended",
                     {{"key", run.key}, {"why", record.error().message}});
    unread_.push_back(run.key);
    return run.pid != 0 ? world_.supervision.End(run.key) : world_.supervision.Forget(run.key);
  }
  world_.log.Info("taken up again", {{"key", run.key}, {"pid", std::to_string(run.pid)}});
  if (record->of_driver) {
    DriverRun& driver = drivers_[run.key];
    driver.launch = DriverIn(*record);
    driver.state = es::DriverState::kRunning;
    driver.directory = record->directory;
    driver.killed = run.ending;
    driver.started = world_.loop.Now();
  } else {
    ExecutorRun& executor = executors_[run.key];
    executor.launch = ExecutorIn(*record);
    executor.state = es::ExecutorState::kRunning;
    executor.directory = record->directory;
    executor.ending = run.ending;
    local_directories_[record->application] = record->local_directories;
  }
  if (run.pid != 0) return;
  world_.loop.Post(
      alive_([this, run] { run.code ? OnEnded(run.key, *run.code, run.note) : OnFailed(run.key, run.failure); }));
}

void SparkWorker::OnStarted(const std::string& key, int64_t pid) {
  if (const auto driver = drivers_.find(key); driver != drivers_.end()) {
    driver->second.state = es::DriverState::kRunning;
    return world_.log.Info("a driver runs", {{"driver", key}, {"pid", std::to_string(pid)}});
  }
  const auto executor = executors_.find(key);
  if (executor == executors_.end()) return;
  const es::LaunchExecutor& launch = executor->second.launch;
  executor->second.state = es::ExecutorState::kRunning;
  world_.log.Info("an executor runs", {{"executor", key}, {"pid", std::to_string(pid)}});
  link_.Report(es::ExecutorStateChanged{launch.application, launch.executor, executor->second.state, std::nullopt,
                                        std::nullopt});
}

void SparkWorker::OnFailed(const std::string& key, const std::string& why) {
  if (drivers_.contains(key)) {
    world_.log.Error("a driver cannot be started", {{"driver", key}, {"why", why}});
    EndDriver(key, es::DriverState::kError, why);
  } else if (executors_.contains(key)) {
    EndExecutor(key, es::ExecutorState::kFailed, why, std::nullopt);
  }
}

void SparkWorker::OnEnded(const std::string& key, int32_t code, const std::string& note) {
  if (!note.empty()) world_.log.Warn(note, {{"key", key}});
  if (drivers_.contains(key)) return OnDriverExit(key, code);
  const auto executor = executors_.find(key);
  if (executor == executors_.end()) return world_.supervision.Forget(key);
  if (executor->second.ending) return EndExecutor(key, es::ExecutorState::kKilled, std::nullopt, code);
  const std::string why = "Command exited with code " + std::to_string(code) + (note.empty() ? "" : ": " + note);
  EndExecutor(key, es::ExecutorState::kExited, why, code);
}

/// Its cores, and its heap with what lies beside it: as much as Spark counts for that in a container of YARN.
RunLimits SparkWorker::LimitsOf(const RunRecord& record) const {
  if (settings_.limits_below.empty()) return {};
  constexpr int64_t kBesideMin = 384, kBesidePart = 10;
  const es::ResourceProfile& profile = record.description.profile;
  const int64_t heap = record.of_driver ? record.driver_description.memory_mib : record.memory_mib;
  const int64_t beside = profile.overhead_mib.value_or(std::max(kBesideMin, heap / kBesidePart));
  return {settings_.limits_below, heap + beside + profile.off_heap_mib + profile.pyspark_mib,
          record.of_driver ? record.driver_description.cores : record.cores, settings_.cores};
}

base::Status SparkWorker::StartRun(const std::string& key, env::SpawnRequest request, const RunRecord& record,
                                   const std::string& kind) {
  const auto log = world_.disk.OpenForAppending(request.stderr_path);
  if (!log) return log.error();
  if (const base::Status written = (*log)->Append(LogHead(kind, request)); !written.ok()) return written;
  RunOrder order;
  order.key = key;
  order.record = base::EncodeStored(record);
  order.argv = std::move(request.argv);
  order.environment = std::move(request.environment);
  order.directory = std::move(request.directory);
  order.stdout_path = std::move(request.stdout_path);
  order.stderr_path = std::move(request.stderr_path);
  if (!record.of_driver) order.rolling = settings_.rolling;
  order.limits = LimitsOf(record);
  world_.supervision.Start(std::move(order));
  return {};
}

// ---- executors -----------------------------------------------------------------------------------------------------

void SparkWorker::On(const es::LaunchExecutor& message) {
  const std::string key = KeyOf(message.application, message.executor);
  if (message.master_url != link_.master_url() || decommissioned_ || executors_.contains(key)) {
    return world_.log.Warn("an order to launch an executor is not followed",
                           {{"executor", key}, {"master", message.master_url}});
  }
  ExecutorRun& run = executors_[key];
  run.launch = message;
  run.facts.started = world_.loop.Wall();
  if (const base::Status started = StartExecutor(key, run); !started.ok()) OnFailed(key, started.error().message);
}

base::Status SparkWorker::StartExecutor(const std::string& key, ExecutorRun& run) {
  const es::LaunchExecutor& launch = run.launch;
  if (!IsDirectoryName(launch.application)) return base::Error{"no valid id of an application: " + launch.application};
  run.directory = settings_.work_directory + "/" + key;
  if (const base::Status made = world_.disk.MakeDirectories(run.directory); !made.ok()) return made;
  const auto local = LocalDirectories(launch.application);
  if (!local) return local.error();
  env::SpawnRequest request = ExecutorProcess(settings_.launch, launch, run.directory, *local);
  if (!launch.resources.empty()) {
    const base::Status written = world_.disk.WriteFileAtomically(run.directory + "/resources.json",
                                                                 ResourcesFile(launch.resources, "spark.executor"));
    if (!written.ok()) return written;
  }
  return StartRun(key, std::move(request), RecordOf(launch, run.directory, *local), "Executor");
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
  run.facts = {run.facts.started, world_.loop.Wall(), code, message.value_or("")};
  const std::string application = run.launch.application;
  world_.log.Info(
      "an executor ended",
      {{"executor", key}, {"state", std::string(Name(state))}, {"code", code ? std::to_string(*code) : "none"}});
  link_.ReportEnd(key, es::ExecutorStateChanged{application, run.launch.executor, state, std::move(message), code});
  if (settings_.on_executor_gone) settings_.on_executor_gone(application, std::to_string(run.launch.executor));
  Keep(finished_executors_, settings_.retained_executors, key, std::move(run));
  CleanUp(application);
  ReportIfAllEnded();
}

void SparkWorker::On(const es::KillExecutor& message) {
  const auto found = executors_.find(KeyOf(message.application, message.executor));
  if (found == executors_.end()) return;
  world_.log.Info("an executor is killed", {{"executor", found->first}});
  found->second.ending = true;
  world_.supervision.End(found->first);
}

void SparkWorker::On(const es::ApplicationFinished& message) {
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
  cleaning_timer_.After(settings_.cleaning->interval, [this] { CleanWorkDirectory(); });
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

void SparkWorker::On(const es::LaunchDriver& message) {
  if (drivers_.contains(message.driver)) return;
  DriverRun& run = drivers_[message.driver];
  run.launch = message;
  if (const base::Status started = StartDriver(message.driver); !started.ok()) {
    OnFailed(message.driver, started.error().message);
  }
}

/// Where the driver's jar is, and where the driver has it: a `file:` one is copied into its directory, as Spark's
/// Worker does. Only files are fetched: whatever else there is, spark-submit's --jars can name.
base::Result<SparkWorker::Jar> SparkWorker::JarOf(const DriverRun& run) {
  std::string path = run.launch.description.jar_url;
  bool stays = false;
  for (const char* scheme : {"file://", "file:", "local://", "local:"}) {
    if (!path.starts_with(scheme)) continue;
    stays = path.starts_with("local:");
    path.erase(0, std::string_view(scheme).size());
    break;
  }
  if (path.find("://") != std::string::npos) {
    return base::Error{"the jar " + path + " is no file: only file: and local: are supported here"};
  }
  if (const auto there = world_.disk.Stat(path); !there.ok()) return there.error();
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..") return base::Error{"the jar " + path + " is no file"};
  return Jar{path, stays ? path : run.directory + "/" + name};
}

namespace {

/// One that is there already, of an earlier life, stays. On a thread of its own: jars are large.
base::Status CopyJar(env::Disk& disk, const std::string& from, const std::string& to) {
  if (from == to || disk.Stat(to).ok()) return {};
  const std::string part = to + ".part";
  (void)disk.RemoveTree(part).ok();
  auto in = disk.OpenForReading(from);
  if (!in.ok()) return in.error();
  auto out = disk.OpenForAppending(part);
  if (!out.ok()) return out.error();
  std::vector<char> piece(size_t{1} << 20);
  for (uint64_t at = 0;;) {
    const auto read = (*in)->ReadAt(at, piece);
    if (!read.ok()) return read.error();
    if (*read == 0) return disk.Rename(part, to);
    if (const base::Status added = (*out)->Append({piece.data(), *read}); !added.ok()) return added;
    at += *read;
  }
}

}  // namespace

base::Status SparkWorker::StartDriver(const std::string& id) {
  DriverRun& run = drivers_.at(id);
  if (!IsDirectoryName(id)) return base::Error{"no valid id of a driver: " + id};
  run.directory = settings_.work_directory + "/" + id;
  if (const base::Status made = world_.disk.MakeDirectories(run.directory); !made.ok()) return made;
  const auto jar = JarOf(run);
  if (!jar) return jar.error();
  run.pausing = true;  // until its jar is there
  const auto copied = std::make_shared<base::Status>();
  world_.loop.Offload([disk = &world_.disk, jar = *jar, copied] { *copied = CopyJar(*disk, jar.from, jar.to); },
                      alive_([this, id, jar = jar->to, copied] {
                        if (!drivers_.contains(id)) return;
                        const base::Status started = copied->ok() ? RunDriver(id, jar) : *copied;
                        if (!started.ok()) OnFailed(id, started.error().message);
                      }));
  return {};
}

base::Status SparkWorker::RunDriver(const std::string& id, const std::string& jar) {
  DriverRun& run = drivers_.at(id);
  env::SpawnRequest request = DriverProcess(settings_.launch, run.launch, run.directory, jar);
  if (!run.launch.resources.empty()) {
    const base::Status written = world_.disk.WriteFileAtomically(run.directory + "/resources.json",
                                                                 ResourcesFile(run.launch.resources, "spark.driver"));
    if (!written.ok()) return written;
  }
  run.started = world_.loop.Now();
  run.facts = {world_.loop.Wall(), {}, {}, ""};
  run.pausing = false;
  return StartRun(id, std::move(request), RecordOf(run.launch, run.directory), "Driver");
}

void SparkWorker::OnDriverExit(const std::string& id, int32_t code) {
  DriverRun& run = drivers_.at(id);
  run.facts.code = code;
  if (run.killed) return EndDriver(id, es::DriverState::kKilled);
  if (code == 0) return EndDriver(id, es::DriverState::kFinished);
  if (!run.launch.description.supervise) return EndDriver(id, es::DriverState::kFailed);
  if (world_.loop.Now() - run.started > kSteadyAfter) run.pause = base::Duration::Seconds(1);
  world_.log.Warn("a supervised driver ended and is started again",
                  {{"driver", id}, {"code", std::to_string(code)}, {"after_ms", std::to_string(run.pause.millis())}});
  run.pausing = true;
  world_.loop.After(run.pause, alive_([this, id] {
                      if (!drivers_.contains(id)) return;
                      if (const base::Status started = StartDriver(id); !started.ok())
                        OnFailed(id, started.error().message);
                    }));
  run.pause = std::min(run.pause + run.pause, kPauseMax);
}

void SparkWorker::EndDriver(const std::string& id, es::DriverState state, std::optional<std::string> why) {
  auto node = drivers_.extract(id);
  DriverRun run = std::move(node.mapped());
  run.state = state;
  run.facts.ended = world_.loop.Wall();
  run.facts.message = why.value_or("");
  world_.log.Info("a driver ended", {{"driver", id}, {"state", std::string(Name(state))}});
  link_.ReportEnd(id, es::DriverStateChanged{id, state, std::move(why)});
  Keep(finished_drivers_, settings_.retained_drivers, id, std::move(run));
  ReportIfAllEnded();
}

void SparkWorker::On(const es::KillDriver& message) {
  if (drivers_.contains(message.driver)) Kill(message.driver);
}

/// One that waits for its next life ends at once.
void SparkWorker::Kill(const std::string& driver) {
  DriverRun& run = drivers_.at(driver);
  run.killed = true;
  if (run.pausing) return EndDriver(driver, es::DriverState::kKilled);
  world_.supervision.End(driver);
}

// ---- the end -------------------------------------------------------------------------------------------------------

void SparkWorker::EndAll(std::function<void()> done) {
  on_all_ended_ = std::move(done);
  for (auto& [key, run] : executors_) {
    run.ending = true;
    world_.supervision.End(key);
  }
  std::vector<std::string> drivers;
  for (const auto& [id, run] : drivers_) drivers.push_back(id);
  for (const std::string& id : drivers) Kill(id);
  ReportIfAllEnded();
}

void SparkWorker::ReportIfAllEnded() {
  if (!on_all_ended_ || !executors_.empty() || !drivers_.empty()) return;
  link_.Leave([this] {
    if (on_all_ended_) world_.loop.Post(std::exchange(on_all_ended_, nullptr));
  });
}

}  // namespace fairlead::process::spark_worker

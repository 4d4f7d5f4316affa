#include "engine/cluster_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "endpoints/yarn/credentials.h"
#include "engine/driver_page.h"
#include "engine/driver_session.h"
#include "engine/errors.h"
#include "engine/event_log.h"
#include "engine/job_environment.h"
#include "engine/job_files.h"
#include "engine/progress.h"
#include "process/driver/executor_server.h"
#include "process/driver/yarn_master.h"

namespace fairlead::engine {

namespace {

namespace pd = process::driver;
namespace mt = model::tasks;

constexpr const char* kAmRmTokenKind = "YARN_AM_RM_TOKEN";
/// How long the reason of a lost executor may take: its container's end comes with a heartbeat of its node.
constexpr base::Duration kReasonWait = base::Duration::Seconds(5);

struct ClusterSettings {
  env::Endpoint scheduler;
  std::string application;
  endpoints::yarn::RpcToken am_rm_token;
  int32_t executors_max = 2;
  int32_t executors_min = 2;
  int32_t cores = 1;
  std::string host;
  int32_t shuffle_port = 0;
  bool speculation = false;
  /// An executor without work for this long is given back (spark.dynamicAllocation.executorIdleTimeout).
  base::Duration idle_max;
};

ClusterSettings ReadSettings() {
  ClusterSettings settings;
  const auto scheduler = env::ParseEndpoint(RequiredEnvironment(kEnvSchedulerAddress));
  if (!scheduler) throw JobError(std::string(kEnvSchedulerAddress) + ": " + scheduler.error().message);
  settings.scheduler = *scheduler;
  settings.application = RequiredEnvironment(kEnvApplicationId);
  const auto credentials = endpoints::yarn::ParseCredentials(ReadTokenFile());
  if (!credentials) throw JobError("cannot read the container's tokens: " + credentials.error().message);
  bool found = false;
  for (const auto& [alias, token] : credentials->tokens) {
    if (token.kind != kAmRmTokenKind) continue;
    settings.am_rm_token = token;
    found = true;
  }
  if (!found) throw JobError("the container's tokens hold no AMRMToken");
  settings.executors_max = static_cast<int32_t>(std::max(1L, EnvironmentNumber(kEnvExecutorsMax, 2)));
  settings.executors_min = static_cast<int32_t>(std::clamp(EnvironmentNumber(kEnvExecutorsMin, settings.executors_max),
                                                           0L, static_cast<long>(settings.executors_max)));
  settings.cores = static_cast<int32_t>(std::max(1L, EnvironmentNumber(kEnvExecutorCores, 1)));
  settings.host = Environment("NM_HOST", "localhost");
  settings.shuffle_port = static_cast<int32_t>(EnvironmentNumber(kEnvShufflePort, 0));
  settings.speculation = EnvironmentNumber(kEnvSpeculation, 0) != 0;
  settings.idle_max = base::Duration::Seconds(std::max(1L, EnvironmentNumber(kEnvExecutorIdleSeconds, 60)));
  return settings;
}

/// Beside the container's other logs, so that it is kept, shown and removed with them, unless the user said where.
std::string EventLogPath() {
  if (const std::string directory = Environment(kEnvEventLogDirectory); !directory.empty()) {
    return directory + "/" + Environment("CONTAINER_ID", "driver-" + std::to_string(::getpid())) + ".jsonl";
  }
  const std::vector<std::string> directories = SplitCommas(Environment("LOG_DIRS"));
  return directories.empty() ? "" : directories.front() + "/events.jsonl";
}

tasks::Config TasksConfig(const ClusterSettings& settings) {
  tasks::Config config;
  // Executors on nodes without the service say that they serve their own files.
  config.external_shuffle_service = true;
  config.beyond.retain_shuffle_executors = true;
  config.speculation.enabled = settings.speculation;
  config.speculation.executor_slots = settings.cores;
  return config;
}

/// The driver's machines on the loop and what connects them: executors' connections, the application master, dynamic
/// allocation. All on the loop's thread but the constructor.
class Cluster : private pd::DriverListener {
 public:
  Cluster(const ClusterSettings& settings, DriverSession& session);
  base::Status Start();
  /// The page's URL; empty when it could not be had.
  std::string StartPage();
  /// Ends executors and unregisters; `done` when the resource manager knows.
  void Finish(const std::string& error, std::function<void()> done);
  /// Destroys the machines.
  void Clear();

 private:
  struct ExecutorState {
    std::string id;
    mt::ExecutorIndex index;
    bool connected = false;
    bool dismissed = false;
    base::Instant idle_since;
  };
  pd::ExecutorLaunch MakeLaunch(const env::Endpoint& driver);
  void OnEnded(const std::string& id, int32_t exit_status, const std::string& diagnostics);
  bool OnLost(const std::string& id, mt::ExecutorIndex index, const std::string& reason);
  void OnEffect(const mt::Effect& effect) override;
  void Resize();
  void Tick();

  const ClusterSettings settings_;
  DriverSession& session_;
  env_posix::PosixLoop& loop_;
  std::string secret_;
  std::unique_ptr<pd::ExecutorServer> server_;
  std::unique_ptr<pd::YarnMaster> master_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<DriverPage> page_;
  std::map<std::string, ExecutorState> executors_;
  int64_t demand_ = 0;
  int32_t failures_ = 0;
  bool finishing_ = false;
  env::Loop::TimerId tick_timer_ = 0;
};

Cluster::Cluster(const ClusterSettings& settings, DriverSession& session)
    : settings_(settings), session_(session), loop_(session.loop()) {
  uint8_t bytes[32];
  loop_.RandomBytes(bytes);
  secret_.assign(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

pd::ExecutorLaunch Cluster::MakeLaunch(const env::Endpoint& driver) {
  pd::ExecutorLaunch launch;
  launch.memory_mib = EnvironmentNumber(kEnvExecutorMemoryMib, 1024);
  launch.cores = settings_.cores;
  launch.job_url = RequiredEnvironment(kEnvJobUrl);
  launch.job_size = EnvironmentNumber(kEnvJobSize, 0);
  launch.job_timestamp_ms = EnvironmentNumber(kEnvJobTimestamp, 0);
  launch.environment = {{kEnvDriverAddress, driver.ToString()},
                        {kEnvApplicationId, settings_.application},
                        {kEnvExecutorCores, std::to_string(settings_.cores)},
                        {kEnvExecutorMemoryMib, std::to_string(launch.memory_mib)},
                        {kEnvShufflePort, std::to_string(settings_.shuffle_port)}};
  launch.command = {"./job", "--executor"};
  endpoints::yarn::Credentials credentials;
  credentials.secrets[kSecretAlias] = secret_;
  launch.tokens = EncodeCredentials(credentials);
  launch.shuffle_service = settings_.shuffle_port > 0;
  launch.environment_without_service = {{kEnvShufflePort, "0"}};
  return launch;
}

base::Status Cluster::Start() {
  pd::ExecutorServer::Callbacks callbacks;
  callbacks.admit = [this](const wire::engine::Hello& hello) -> base::Result<pd::ExecutorInfo> {
    const std::string host = master_->HostOf(hello.executor_id);
    if (host.empty()) return base::Error{"there is no container of executor " + hello.executor_id};
    ExecutorState& state = executors_[hello.executor_id];
    if (state.connected) return base::Error{"executor " + hello.executor_id + " is connected already"};
    return pd::ExecutorInfo{hello.executor_id,     host, "", settings_.cores, hello.shuffle_host, hello.shuffle_port,
                            hello.serves_own_files};
  };
  callbacks.on_ready = [this](const std::string& id, mt::ExecutorIndex index) {
    executors_[id] = {id, index, true, false, loop_.Now()};
    std::printf("executor %s is ready on %s\n", id.c_str(), master_->HostOf(id).c_str());
    std::fflush(stdout);
  };
  callbacks.on_lost = [this](const std::string& id, mt::ExecutorIndex index, const std::string& reason) {
    return OnLost(id, index, reason);
  };
  server_ = std::make_unique<pd::ExecutorServer>(loop_, loop_, session_.driver(), secret_, BuildId(), callbacks);
  base::Result<env::Endpoint> address = server_->Listen({settings_.host, 0});
  if (!address) return base::Error{"cannot listen on " + settings_.host + ": " + address.error().message};
  address->host = settings_.host;

  pd::YarnMaster::Callbacks master;
  master.on_executor_ended = [this](const std::string& id, int32_t exit_status, const std::string& diagnostics) {
    OnEnded(id, exit_status, diagnostics);
  };
  master.on_dismissed = [this](const std::string& reason) { session_.Fail(reason); };
  master.progress = [this] { return progress_->fraction(); };
  master_ = std::make_unique<pd::YarnMaster>(loop_, loop_, settings_.scheduler, settings_.am_rm_token,
                                             MakeLaunch(*address), std::move(master));
  progress_ = std::make_unique<Progress>(loop_, session_.driver(), stdout, false);
  session_.driver().AddListener(progress_.get());
  session_.driver().AddListener(this);
  master_->Register(settings_.host, address->port, StartPage(), [this](base::Status status) {
    if (!status.ok()) session_.Fail("cannot register at the resource manager: " + status.error().message);
  });
  Resize();
  Tick();
  return {};
}

std::string Cluster::StartPage() {
  const std::string name = Environment(kEnvApplicationName, "job");
  log_ = std::make_unique<EventLog>(loop_, EventLogPath(), settings_.application, name);
  session_.driver().AddListener(log_.get());
  auto page = DriverPage::Listen(loop_, loop_, {settings_.host, 0}, log_->history());
  if (!page) {
    std::fprintf(stderr, "no page of the driver: %s\n", page.error().message.c_str());
    return {};
  }
  page_ = std::move(*page);
  return page_->url();
}

bool Cluster::OnLost(const std::string& id, mt::ExecutorIndex index, const std::string& reason) {
  const auto found = executors_.find(id);
  if (found == executors_.end()) return false;
  found->second.connected = false;
  if (found->second.dismissed || finishing_) {
    session_.driver().RemoveExecutor(index, mt::LossKind::kKilled, false, "given back");
    executors_.erase(found);
    return true;
  }
  // The container's end tells who is to blame; without it in time the connection's end must do.
  loop_.After(kReasonWait, [this, id, index, reason] {
    const auto still = executors_.find(id);
    if (still == executors_.end() || still->second.connected) return;
    executors_.erase(still);
    session_.driver().RemoveExecutor(index, mt::LossKind::kProcessLost, false, reason);
    if (master_) master_->Release(id);
  });
  return true;
}

void Cluster::OnEnded(const std::string& id, int32_t exit_status, const std::string& diagnostics) {
  if (finishing_) return;
  // Negative exit statuses are YARN's own (aborted, disks failed, preempted, ...), 143 and 137 after its kills.
  const bool not_by_app = exit_status == -100 || exit_status == -101 || exit_status == -102 || exit_status == -106 ||
                          exit_status == -107 || exit_status == -108;
  const auto found = executors_.find(id);
  const bool dismissed = found != executors_.end() && found->second.dismissed;
  const bool busy = found != executors_.end() && session_.driver().Busy(found->second.index);
  const std::string story = "container of executor " + id + " ended with status " + std::to_string(exit_status) +
                            (diagnostics.empty() ? "" : ": " + diagnostics);
  if (found != executors_.end()) {
    const mt::LossKind kind = dismissed    ? mt::LossKind::kKilled
                              : not_by_app ? mt::LossKind::kExitedNotByApp
                                           : mt::LossKind::kExitedByApp;
    const mt::ExecutorIndex index = found->second.index;
    executors_.erase(found);
    session_.driver().RemoveExecutor(index, kind, false, story);
  }
  if (dismissed) return;
  std::printf("%s\n", story.c_str());
  std::fflush(stdout);
  // What crashed under a task counts against that task's tries; this is about executors that cannot even start.
  if (not_by_app || busy) return;
  if (++failures_ > std::max(3, 2 * settings_.executors_max)) {
    session_.Fail("too many executors failed; the last: " + story);
  }
}

void Cluster::OnEffect(const mt::Effect& effect) {
  const auto* const demand = std::get_if<mt::DemandChanged>(&effect);
  if (demand == nullptr) return;
  demand_ = demand->pending + demand->running;
  Resize();
}

/// As many executors as could run tasks now, within the limits; fewer only when they have been idle for long (Tick).
void Cluster::Resize() {
  if (!master_ || finishing_) return;
  const int64_t wanted = (demand_ + settings_.cores - 1) / settings_.cores;
  const int32_t target = static_cast<int32_t>(std::clamp<int64_t>(
      wanted, std::max<int64_t>(settings_.executors_min, master_->target()), settings_.executors_max));
  master_->SetTarget(target);
}

/// Once a second: executors idle for long are given back.
void Cluster::Tick() {
  tick_timer_ = loop_.After(base::Duration::Seconds(1), [this] { Tick(); });
  const std::vector<mt::ExecutorIndex> removable = session_.driver().core().Removable();
  const int64_t wanted = (demand_ + settings_.cores - 1) / settings_.cores;
  for (auto& [id, state] : executors_) {
    if (!state.connected || state.dismissed) continue;
    if (!std::binary_search(removable.begin(), removable.end(), state.index)) {
      state.idle_since = loop_.Now();
      continue;
    }
    if (loop_.Now() - state.idle_since < settings_.idle_max ||
        master_->target() <= std::max<int64_t>(settings_.executors_min, wanted)) {
      continue;
    }
    state.dismissed = true;
    session_.driver().Decommission(state.index);
    master_->SetTarget(master_->target() - 1);
    server_->Dismiss(state.index, "idle");
    master_->Release(id);
  }
}

void Cluster::Finish(const std::string& error, std::function<void()> done) {
  finishing_ = true;
  progress_->Last();
  std::fputs(log_->End(error).c_str(), stdout);
  server_->ShutDown(error.empty() ? "the job is done" : "the job failed");
  master_->Finish(error.empty(), error, "", std::move(done));
}

void Cluster::Clear() {
  if (tick_timer_ != 0) loop_.Cancel(tick_timer_);
  page_.reset();
  server_.reset();
  master_.reset();
  log_.reset();
  progress_.reset();
}

}  // namespace

bool InMasterContainer() { return std::getenv(kEnvSchedulerAddress) != nullptr; }

int RunClusterDriver(const std::function<void(Session&)>& program) {
  std::string error;
  try {
    const ClusterSettings settings = ReadSettings();
    DriverSession session(settings.application, settings.executors_max * settings.cores, TasksConfig(settings));
    Cluster cluster(settings, session);
    base::Status started;
    session.OnLoop([&] { started = cluster.Start(); });
    if (!started.ok()) throw JobError(started.error().message);
    try {
      program(session);
    } catch (const std::exception& failed) {
      error = failed.what();
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool finished = false;
    session.OnLoop([&] {
      cluster.Finish(error, [&] {
        const std::lock_guard lock(mutex);
        finished = true;
        changed.notify_all();
      });
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return finished; });
    lock.unlock();
    session.OnLoop([&] { cluster.Clear(); });
    session.Stop();
  } catch (const std::exception& failed) {
    error = failed.what();
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "job failed: %s\n", error.c_str());
  return 1;
}

}  // namespace fairlead::engine

#include "engine/driver/cluster_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "endpoints/yarn/credentials.h"
#include "engine/driver/driver_page.h"
#include "engine/driver/driver_session.h"
#include "engine/driver/progress.h"
#include "engine/history/event_log.h"
#include "engine/io/job_environment.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "process/driver/executor_fleet.h"

namespace fairlead::engine {

namespace {

namespace pd = process::driver;

constexpr const char* kAmRmTokenKind = "YARN_AM_RM_TOKEN";
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
  bool adaptive_delay = false;
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
  settings.adaptive_delay = EnvironmentNumber(kEnvAdaptiveDelay, 0) != 0;
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
  config.beyond.run_ahead = base::Duration::Millis(2);
  config.beyond.adaptive_delay = settings.adaptive_delay;
  config.speculation.enabled = settings.speculation;
  config.speculation.executor_slots = settings.cores;
  return config;
}

/// The driver's machines on the loop and what connects them: the fleet of executors, progress lines, event log and
/// page. All on the loop's thread but the constructor.
class Cluster {
 public:
  Cluster(const ClusterSettings& settings, DriverSession& session);
  base::Status Start();
  /// Ends executors and unregisters; `done` when the resource manager knows.
  void Finish(const std::string& error, std::function<void()> done);
  /// Destroys the machines.
  void Clear();

 private:
  /// The page's URL; empty when it could not be had.
  std::string StartPage();
  pd::ExecutorLaunch MakeLaunch(const env::Endpoint& driver);

  const ClusterSettings settings_;
  DriverSession& session_;
  std::string secret_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<DriverPage> page_;
  std::unique_ptr<pd::ExecutorFleet> fleet_;
};

Cluster::Cluster(const ClusterSettings& settings, DriverSession& session) : settings_(settings), session_(session) {
  uint8_t bytes[32];
  session.loop().RandomBytes(bytes);
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
  progress_ = std::make_unique<Progress>(session_.loop(), session_.driver(), stdout, false);
  session_.driver().AddListener(progress_.get());
  pd::FleetSettings settings;
  settings.host = settings_.host;
  settings.tracking_url = StartPage();
  settings.resource_manager = settings_.scheduler;
  settings.am_rm_token = settings_.am_rm_token;
  settings.executors_max = settings_.executors_max;
  settings.executors_min = settings_.executors_min;
  settings.cores = settings_.cores;
  settings.idle_max = settings_.idle_max;
  settings.build_id = BuildId();
  settings.secret = secret_;
  pd::ExecutorFleet::Callbacks callbacks;
  callbacks.on_failed = [this](const std::string& reason) { session_.Fail(reason); };
  callbacks.progress = [this] { return progress_->fraction(); };
  callbacks.on_news = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  callbacks.make_launch = [this](const env::Endpoint& driver) { return MakeLaunch(driver); };
  fleet_ = std::make_unique<pd::ExecutorFleet>(session_.loop(), session_.loop(), session_.driver(), std::move(settings),
                                               std::move(callbacks));
  return fleet_->Start();
}

std::string Cluster::StartPage() {
  const std::string name = Environment(kEnvApplicationName, "job");
  log_ = std::make_unique<EventLog>(session_.loop(), EventLogPath(), settings_.application, name);
  session_.driver().AddListener(log_.get());
  auto page = DriverPage::Listen(session_.loop(), session_.loop(), {settings_.host, 0}, log_->history());
  if (!page) {
    std::fprintf(stderr, "no page of the driver: %s\n", page.error().message.c_str());
    return {};
  }
  page_ = std::move(*page);
  return page_->url();
}

void Cluster::Finish(const std::string& error, std::function<void()> done) {
  progress_->Last();
  std::fputs(log_->End(error).c_str(), stdout);
  fleet_->Finish(error, std::move(done));
}

void Cluster::Clear() {
  page_.reset();
  fleet_->Close();
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

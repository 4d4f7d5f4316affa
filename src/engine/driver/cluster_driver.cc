#include "engine/driver/cluster_driver.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>

#include "endpoints/yarn/credentials.h"
#include "engine/driver/driver_page.h"
#include "engine/driver/driver_session.h"
#include "engine/driver/page_tls.h"
#include "engine/driver/progress.h"
#include "engine/driver/signals.h"
#include "engine/history/event_log.h"
#include "engine/io/hdfs_tokens.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "engine/settings/spark_settings.h"
#include "env_posix/posix_loop.h"
#include "process/driver/executor_fleet.h"

namespace fairlead::engine {

namespace {

namespace pd = process::driver;

constexpr const char* kAmRmTokenKind = "YARN_AM_RM_TOKEN";

/// What the container gives a driver.
struct DriverContainer {
  std::vector<env::Endpoint> schedulers;  // of each resource manager
  std::vector<env::Endpoint> clients;
  endpoints::yarn::RpcToken am_rm_token;
  std::string host;
  /// What Fairlead's resource manager gives; none on Hadoop's, whose proxy lets everybody through.
  std::optional<DriverPage::Proxy> proxy;
};

DriverContainer ReadContainer(const JobSettings& settings) {
  DriverContainer container;
  const auto addresses = [](const std::string& texts) {
    std::vector<env::Endpoint> out;
    for (const std::string& text : SplitCommas(texts)) {
      const auto endpoint = env::ParseEndpoint(text);
      if (!endpoint) throw JobError("the resource manager's address: " + endpoint.error().message);
      out.push_back(*endpoint);
    }
    if (out.empty()) throw JobError("the job's settings name no resource manager");
    return out;
  };
  container.schedulers = addresses(settings.resource_manager);
  container.clients = addresses(settings.resource_manager_client);
  const auto credentials = endpoints::yarn::ParseCredentials(ReadTokenFile());
  if (!credentials) throw JobError("cannot read the container's tokens: " + credentials.error().message);
  bool found = false;
  for (const auto& [alias, token] : credentials->tokens) {
    if (token.kind != kAmRmTokenKind) continue;
    container.am_rm_token = token;
    found = true;
  }
  if (!found) throw JobError("the container's tokens hold no AMRMToken");
  const auto secret = credentials->secrets.find(std::string(endpoints::yarn::kPageSecretAlias));
  if (secret != credentials->secrets.end()) container.proxy = {Environment("FAIRLEAD_PAGE_URL"), secret->second};
  container.host = Environment("NM_HOST", "localhost");
  return container;
}

/// Beside the container's other logs, so that it is kept, shown and removed with them, unless the user said where.
std::string EventLogPath(const std::string& directory) {
  if (!directory.empty()) {
    return directory + "/" + Environment("CONTAINER_ID", "driver-" + std::to_string(::getpid())) + ".jsonl";
  }
  const std::vector<std::string> directories = SplitCommas(Environment("LOG_DIRS"));
  return directories.empty() ? "" : directories.front() + "/events.jsonl";
}

tasks::Config TasksConfig(const JobSettings& settings) {
  base::Result<tasks::Config> config = MakeTasksConfig(settings);
  if (!config) throw JobError(config.error().message);
  // Executors on nodes without the service say that they serve their own files.
  config->external_shuffle_service = true;
  config->beyond.retain_shuffle_executors = true;
  config->beyond.run_ahead = base::Duration::Millis(2);
  return *std::move(config);
}

/// The driver's machines on the loop and what connects them: the fleet of executors, progress lines, event log and
/// page. All on the loop's thread but constructor, destructor and Stop. Its talk goes to stderr: stdout is the job's.
class Cluster {
 public:
  Cluster(const JobSettings& settings, DriverContainer container, DriverSession& session);
  /// Ends the session's loop: what listens to the driver must outlive its last step.
  ~Cluster();
  base::Status Start();
  /// The process is being stopped: its jobs end, and the event log says so at once. From any thread.
  void Stop(const std::string& reason);
  /// Ends executors and unregisters; `done` when the resource manager knows.
  void Finish(const std::string& error, std::function<void()> done);

 private:
  /// The page's URL; empty when it could not be had.
  std::string StartPage();
  base::Status ListenForPage(const std::string& log_path);
  pd::ExecutorLaunch MakeLaunch(const env::Endpoint& driver);
  void MergeShuffles();

  const JobSettings settings_;
  const DriverContainer container_;
  DriverSession& session_;
  std::string secret_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventLog> log_;
  const std::unique_ptr<env::Disk> disk_ = env_posix::MakePosixDisk();
  std::unique_ptr<PageTls> page_tls_;  // null: the page is HTTP
  std::unique_ptr<DriverPage> page_;
  std::unique_ptr<pd::ExecutorFleet> fleet_;
};

Cluster::Cluster(const JobSettings& settings, DriverContainer container, DriverSession& session)
    : settings_(settings), container_(std::move(container)), session_(session) {
  uint8_t bytes[32];
  session.loop().RandomBytes(bytes);
  secret_.assign(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

pd::ExecutorLaunch Cluster::MakeLaunch(const env::Endpoint& driver) {
  pd::ExecutorLaunch launch;
  launch.memory_mib = settings_.executor_memory_mib;
  launch.cores = settings_.executor_cores;
  launch.job_url = settings_.job_url;
  launch.job_size = settings_.job_size;
  launch.job_timestamp_ms = settings_.job_timestamp_ms;
  JobSettings settings = settings_;
  settings.driver = driver.ToString();
  launch.environment = {{kEnvJobSettings, EncodeJobSettings(settings)}};
  launch.command = {"./job", "--executor"};
  endpoints::yarn::Credentials credentials;
  credentials.tokens = HdfsTokens();
  credentials.secrets[kSecretAlias] = secret_;
  launch.tokens = EncodeCredentials(credentials);
  launch.shuffle_service = settings_.shuffle_port > 0;
  launch.shuffle_secret = MakeShuffleSecurity(settings_, secret_)->secret;  // the settings were read before
  settings.shuffle_port = 0;
  launch.environment_without_service = {{kEnvJobSettings, EncodeJobSettings(settings)}};
  return launch;
}

void Cluster::MergeShuffles() {
  pd::MergeSettings settings;
  settings.when = MakeMergeWhen(settings_).value();  // the settings were read before
  if (settings.when == tasks::MergeWhen::kNever) return;
  settings.application_id = settings_.application_id;
  settings.app_attempt = ApplicationAttempt();
  settings.security = *MakeShuffleSecurity(settings_, secret_);
  session_.driver().MergeShuffles(session_.loop(), std::move(settings));
}

base::Status Cluster::Start() {
  MergeShuffles();
  progress_ = std::make_unique<Progress>(session_.loop(), session_.driver(), stderr, false);
  session_.driver().AddListener(progress_.get());
  pd::FleetSettings settings;
  settings.host = container_.host;
  settings.tracking_url = StartPage();
  settings.resource_managers = container_.schedulers;
  settings.am_rm_token = container_.am_rm_token;
  settings.resource_manager_clients = container_.clients;
  settings.user = Environment("HADOOP_USER_NAME", Environment("USER"));
  settings.executors_max = settings_.executors_max;
  settings.executors_min = settings_.executors_min;
  settings.gang = settings_.gang;
  settings.cores = settings_.executor_cores;
  settings.idle_max = base::Duration::Seconds(settings_.executor_idle_seconds);
  settings.places_wait = base::Duration::Millis(500);
  settings.build_id = BuildId();
  settings.secret = secret_;
  pd::ExecutorFleet::Callbacks callbacks;
  callbacks.on_failed = [this](const std::string& reason) { session_.Fail(reason); };
  callbacks.progress = [this] { return progress_->fraction(); };
  callbacks.on_news = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  callbacks.make_launch = [this](const env::Endpoint& driver) { return MakeLaunch(driver); };
  fleet_ = std::make_unique<pd::ExecutorFleet>(session_.loop(), session_.loop(), session_.driver(), std::move(settings),
                                               std::move(callbacks));
  return fleet_->Start();
}

std::string Cluster::StartPage() {
  const std::string path = EventLogPath(settings_.event_log_directory);
  log_ = std::make_unique<EventLog>(session_.loop(), session_.driver(), path, settings_.application_id, settings_.name);
  session_.driver().AddListener(log_.get());
  if (const base::Status listens = ListenForPage(path); !listens.ok()) {
    std::fprintf(stderr, "no page of the driver: %s\n", listens.error().message.c_str());
    return {};
  }
  return page_->url();
}

/// Who asked for HTTPS gets no page by HTTP in its place.
base::Status Cluster::ListenForPage(const std::string& log_path) {
  env_posix::PosixLoop& loop = session_.loop();
  auto tls = PageTls::Open(loop, loop, *disk_, settings_.spark,
                           [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  if (!tls.ok()) return tls.error();
  page_tls_ = std::move(*tls);
  env::Net& net = page_tls_ ? page_tls_->net() : loop;
  auto page = DriverPage::Listen(loop, net, {container_.host, 0}, log_->history(), DriverPage::LogOfFile(log_path),
                                 container_.proxy, page_tls_ != nullptr);
  if (!page.ok()) return page.error();
  page_ = std::move(*page);
  return {};
}

void Cluster::Stop(const std::string& reason) {
  session_.Fail(reason);
  session_.loop().Post([this, reason] {
    if (log_) log_->End(reason, true);
  });
}

void Cluster::Finish(const std::string& error, std::function<void()> done) {
  progress_->Last();
  std::fputs(log_->End(error).c_str(), stderr);
  fleet_->Finish(error, std::move(done));
}

Cluster::~Cluster() {
  session_.OnLoop([this] {
    page_.reset();
    page_tls_.reset();
    if (fleet_) fleet_->Close();
  });
  session_.Stop();
}

/// Returns when the resource manager knows how it ended.
void Unregister(DriverSession& session, Cluster& cluster, const std::string& error) {
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
}

}  // namespace

bool InMasterContainer() { return std::getenv(kEnvJobSettings) != nullptr; }

int RunClusterDriver(const std::map<std::string, std::string>& spark, const std::function<void(Session&)>& program) {
  std::string error;
  std::atomic<bool> stopped = false;
  std::atomic<Cluster*> running = nullptr;
  const Interrupts interrupts(
      [&](const std::string& reason) {
        stopped = true;
        if (Cluster* const cluster = running) cluster->Stop(reason);
      },
      [] {});
  try {
    JobSettings settings = SettingsOfThisProcess();
    AddSettings(spark, settings);
    DriverSession session(settings.application_id, settings.executors_max * settings.executor_cores,
                          TasksConfig(settings));
    Cluster cluster(settings, ReadContainer(settings), session);
    base::Status started;
    session.OnLoop([&] { started = cluster.Start(); });
    if (!started.ok()) throw JobError(started.error().message);
    running = &cluster;
    try {
      program(session);
    } catch (const std::exception& failed) {
      error = failed.what();
    }
    running = nullptr;
    std::cout.flush();  // whoever hears that it has ended may read what it printed
    std::fflush(stdout);
    // Whoever ends this process decides what becomes of the application: it may start another driver.
    if (!stopped) Unregister(session, cluster, error);
  } catch (const std::exception& failed) {
    error = failed.what();
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "job failed: %s\n", error.c_str());
  return 1;
}

}  // namespace fairlead::engine

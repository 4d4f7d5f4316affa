#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/worker_messages.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/spark_worker/launch.h"
#include "process/spark_worker/master_link.h"
#include "process/spark_worker/run_record.h"
#include "process/spark_worker/supervision.h"
#include "process/spark_worker/work_directory.h"

namespace fairlead::process::spark_worker {

struct SparkWorkerSettings : MasterLinkSettings {
  std::string work_directory;
  std::vector<std::string> local_directories{"/tmp"};  // SPARK_LOCAL_DIRS
  std::optional<WorkCleaning> cleaning;                // of the work directory
  /// For a shuffle service: an executor has ended; an application has, and all its executors here. May be null.
  std::function<void(const std::string& application, const std::string& executor)> on_executor_gone;
  std::function<void(const std::string& application)> on_application_gone;
  LaunchSettings launch;
  /// spark.ui.reverseProxy: people come by the master's proxy, below this address (spark.ui.reverseProxyUrl without its
  /// final slash, or "").
  std::optional<std::string> reverse_proxy;
  size_t retained_executors = 1000;  // spark.worker.ui.retainedExecutors: of those that have ended
  size_t retained_drivers = 1000;    // spark.worker.ui.retainedDrivers
  LogRolling rolling;                // of executors' logs
  std::string limits_below;          // hierarchy of the control groups of all that runs; empty: none
  std::vector<SupervisedRun> runs;   // of the worker that was here before
};

/// What pages tell of a run besides. Times are 0 where they are not known: it began under an earlier worker.
struct RunFacts {
  base::WallTime started;
  base::WallTime ended;
  std::optional<int32_t> code;  // of its process
  std::string message;          // why it ended, where the code alone does not say it
};

/// An executor or driver that runs here, or has run.
struct ExecutorRun {
  endpoints::spark::LaunchExecutor launch;
  endpoints::spark::ExecutorState state = endpoints::spark::ExecutorState::kLaunching;
  std::string directory;
  bool ending = false;
  RunFacts facts;
};
struct DriverRun {
  endpoints::spark::LaunchDriver launch;
  endpoints::spark::DriverState state = endpoints::spark::DriverState::kSubmitted;
  std::string directory;
  bool pausing = false;  // before its next life, or until its jar is there
  bool killed = false;
  base::Instant started;
  base::Duration pause = base::Duration::Seconds(1);  // before it is supervised into a next life
  RunFacts facts;                                     // of this life
};

/// Its user's class.
std::string MainClassOf(const endpoints::spark::DriverDescription& driver);

/// A Standalone Worker (org.apache.spark.deploy.worker.Worker): registers with a master, Spark's own or ours, starts
/// what it orders and says what became of it. On the loop's thread.
class SparkWorker final : private MasterLinkOwner {
 public:
  struct World {
    env::Loop& loop;
    env::Net& net;
    Supervision& supervision;
    env::Disk& disk;
    env::Log& log;
  };
  /// `on_given_up`: no master has taken it for too long, or the one it asked refused it; the reason.
  static base::Result<std::unique_ptr<SparkWorker>> Start(const World& world, const endpoints::spark::SparkBuild& build,
                                                          SparkWorkerSettings settings,
                                                          std::function<void(const std::string&)> on_given_up);
  ~SparkWorker();

  /// Ends all executors and drivers; `done` is called once none runs, and the master knows that this worker goes.
  void EndAll(std::function<void()> done);
  /// Takes nothing more and says so to the master (SIGPWR).
  void Decommission();

  // ---- for pages
  const MasterLink& link() const { return link_; }
  const SparkWorkerSettings& settings() const { return settings_; }
  bool decommissioned() const { return decommissioned_; }
  const std::map<std::string, ExecutorRun>& executors() const { return executors_; }  // by "APPLICATION/NUMBER"
  const std::map<std::string, DriverRun>& drivers() const { return drivers_; }
  const std::map<std::string, ExecutorRun>& finished_executors() const { return finished_executors_; }
  const std::map<std::string, DriverRun>& finished_drivers() const { return finished_drivers_; }
  /// What an earlier worker had left running, and this one could not read: it was ended.
  const std::vector<std::string>& unread() const { return unread_; }
  int32_t cores_used() const;
  int32_t memory_used() const;

 private:
  SparkWorker(const World& world, const endpoints::spark::SparkBuild& build, SparkWorkerSettings settings,
              std::function<void(const std::string&)> on_given_up);

  // ---- the master
  void Take(const endpoints::spark::MasterMessage& order) override;
  endpoints::spark::WorkerSchedulerStateResponse State() const override;
  void OnMaster(bool is_ours) override;
  void OnEndKnown(const std::string& key) override;
  void OnGivenUp(const std::string& why) override { on_given_up_(why); }
  void On(const endpoints::spark::LaunchExecutor& message);
  void On(const endpoints::spark::LaunchDriver& message);
  void On(const endpoints::spark::KillExecutor& message);
  void On(const endpoints::spark::KillDriver& message);
  void On(const endpoints::spark::ApplicationFinished& message);

  // ---- what runs, as the supervisor tells
  void Supervise();
  void TakeUp(const SupervisedRun& run);
  void OnStarted(const std::string& key, int64_t pid);
  void OnFailed(const std::string& key, const std::string& why);
  void OnEnded(const std::string& key, int32_t code, const std::string& note);
  RunLimits LimitsOf(const RunRecord& record) const;
  base::Status StartRun(const std::string& key, env::SpawnRequest request, const RunRecord& record,
                        const std::string& kind);

  // ---- executors
  base::Status StartExecutor(const std::string& key, ExecutorRun& run);
  void EndExecutor(const std::string& key, endpoints::spark::ExecutorState state, std::optional<std::string> message,
                   std::optional<int32_t> code);
  base::Result<std::vector<std::string>> LocalDirectories(const std::string& application);
  void CleanUp(const std::string& application);

  // ---- drivers
  struct Jar {
    std::string from, to;
  };
  base::Result<Jar> JarOf(const DriverRun& run);
  /// Fetches its jar; then RunDriver.
  base::Status StartDriver(const std::string& id);
  base::Status RunDriver(const std::string& id, const std::string& jar);
  void OnDriverExit(const std::string& id, int32_t code);
  /// `why`: of one that could not be started.
  void EndDriver(const std::string& id, endpoints::spark::DriverState state, std::optional<std::string> why = {});
  void Kill(const std::string& driver);

  void CleanWorkDirectory();
  void ReportIfAllEnded();

  const World world_;
  SparkWorkerSettings settings_;
  const std::function<void(const std::string&)> on_given_up_;
  MasterLink link_;
  std::vector<std::string> unread_;  // by their keys
  env::Timer cleaning_timer_{world_.loop};

  std::map<std::string, ExecutorRun> executors_;
  std::map<std::string, ExecutorRun> finished_executors_;
  std::map<std::string, DriverRun> drivers_;
  std::map<std::string, DriverRun> finished_drivers_;
  std::map<std::string, std::vector<std::string>> local_directories_;  // by application
  std::set<std::string> finished_applications_;
  bool decommissioned_ = false;
  std::function<void()> on_all_ended_;
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker

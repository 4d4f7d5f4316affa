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
#include "endpoints/spark/id_pattern.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/worker_messages.h"
#include "endpoints/spark/worker_use.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/peers/peer_table.h"
#include "process/spark_rpc/guest.h"
#include "process/spark_worker/launch.h"
#include "process/spark_worker/run_record.h"
#include "process/spark_worker/supervision.h"
#include "process/spark_worker/work_directory.h"

namespace fairlead::process::spark_worker {

struct SparkWorkerSettings {
  env::Endpoint listen{"127.0.0.1", 0};
  std::string host;  // as which everybody knows this worker
  std::vector<endpoints::spark::RpcAddress> masters;
  int32_t cores = 1;
  int32_t memory_mib = 1024;
  endpoints::spark::Resources resources;
  std::string work_directory;
  std::vector<std::string> local_directories{"/tmp"};      // SPARK_LOCAL_DIRS
  std::optional<WorkCleaning> cleaning;                    // of the work directory
  base::Duration heartbeat = base::Duration::Seconds(15);  // a quarter of spark.worker.timeout
  /// As long as Spark's worker tries by default (spark.worker.initialRegistrationRetries, .maxRegistrationRetries).
  base::Duration patience = base::Duration::Seconds(660);
  spark_rpc::Security security;
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
  /// What its machine uses since the last call, for a master of ours that decides by it. May read files. Null: not
  /// told.
  std::function<endpoints::spark::WorkerUse(base::Instant now)> measure;
  std::string limits_below;  // hierarchy of the control groups of all that runs; empty: none
  endpoints::spark::IdPattern ids = *endpoints::spark::WorkerIds("worker-%s-%s-%d");  // spark.worker.idPattern
  /// Of a worker that was here before, whose place this one takes; empty: none was.
  std::string id;
  std::vector<SupervisedRun> runs;
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
class SparkWorker {
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

  env::Endpoint local() const { return listener_->local(); }

  // ---- for pages
  const std::string& id() const { return id_; }
  const SparkWorkerSettings& settings() const { return settings_; }
  bool registered() const { return master_peer_ != 0; }
  bool decommissioned() const { return decommissioned_; }
  const std::string& master_url() const { return master_url_; }
  const std::string& master_web_url() const { return master_web_url_; }
  const std::map<std::string, ExecutorRun>& executors() const { return executors_; }  // by "APPLICATION/NUMBER"
  const std::map<std::string, DriverRun>& drivers() const { return drivers_; }
  const std::map<std::string, ExecutorRun>& finished_executors() const { return finished_executors_; }
  const std::map<std::string, DriverRun>& finished_drivers() const { return finished_drivers_; }
  const spark_rpc::Refusals& refusals() const { return refusals_; }
  /// What an earlier worker had left running, and this one could not read: it was ended.
  const std::vector<std::string>& unread() const { return unread_; }
  int32_t cores_used() const;
  int32_t memory_used() const;

 private:
  using PeerId = uint64_t;
  /// Executors and drivers keep one connection each, masters two.
  static constexpr peers::PeerLimits kPeerLimits{};

  SparkWorker(const World& world, const endpoints::spark::SparkBuild& build, SparkWorkerSettings settings,
              std::function<void(const std::string&)> on_given_up);

  // ---- connections
  PeerId AddPeer(std::unique_ptr<env::Stream> stream, spark_rpc::Connection::Side side);
  void Sweep();
  void OnMessage(PeerId id, spark_rpc::Incoming message);
  void OnClosed(PeerId id, const std::string& reason);
  void Send(PeerId peer, const endpoints::spark::WorkerMessage& message);
  using Answer = spark_rpc::Connection::Answer;
  /// Of the master that has registered this worker; false: there is none.
  bool AskMaster(const std::string& endpoint, const std::string& content, Answer answer);
  void Report(const endpoints::spark::WorkerMessage& message);
  /// The end of the run `key`; sent until a master has it.
  void ReportEnd(const std::string& key, endpoints::spark::WorkerMessage message);
  void SendEnd(const std::string& key);
  void OnEndKnown(const std::string& key);
  endpoints::spark::EndpointReference Self() const;

  // ---- registration
  void TryMasters();
  void Register(const endpoints::spark::RpcAddress& master);
  /// Whether a connection that this worker has not made may speak for a master: it has the secret, or comes from an
  /// address where a configured master was found.
  bool IsBelieved(PeerId peer) const;
  void Follow(PeerId peer, const endpoints::spark::MasterChanged& message);
  void FollowRival();
  void RefuseRival(const std::string& why);
  void SetMaster(PeerId peer, const endpoints::spark::EndpointReference& master, const std::string& web_url);
  /// Whether it is one of ours, which waits for a worker that is away; `then` when that is known.
  void LearnMaster(std::function<void()> then);
  void Beat();
  /// As long as the master has a use for it.
  void TellUse();

  // ---- orders
  void On(PeerId peer, const endpoints::spark::RegisteredWorker& message);
  void On(PeerId peer, const endpoints::spark::RegisterWorkerFailed& message);
  void On(PeerId peer, const endpoints::spark::MasterInStandby& message);
  void On(PeerId peer, const endpoints::spark::ReconnectWorker& message);
  void On(PeerId peer, const endpoints::spark::LaunchExecutor& message);
  void On(PeerId peer, const endpoints::spark::LaunchDriver& message);
  void On(PeerId peer, const endpoints::spark::KillExecutor& message);
  void On(PeerId peer, const endpoints::spark::KillDriver& message);
  void On(PeerId peer, const endpoints::spark::ApplicationFinished& message);
  void On(PeerId peer, const endpoints::spark::MasterChanged& message);
  void On(PeerId peer, const endpoints::spark::DecommissionWorker& message);

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
  endpoints::spark::ExecutorDescription Describe(const ExecutorRun& run) const;

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
  void Leave();

  const World world_;
  const endpoints::spark::SparkBuild& build_;
  SparkWorkerSettings settings_;
  const std::function<void(const std::string&)> on_given_up_;
  std::string id_;
  std::unique_ptr<env::Listener> listener_;
  spark_rpc::Refusals refusals_;
  std::vector<std::string> unread_;      // by their keys
  peers::PeerTable table_{kPeerLimits};  // before the peers, which have seats
  std::map<PeerId, spark_rpc::Guest> peers_;
  PeerId last_peer_ = 0;

  PeerId master_peer_ = 0;  // 0: not registered
  bool master_is_ours_ = false;
  endpoints::spark::EndpointReference master_;
  std::string master_url_;
  std::string master_web_url_;
  std::set<PeerId> asked_;                  // masters that have not answered
  std::set<std::string> master_addresses_;  // where configured masters were found
  /// It says that it is the master now, while there is one, which is asked.
  struct Rival {
    PeerId peer = 0;
    endpoints::spark::MasterChanged said;
    env::Loop::TimerId timer = 0;
  };
  std::optional<Rival> rival_;
  base::Instant alone_since_;
  env::Timer retry_timer_{world_.loop};
  env::Timer beat_timer_{world_.loop};
  env::Timer use_timer_{world_.loop};
  env::Timer sweep_timer_{world_.loop};
  env::Timer cleaning_timer_{world_.loop};

  std::map<std::string, ExecutorRun> executors_;
  std::map<std::string, ExecutorRun> finished_executors_;
  std::map<std::string, DriverRun> drivers_;
  std::map<std::string, DriverRun> finished_drivers_;
  std::map<std::string, endpoints::spark::WorkerMessage> ends_;        // that no master knows for certain
  std::map<std::string, std::vector<std::string>> local_directories_;  // by application
  std::set<std::string> finished_applications_;
  bool decommissioned_ = false;
  std::function<void()> on_all_ended_;
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker

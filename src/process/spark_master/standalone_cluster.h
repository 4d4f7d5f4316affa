#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/numbered.h"
#include "endpoints/spark/submission_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/standalone.h"
#include "process/peers/gone_list.h"
#include "process/spark_master/executor_placement.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/standalone_ids.h"
#include "process/spark_master/standalone_store.h"
#include "process/spark_master/store_writer.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::process::spark_master {

struct StandaloneSettings {
  scheduler::standalone::MasterConfig scheduling;
  /// Decides where executors go in the place of Spark's rules (--profile); not set: Spark's rules.
  std::function<std::unique_ptr<scheduler::Scheduler>()> make_scheduler;
  base::Duration worker_timeout = base::Duration::Seconds(60);    // spark.worker.timeout
  int64_t dead_worker_persistence = 15;                           // the same key: in worker_timeouts
  size_t retained_applications = 200;                             // spark.deploy.retainedApplications
  size_t retained_drivers = 200;                                  // spark.deploy.retainedDrivers
  base::Duration recovery_timeout = base::Duration::Seconds(60);  // spark.deploy.recoveryTimeout
  IdSettings ids;
  bool driver_ids_as_names = false;  // spark.master.useDriverIdAsAppName.enabled
  std::string web_url;               // of this master's page, as workers link to it
  /// Another master leads: nothing is taken, and whoever asks is told so.
  bool standby = false;
  /// The store takes nothing any more, now or later (env::CommitFailure): nothing more is decided.
  std::function<void(const std::string& why)> on_store_lost;
};

class StandaloneApplication;

/// A worker that has registered.
struct WorkerRecord {
  endpoints::spark::RegisterWorker said;
  Peers::PeerId peer = 0;  // 0: its connection is gone
  std::string from = {};   // the address of its connection, also of the last one; empty: not known
  base::Instant heard = {};
  base::WallTime heartbeat = {};
  bool stored = false;     // there is a row of it
  bool keeps = false;      // ours: what it runs goes on while it is away
  bool dialled = false;    // this master has connected to where it listens: nobody else can have answered
  bool counted = false;    // among those that have gone
  bool forgotten = false;  // it has gone, and others are shown in its stead
  /// Its connection broke, or another one of it is being taken up; until it has said what it runs.
  std::optional<base::Instant> away_since = {};
  std::vector<std::string> held = {};                   // said meanwhile
  std::optional<endpoints::spark::WorkerUse> use = {};  // of its machine, as it said last
};
/// An executor as pages tell of it, also after its end.
struct ShownExecutor {
  std::string worker;  // its id
  int32_t cores = 0;
  int32_t memory_mib = 0;
  base::WallTime started;
  model::standalone::ExecutorState state = model::standalone::ExecutorState::kLaunching;
  std::string message;
};
struct ApplicationRecord {
  std::string id;
  StandaloneApplication* machine = nullptr;              // null: it has ended
  endpoints::spark::ApplicationDescription description;  // without its command, which the machine knows
  base::WallTime started;
  base::WallTime ended;                                         // 0: not yet
  std::map<int32_t, model::standalone::ProfileTarget> targets;  // the last it asked for, by profile
  int32_t next_executor = 0;                                    // as an earlier life stored it
  bool cleared = false;                                         // it has ended and is not shown any more
  std::map<int32_t, ShownExecutor> executors;                   // the latest of this life
  std::string from = {};                                        // the address of its driver's connection
};
endpoints::spark::ApplicationDescription WithoutCommand(endpoints::spark::ApplicationDescription description);
/// What was submitted; a driver that is started again shares it with its predecessor.
struct Submission {
  endpoints::spark::DriverDescription description;
  std::string kept;       // where it came by RPC (endpoints/spark/known_description.h)
  std::string from = {};  // the address of who submitted it, where that is known
  size_t bytes = 0;       // what it takes in memory
};
struct DriverRecord {
  std::string id;
  std::shared_ptr<const Submission> submission;
  base::WallTime submitted;
  std::string exception;  // of the worker that ran it; empty: none
  bool cleared = false;
};

/// Executors run on Workers, Spark's own or ours, as scheduler::standalone::Master decides: the live Standalone Master
/// (org.apache.spark.deploy.master.Master) but for its drivers' connections. On the loop's thread.
class StandaloneCluster final : public ExecutorSource {
 public:
  /// `store` may be null: then nothing outlives this process. `imported` is what Spark's own master left, for a store
  /// that is new.
  StandaloneCluster(env::Loop& loop, env::Store* store, env::Log& log, const endpoints::spark::SparkBuild& build,
                    StandaloneSettings settings, StandaloneState imported = {});
  ~StandaloneCluster() override;

  void Attach(const Master& master) override;
  std::unique_ptr<Application> Make(const endpoints::spark::SparkBuild& build,
                                    endpoints::spark::RegisterApplication registration,
                                    Application::Callbacks callbacks) override;
  base::Result<std::vector<Stored>> Load() override;
  std::unique_ptr<Application> MakeStored(const std::string& id, const endpoints::spark::SparkBuild& build,
                                          endpoints::spark::RegisterApplication registration,
                                          Application::Callbacks callbacks) override;
  void Forget(const std::string& id) override;
  void SetAside(const std::string& id, const std::string& why) override;
  void OnLoaded() override;
  bool HasEndpoint(Peers::PeerId peer, const std::string& name) override;
  bool OnMessage(Peers::PeerId peer, spark_rpc::Incoming& message) override;
  void OnClosed(Peers::PeerId peer, const std::string& reason) override;

  // ---- drivers on workers; also for REST
  /// `done` gets the driver's id, or why it is not taken: too many of its address, or of all, have not ended.
  void SubmitDriver(Submission submission, std::function<void(base::Result<std::string>)> done);
  /// `done` gets whether there is such a driver that has not ended.
  void KillDriver(const std::string& id, std::function<void(bool)> done);
  /// By a person; one that is not known or has ended is let be.
  void KillApplication(const std::string& id);
  /// Workers of a host take nothing more and are told so; gives how many.
  int DecommissionHost(const std::string& host);
  /// All that have not ended, by id.
  std::vector<std::string> LiveDrivers() const;
  /// Applications and drivers that have ended are not shown any more.
  void ClearCompleted();

  // ---- for pages; indices are the core's
  const scheduler::standalone::Master& core() const { return core_; }
  /// Null: executors go where Spark's rules say.
  const ExecutorPlacement* placement() const { return placement_.get(); }
  base::Instant instant() const { return loop_.Now(); }
  bool standby() const { return settings_.standby; }
  /// As Spark's calls it: ALIVE, RECOVERING, STANDBY.
  const char* status() const;
  bool alive() const { return !standby() && !core_.recovering(); }
  /// Why nothing can be stored at present, so that nothing is promised; empty: it can.
  const std::string& store_error() const { return writer_.error(); }
  /// What an operator should know: stored rows that cannot be read and were set aside.
  const std::vector<SetAsideRow>& set_aside() const { return set_aside_; }
  const spark_rpc::Refusals& refusals() const { return master_.peers->refusals(); }
  /// Whether pages show a worker: lost ones for some time, those that were refused never.
  bool Shows(uint32_t worker) const;
  const base::Numbered<WorkerRecord>& workers() const { return workers_; }
  const base::Numbered<ApplicationRecord>& applications() const { return applications_; }
  const base::Numbered<DriverRecord>& drivers() const { return drivers_; }
  /// Of one that is shown.
  std::optional<uint32_t> ApplicationIndexOf(const std::string& id) const;
  std::optional<uint32_t> DriverIndexOf(const std::string& id) const;
  base::WallTime now() const { return loop_.Wall(); }
  std::string url() const { return "spark://" + master_.address.ToString(); }

 private:
  friend class StandaloneApplication;
  /// An event and, of a new driver, what it is.
  struct Fed {
    model::standalone::Event event;
    std::shared_ptr<const Submission> submission;
  };

  // ---- the core
  void Feed(model::standalone::Event event, std::shared_ptr<const Submission> submission = nullptr);
  void Step();
  /// Asks who places executors in the core's stead.
  void Place();
  void WakePlacement();
  bool TakeUse(uint32_t worker, const endpoints::spark::WorkerUse& use);
  Standing StandingOf(uint32_t app) const;
  void Apply(const std::vector<model::standalone::Effect>& effects);
  void Apply(const model::standalone::LaunchExecutor& effect);
  void Apply(const model::standalone::LaunchDriver& effect);
  void Apply(const model::standalone::KillExecutor& effect);
  void Apply(const model::standalone::KillDriver& effect);
  void Apply(const model::standalone::RegisteredWorker& effect);
  void Apply(const model::standalone::RegisterWorkerFailed& effect);
  void Apply(const model::standalone::RegisteredApplication& effect);
  void Apply(const model::standalone::ExecutorAdded& effect);
  void Apply(const model::standalone::ExecutorUpdated& effect);
  void Apply(const model::standalone::WorkerRemoved& effect);
  void Apply(const model::standalone::ApplicationRemoved& effect);
  void Apply(const model::standalone::ApplicationFinished& effect);
  void Apply(const model::standalone::Answer& effect);
  void Apply(const model::standalone::DriverAccepted& effect);
  void Apply(const model::standalone::DriverEnded& effect);

  // ---- workers
  void OnWorkerMessage(Peers::PeerId peer, const endpoints::spark::WorkerMessage& message,
                       std::optional<int64_t> request, size_t bytes);
  void Register(Peers::PeerId peer, const endpoints::spark::RegisterWorker& message, size_t bytes);
  void On(Peers::PeerId peer, const endpoints::spark::Heartbeat& message);
  void On(Peers::PeerId peer, std::optional<int64_t> request, const endpoints::spark::ExecutorStateChanged& message);
  void On(Peers::PeerId peer, std::optional<int64_t> request, const endpoints::spark::DriverStateChanged& message);
  void On(Peers::PeerId peer, const endpoints::spark::WorkerLatestState& message);
  void On(Peers::PeerId peer, const endpoints::spark::WorkerSchedulerStateResponse& message);
  /// Another connection says that it is a worker that lives.
  void Contest(uint32_t worker, Peers::PeerId by, const endpoints::spark::RegisterWorker& said, size_t bytes);
  void KeepPlace(uint32_t worker);
  void LosePlace(uint32_t worker);
  void TellDuplicate(Peers::PeerId peer, const endpoints::spark::RegisterWorker& said);
  bool MayReplaceAt(Peers::PeerId peer, const endpoints::spark::RegisterWorker& again) const;
  void NoteAdded(size_t bytes);
  void SendAway(uint32_t worker);
  void TakeBack(uint32_t worker, const endpoints::spark::WorkerLatestState& message);
  void LoseAwayAt(const endpoints::spark::RegisterWorker& again);
  void Sweep();
  void Lose(uint32_t worker, const std::string& why);
  void Tell(model::standalone::WorkerIndex worker, const endpoints::spark::MasterMessage& message,
            std::string_view kept = {});
  std::optional<uint32_t> WorkerOf(Peers::PeerId peer) const;
  void Answer(Peers::PeerId peer, std::optional<int64_t> request, bool value);

  // ---- drivers
  std::string WhyNoDriver(const Submission& submission) const;
  void ApplicationGone(uint32_t application);
  void DriverGone(uint32_t driver);
  /// What is not shown any more leaves nothing behind, once no event and no effect waits that may name it.
  void DropUnshown();
  void AddDriver(uint32_t index, std::shared_ptr<const Submission> submission);

  // ---- over restarts
  void CollectRows(const model::standalone::Event& event, std::span<const model::standalone::Effect> effects,
                   std::vector<env::Row>& rows);
  void CollectLostWorkers(const model::standalone::Event& event, bool recovering, std::vector<env::Row>& rows);
  void TakeUpDriver(const std::string& id, StoredStandaloneDriver stored);
  /// Connects to a stored worker and says that this is its master now, until it answers or is given up.
  void CallBack(uint32_t worker);
  void TellMasterChanged(uint32_t worker);
  bool IsUnknown(uint32_t worker) const;
  void OnRecovered();
  static model::standalone::WorkerRegistered RegistrationOf(uint32_t index,
                                                            const endpoints::spark::RegisterWorker& worker);
  static model::standalone::DriverSubmitted EventOf(const endpoints::spark::DriverDescription& driver);

  // ---- applications
  model::standalone::AppRegistered RegistrationOf(uint32_t index) const;
  void Begin(StandaloneApplication& application);
  StandaloneApplication* Find(model::standalone::AppIndex index) const;
  uint64_t NewToken(std::function<void(bool)> done);

  env::Loop& loop_;
  env::Log& log_;
  const endpoints::spark::SparkBuild& build_;
  const StandaloneSettings settings_;
  StoreWriter writer_;
  StandaloneState imported_;
  Master master_;
  scheduler::standalone::Master core_;
  std::unique_ptr<ExecutorPlacement> placement_;
  env::Timer placement_timer_{loop_};
  std::deque<Fed> queue_;
  bool stepping_ = false;

  base::Numbered<WorkerRecord> workers_;
  std::map<std::string, uint32_t> alive_workers_;  // by id
  std::map<Peers::PeerId, uint32_t> members_;
  std::map<Peers::PeerId, std::string> registering_;  // the one worker for which each connection speaks
  /// Another connection wants a worker's place, whose own is asked whether it is still there.
  struct Claim {
    Claim(Peers::PeerId connection, endpoints::spark::RegisterWorker registration, size_t size, env::Loop& loop)
        : by(connection), said(std::move(registration)), bytes(size), timer(loop) {}
    Peers::PeerId by;
    endpoints::spark::RegisterWorker said;
    size_t bytes;
    env::Timer timer;  // the other has so long
  };
  std::map<uint32_t, Claim> contests_;  // by worker
  peers::GoneList gone_workers_;
  peers::GoneList gone_applications_;
  peers::GoneList gone_drivers_;
  size_t added_ = 0;  // bytes, roughly, since unshown workers were dropped
  base::Numbered<ApplicationRecord> applications_;
  base::Numbered<DriverRecord> drivers_;
  StandaloneIds ids_;
  std::map<uint64_t, std::function<void(bool)>> answers_;
  std::map<uint64_t, std::function<void(base::Result<std::string>)>> accepted_;
  uint64_t last_token_ = 0;
  env::Timer sweep_timer_{loop_};
  std::vector<model::standalone::StoredDriver> loaded_drivers_;  // until OnLoaded
  std::map<std::string, StoredStandaloneApplication> loaded_applications_;
  std::vector<SetAsideRow> set_aside_;
  base::Instant recovery_since_;
  env::Timer recovery_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master

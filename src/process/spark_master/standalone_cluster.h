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

#include "endpoints/spark/submission_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/standalone.h"
#include "process/spark_master/executor_placement.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/standalone_records.h"
#include "process/spark_master/standalone_store.h"
#include "process/spark_master/standalone_workers.h"
#include "process/spark_master/store_writer.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::process::spark_master {

/// Executors run on Workers, Spark's own or ours, as scheduler::standalone::Master decides: the live Standalone Master
/// (org.apache.spark.deploy.master.Master) but for its drivers' connections. On the loop's thread.
class StandaloneCluster final : public ExecutorSource, private WorkersOwner {
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
  void ClearCompleted() { records_.ClearCompleted(); }

  // ---- for pages; indices are the core's
  const scheduler::standalone::Master& core() const { return core_; }
  /// Why an application waits, by whoever places executors; nothing: Spark's rules do.
  std::optional<std::string> WhyNotPlaced(uint32_t app) const;
  bool standby() const { return settings_.standby; }
  /// As Spark's calls it: ALIVE, RECOVERING, STANDBY.
  const char* status() const;
  bool alive() const { return !standby() && !core_.recovering(); }
  /// Why nothing can be stored at present, so that nothing is promised; empty: it can.
  const std::string& store_error() const { return writer_.error(); }
  /// What an operator should know: stored rows that cannot be read and were set aside.
  const std::vector<SetAsideRow>& set_aside() const { return writer_.set_aside(); }
  const spark_rpc::Refusals& refusals() const { return master_.peers->refusals(); }
  const StandaloneWorkers& workers() const { return workers_; }
  const StandaloneRecords& records() const { return records_; }
  base::WallTime now() const { return loop_.Wall(); }
  std::string url() const { return workers_.url(); }

 private:
  friend class StandaloneApplication;
  /// An event and, of a new driver, what it is.
  struct Fed {
    model::standalone::Event event;
    std::shared_ptr<const Submission> submission;
  };

  // ---- the core
  void Feed(model::standalone::Event event) override { Feed(std::move(event), nullptr); }
  void Feed(model::standalone::Event event, std::shared_ptr<const Submission> submission);
  void Step();
  /// Asks who places executors in the core's stead.
  void Place();
  void WakePlacement();
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

  std::string WhyNoDriver(const Submission& submission) const;
  /// What is not shown any more leaves nothing behind, once no event and no effect waits that may name it.
  void DropUnshown() override;
  bool full() const override;
  uint64_t Await(std::function<void(bool)> done) override;

  void CollectRows(const model::standalone::Event& event, std::span<const model::standalone::Effect> effects,
                   std::vector<env::Row>& rows);
  void OnRecovered();
  void Begin(StandaloneApplication& application);
  StandaloneApplication* Find(model::standalone::AppIndex index) const;

  env::Loop& loop_;
  env::Log& log_;
  const endpoints::spark::SparkBuild& build_;
  const StandaloneSettings settings_;
  StoreWriter writer_;
  StandaloneState state_;  // that Spark's own master left, or that the store held: until it is taken up
  Master master_;
  scheduler::standalone::Master core_;
  std::unique_ptr<ExecutorPlacement> placement_;
  env::Timer placement_timer_{loop_};
  std::deque<Fed> queue_;
  bool stepping_ = false;
  StandaloneRecords records_;
  StandaloneWorkers workers_;
  std::map<uint64_t, std::function<void(base::Result<std::string>)>> awaited_;  // answers, by token
  uint64_t last_token_ = 0;
  base::Instant recovery_since_;
  env::Timer recovery_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master

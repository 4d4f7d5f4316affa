#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbered.h"
#include "endpoints/spark/worker_messages.h"
#include "endpoints/spark/worker_use.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/timer.h"
#include "model/standalone.h"
#include "process/peers/gone_list.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_master/standalone_records.h"
#include "process/spark_master/standalone_store.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::process::spark_master {

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

/// What the workers of a master ask of it.
class WorkersOwner {
 public:
  virtual void Feed(model::standalone::Event event) = 0;
  /// The token of an event whose answer calls `done`.
  virtual uint64_t Await(std::function<void(bool)> done) = 0;
  /// So much waits to be stored that nothing more is taken.
  virtual bool full() const = 0;
  /// Memory of workers that are not shown any more is to be given back.
  virtual void DropUnshown() = 0;

 protected:
  ~WorkersOwner() = default;
};

/// The workers of a Standalone Master under the core's indices: which connection speaks for which of them, whose
/// place it is when two claim it, which are silent or away (ours, whose executors run on meanwhile), what is still
/// shown of those that have gone, and the call back after a restart. A living id has one index, and a connection one
/// worker. On the loop's thread.
class StandaloneWorkers {
 public:
  /// All of them outlive it.
  struct Context {
    env::Loop& loop;
    env::Log& log;
    const endpoints::spark::SparkBuild& build;
    const StandaloneSettings& settings;
    const scheduler::standalone::Master& core;
    const StandaloneRecords& records;
    WorkersOwner& owner;
  };
  explicit StandaloneWorkers(const Context& context);

  /// From now on silence is noticed.
  void Attach(const ExecutorSource::Master& master);
  void OnMessage(Peers::PeerId peer, const endpoints::spark::WorkerMessage& message, std::optional<int64_t> request,
                 size_t bytes);
  /// Our Worker asks once it is registered, and when it ends in order; false: for another endpoint.
  bool HasEndpoint(uint32_t worker, const std::string& name);
  void OnClosed(Peers::PeerId peer);
  /// Nothing, where it is not connected; one that is away hears it when it is back.
  void Tell(model::standalone::WorkerIndex worker, const endpoints::spark::MasterMessage& message,
            std::string_view kept = {});
  void Apply(const model::standalone::RegisteredWorker& effect);
  void Apply(const model::standalone::RegisterWorkerFailed& effect);
  void Measured(uint32_t worker, const endpoints::spark::WorkerUse& use) { workers_[worker].use = use; }

  // ---- over restarts
  void Load(const std::string& id, const StoredStandaloneWorker& stored);
  static model::standalone::WorkerRegistered RegistrationOf(uint32_t index,
                                                            const endpoints::spark::RegisterWorker& worker);
  /// Connects to a stored worker and says that this is its master now, until it answers or is given up.
  void CallBack(uint32_t worker);
  void OnRecovered();
  env::Row TakeRow(uint32_t worker);
  /// Rows of workers that the core has ended.
  void CollectLost(std::vector<env::Row>& rows);

  // ---- what is shown
  /// Whether pages show a worker: lost ones for some time, those that were refused never.
  bool Shows(uint32_t worker) const;
  /// Those that are not shown, except the `named`, for the core and then for Drop.
  void CollectUnshown(const std::set<uint32_t>& named, scheduler::standalone::Gone& gone);
  void Drop(const std::set<uint32_t>& gone);

  std::optional<uint32_t> Of(Peers::PeerId peer) const;
  /// Those of a host that live and take executors.
  std::vector<uint32_t> AliveAt(const std::string& host) const;
  const base::Numbered<WorkerRecord>& all() const { return workers_; }
  std::string url() const { return "spark://" + master_.address.ToString(); }

 private:
  /// Another connection wants a worker's place, whose own is asked whether it is still there.
  struct Claim {
    Claim(Peers::PeerId connection, endpoints::spark::RegisterWorker registration, size_t size, env::Loop& loop)
        : by(connection), said(std::move(registration)), bytes(size), timer(loop) {}
    Peers::PeerId by;
    endpoints::spark::RegisterWorker said;
    size_t bytes;
    env::Timer timer;  // the other has so long
  };

  void Register(Peers::PeerId peer, const endpoints::spark::RegisterWorker& message, size_t bytes);
  void On(Peers::PeerId peer, const endpoints::spark::Heartbeat& message);
  void On(Peers::PeerId peer, std::optional<int64_t> request, const endpoints::spark::ExecutorStateChanged& message);
  void On(Peers::PeerId peer, std::optional<int64_t> request, const endpoints::spark::DriverStateChanged& message);
  void On(Peers::PeerId peer, const endpoints::spark::WorkerLatestState& message);
  void On(Peers::PeerId peer, const endpoints::spark::WorkerSchedulerStateResponse& message);
  void Heard(uint32_t worker);
  /// Another connection says that it is a worker that lives.
  void Contest(uint32_t worker, Peers::PeerId by, const endpoints::spark::RegisterWorker& said, size_t bytes);
  void KeepPlace(uint32_t worker);
  void LosePlace(uint32_t worker);
  endpoints::spark::RegisteredWorker Answer(const endpoints::spark::RegisterWorker& said, bool duplicate) const;
  void TellDuplicate(Peers::PeerId peer, const endpoints::spark::RegisterWorker& said);
  bool MayReplaceAt(Peers::PeerId peer, const endpoints::spark::RegisterWorker& again) const;
  void NoteAdded(size_t bytes);
  void SendAway(uint32_t worker);
  void TakeBack(uint32_t worker, const endpoints::spark::WorkerLatestState& message);
  void LoseAwayAt(const endpoints::spark::RegisterWorker& again);
  void Sweep();
  void Lose(uint32_t worker, const std::string& why);
  void Reply(Peers::PeerId peer, std::optional<int64_t> request, bool value);
  void TellMasterChanged(uint32_t worker);
  bool IsUnknown(uint32_t worker) const;

  const Context context_;
  ExecutorSource::Master master_;
  base::Numbered<WorkerRecord> workers_;
  std::map<std::string, uint32_t> alive_workers_;  // by id
  std::map<Peers::PeerId, uint32_t> members_;
  std::map<Peers::PeerId, std::string> registering_;  // the one worker for which each connection speaks
  std::map<uint32_t, Claim> contests_;                // by worker
  peers::GoneList gone_;
  size_t added_ = 0;  // bytes, roughly, since unshown workers were dropped
  env::Timer sweep_timer_{context_.loop};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "env/log.h"
#include "env_sim/sim_quorum.h"
#include "env_sim/world.h"
#include "process/spark_master/standalone_master.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/supervisor.h"
#include "sim/standalone/driver.h"

namespace fairlead::sim {

/// A Standalone cluster of production Masters, Workers and supervisors on machines of a World: two Masters that elect
/// a leader, three Workers of five cores, drivers in client mode, and supervised drivers on Workers by REST. It knows
/// what really runs, and judges by that.
class StandaloneSimulation {
 public:
  StandaloneSimulation(env_sim::World& world, env_sim::QuorumBugs bugs);
  ~StandaloneSimulation();

  /// The first promise that was broken, or "".
  const std::string& wrong() const { return wrong_; }
  int64_t leaders() const { return quorum_.epochs(); }

  /// Lets time pass; every promise that holds at any moment is checked after every step.
  void Pass(base::Duration time);
  /// What must hold in the end, when everything has been whole for long enough.
  void CheckWhole();

  // ---- what people and jobs do; chosen by the world's randomness
  /// A driver by REST, when somebody leads and there is room for one more.
  void Submit();
  /// One of the drivers in client mode wants another number of executors.
  void ChangeWish();

  // ---- faults
  static constexpr int kMasters = 2;
  static constexpr int kWorkers = 3;
  /// "master0", "worker2".
  static bool IsMaster(const std::string& host) { return host[0] == 'm'; }
  bool IsUp(const std::string& host) const;
  /// kill -9 of a Master or of a Worker alone.
  void Kill(const std::string& host);
  /// A Worker's host goes with all that runs on it; `silently`: nobody is told.
  void LoseHost(const std::string& host, bool silently);
  void Restart(const std::string& host);
  void Stall(const std::string& host, bool stalled) { world_.machine(host).Stall(stalled); }
  void Cut(const std::string& host, bool cut) { quorum_.Cut(host, cut); }
  void Delay(const std::string& host, base::Duration delay) { quorum_.Delay(host, delay); }
  /// One of the executors and drivers that run crashes; false: none runs.
  bool KillRun();
  /// Everything is there again and nothing fails any more.
  void Heal();

 private:
  class Process;
  struct Master {
    std::unique_ptr<process::spark_master::StandaloneMaster> process;
    env::Elector* elector = nullptr;
  };
  void StartMaster(env_sim::Machine& machine);
  void StartWorker(env_sim::Machine& machine);
  process::spark_worker::Supervisor& SupervisorOn(env_sim::Machine& machine);
  /// Null when nobody leads who may.
  process::spark_master::StandaloneMaster* Acting();
  static bool IsActing(const Master& master);
  void Check();
  /// The numbers of those that run.
  std::vector<std::string> ExecutorsOf(const std::string& application) const;
  void StartAgain();
  void Broken(const std::string& why);

  env_sim::World& world_;
  env::NullLog log_;
  env_sim::SimQuorum quorum_;
  std::multimap<std::string, Process*> running_;  // "app-... 3" for an executor, "job-5" for a driver on a worker
  std::map<std::string, Master> masters_;
  std::map<std::string, std::unique_ptr<process::spark_worker::Supervisor>> supervisors_;
  std::map<std::string, std::unique_ptr<process::spark_worker::SparkWorker>> workers_;
  std::vector<std::unique_ptr<SimDriver>> drivers_;
  int submitted_ = 0;
  std::set<std::string> acknowledged_;
  std::set<std::string> ended_;
  std::string wrong_;
};

}  // namespace fairlead::sim

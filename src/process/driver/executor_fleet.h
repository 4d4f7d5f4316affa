#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/alive.h"
#include "env/timer.h"
#include "process/application/yarn_master.h"
#include "process/driver/cluster_racks.h"
#include "process/driver/executor_launch.h"
#include "process/driver/executor_server.h"
#include "process/driver/lost_work.h"
#include "tasks/stage_places.h"

namespace fairlead::process::driver {

struct FleetSettings {
  std::string host;                              // of the driver, where its executors connect to
  std::string tracking_url;                      // of the driver's page; empty: none
  std::vector<env::Endpoint> resource_managers;  // ApplicationMasterProtocol; of each manager
  endpoints::yarn::RpcToken am_rm_token;
  std::vector<env::Endpoint>
      resource_manager_clients;  // ApplicationClientProtocol, for racks of nodes; none: not asked
  std::string user;              // who asks there
  int32_t executors_max = 2;
  int32_t executors_min = 2;
  bool gang = false;  // the least number come together, or none of them
  int32_t cores = 1;  // of an executor
  /// An executor without work for this long is given back (spark.dynamicAllocation.executorIdleTimeout).
  base::Duration idle_max = base::Duration::Seconds(60);
  /// Executors are not asked for before it is known where the first stage's data are, or for this long.
  base::Duration places_wait;
  std::string build_id;  // of driver and executors
  std::string secret;    // that executors must know
};

/// A driver's executors on YARN: their connections, the application master, and between them the policy of who is to
/// blame for a lost executor and of how many there should be (dynamic allocation). All on the loop's thread.
class ExecutorFleet : private DriverListener {
 public:
  struct Callbacks {
    /// The job can go no further.
    std::function<void(const std::string& reason)> on_failed;
    /// Of the whole job, between 0 and 1.
    std::function<float()> progress;
    /// A line for people.
    std::function<void(const std::string& line)> on_news;
    /// How to start an executor that shall connect to `driver`.
    std::function<ExecutorLaunch(const env::Endpoint& driver)> make_launch;
  };
  /// All references must outlive the fleet, and the fleet must outlive the last step of `driver`.
  ExecutorFleet(env::Loop& loop, env::Net& net, JobDriver& driver, FleetSettings settings, Callbacks callbacks);
  ~ExecutorFleet() override;

  /// Listens, registers and asks for executors.
  base::Status Start();
  /// Ends executors and unregisters; `done` when the resource manager knows.
  void Finish(const std::string& error, std::function<void()> done);
  /// Closes all connections.
  void Close();

 private:
  struct ExecutorState {
    std::string id;
    model::tasks::ExecutorIndex index;
    bool connected = false;
    bool dismissed = false;
    base::Instant idle_since;
  };
  void OnEnded(const application::ExecutorEnd& end);
  bool OnLost(const std::string& id, model::tasks::ExecutorIndex index, const std::string& reason);
  void OnEffect(const model::tasks::Effect& effect) override;
  /// Of the executors that are connected.
  std::map<std::string, base::Duration> Losses() const;
  void OnRack(const std::string& host, const std::string& rack);
  void AskNearData();
  void MayAsk();
  void Resize();
  void SetTarget(int32_t target);
  void Tick();

  env::Loop& loop_;
  env::Net& net_;
  JobDriver& driver_;
  LostWork lost_work_;
  const FleetSettings settings_;
  const Callbacks callbacks_;
  std::unique_ptr<ExecutorServer> server_;
  std::unique_ptr<application::YarnMaster> master_;
  std::unique_ptr<ClusterRacks> racks_;
  model::Resources size_;  // of an executor's container
  /// Where the tasks of running stages would like to run, by stage and attempt (Spark: ExecutorAllocationManager's
  /// executor placement hints).
  std::map<std::pair<int32_t, int32_t>, tasks::StagePlaces> places_;
  std::map<std::string, std::string> host_racks_;  // as the resource manager has them
  bool may_ask_ = false;
  int32_t target_ = 0;
  std::map<std::string, ExecutorState> executors_;
  int64_t demand_ = 0;
  int32_t failures_ = 0;
  bool finishing_ = false;
  env::Timer tick_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::driver

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/yarn/credentials.h"
#include "env/alive.h"
#include "env_sim/world.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"
#include "sim/cluster/job.h"
#include "sim/cluster/ledger.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"

namespace fairlead::sim {

/// The command line that a simulated container's process understands.
std::string MasterCommand(const JobSpec& job);
std::string TaskCommand(const JobSpec& job, int task);

/// An application master in the simulated cluster: speaks ApplicationMasterProtocol and ContainerManagementProtocol
/// over the real sessions as Hadoop's AMRMClient and NMClient do: repeats a call whose reply was lost with the same
/// response id, registers again when the resource manager forgot it, asks again for tasks that failed.
class Master final : public Program {
 public:
  Master(env_sim::World& world, env_sim::Machine& machine, process::rpc::Members scheduler, JobSpec job,
         model::ApplicationAttemptId attempt, endpoints::yarn::RpcToken token, Ledger& ledger,
         std::function<void(int exit_code)> exit);
  ~Master() override;

 private:
  using Completed = wire::yarn::ContainerStatusProto;
  struct Launched {
    int task;
    bool started = false;
  };

  void Register();
  void Allocate();
  wire::yarn::AllocateRequestProto NextRequest();
  void OnAllocated(const wire::yarn::AllocateResponseProto& response);
  void OnCompleted(const Completed& status);
  void StartTask(const wire::yarn::ContainerProto& container, int task);
  void Finish();
  void OnError(const process::rpc::RpcError& error, void (Master::*again)());
  void Exit(int code);
  void Later(base::Duration delay, void (Master::*step)());
  process::rpc::RpcTarget SchedulerTarget() const;
  std::string life() const { return ToString(attempt_); }

  env_sim::World& world_;
  env_sim::Machine& machine_;
  process::rpc::Members scheduler_;
  JobSpec job_;
  model::ApplicationAttemptId attempt_;
  endpoints::yarn::RpcToken token_;
  Ledger& ledger_;
  std::function<void(int)> exit_;
  process::rpc::RpcClient rpc_;

  bool exited_ = false;
  std::vector<int> waiting_;  // tasks without a container
  std::vector<bool> done_;
  std::map<model::ContainerId, Launched> launched_;
  std::map<std::string, endpoints::yarn::RpcToken> node_tokens_;
  std::vector<wire::yarn::ContainerIdProto> releases_;
  int asked_ = -1;        // what the resource manager was last told to want
  int registration_ = 0;  // goes up as another run of the resource manager wants one
  int response_id_ = 0;
  std::optional<wire::yarn::AllocateRequestProto> unanswered_;
  env::Alive alive_;
};

}  // namespace fairlead::sim

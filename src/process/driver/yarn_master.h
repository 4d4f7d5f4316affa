#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "endpoints/yarn/rpc_identity.h"
#include "env/loop.h"
#include "env/net.h"
#include "model/ids.h"
#include "model/resources.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/records.h"

namespace fairlead::process::driver {

/// How executors are started.
struct ExecutorLaunch {
  int64_t memory_mib = 1024;
  int32_t cores = 1;
  std::string job_url;  // file:// URL of the job binary
  int64_t job_size = 0;
  int64_t job_timestamp_ms = 0;
  std::map<std::string, std::string> environment;
  std::vector<std::string> command;  // before the executor's id
  std::string tokens;                // credentials blob
  /// The auxiliary service spark_shuffle shall serve the executors' files, on nodes that have it.
  bool shuffle_service = false;
  /// Environment besides, on nodes that do not.
  std::map<std::string, std::string> environment_without_service;
};

/// The application master's side of YARN (org.apache.hadoop.yarn.client.api.async.AMRMClientAsync and NMClientAsync, as
/// Spark's YarnAllocator uses them): registers with the AMRMToken, keeps the wanted number of executor containers asked
/// for, starts what is granted, hears of what ended, says the final status. Everything is retried while the resource
/// manager or a node is away; a resource manager that restarted is told everything anew. On the loop's thread.
class YarnMaster {
 public:
  struct Callbacks {
    /// The container of an executor ended: by YARN's exit status. Also for one that never started.
    std::function<void(const std::string& executor_id, int32_t exit_status, const std::string& diagnostics)>
        on_executor_ended;
    /// The resource manager does not want this master any more.
    std::function<void(const std::string& reason)> on_dismissed;
    /// Between 0 and 1, for allocate.
    std::function<float()> progress;
  };

  YarnMaster(env::Loop& loop, env::Net& net, env::Endpoint resource_manager, endpoints::yarn::RpcToken am_rm_token,
             ExecutorLaunch launch, Callbacks callbacks);
  ~YarnMaster();

  void Register(const std::string& host, int32_t port, const std::string& tracking_url,
                std::function<void(base::Status)> done);
  /// How many executors there shall be; the difference is asked for or, from asks, taken back.
  void SetTarget(int32_t executors);
  /// Hosts (then their racks are anybody's) where some of the executors should be.
  void SetHostWishes(std::map<std::string, int32_t> hosts) { host_wishes_ = std::move(hosts); }
  /// Gives one executor's container back.
  void Release(const std::string& executor_id);
  /// Takes no more executors, unregisters, then done.
  void Finish(bool succeeded, const std::string& diagnostics, const std::string& tracking_url,
              std::function<void()> done);

  int32_t target() const { return target_; }
  /// Containers granted and not ended.
  size_t containers() const { return containers_.size(); }
  /// The host of an executor's container; empty when unknown.
  std::string HostOf(const std::string& executor_id) const;

 private:
  struct Container {
    wire::yarn::ContainerProto proto;
    std::string executor_id;
    int start_tries = 0;
    bool released = false;
  };
  rpc::RpcTarget ResourceManager() const;
  void SendRegister();
  void ScheduleAllocate(base::Duration delay);
  void Allocate();
  void OnAllocated(wire::yarn::AllocateResponseProto& response);
  void OnAllocateFailed(const rpc::RpcError& error);
  void OnContainer(wire::yarn::ContainerProto container);
  void Start(const std::string& container_id);
  void OnStarted(const std::string& container_id,
                 base::Result<wire::yarn::StartContainersResponseProto, rpc::RpcError> answer);
  void StartAgainOrGiveUp(const std::string& container_id, const std::string& why);
  void Ended(const std::string& container_id, int32_t exit_status, const std::string& diagnostics);
  void TakeToken(const wire::yarn::NMTokenProto& token);
  bool HasShuffleService(const Container& container) const;
  wire::yarn::ContainerLaunchContextProto LaunchContext(const Container& container) const;
  void SendFinish();
  void AddAsks(wire::yarn::AllocateRequestProto& request);

  env::Loop& loop_;
  rpc::RpcClient rpc_;
  const env::Endpoint resource_manager_;
  endpoints::yarn::RpcToken am_rm_token_;
  const ExecutorLaunch launch_;
  Callbacks callbacks_;

  wire::yarn::RegisterApplicationMasterRequestProto registration_;
  std::function<void(base::Status)> on_registered_;
  base::Instant register_until_;
  bool registered_ = false;
  bool dismissed_ = false;

  int32_t target_ = 0;
  int32_t asked_ = -1;  // what the resource manager was told last; -1: nothing
  std::map<std::string, int32_t> host_wishes_;
  std::set<std::string> asked_hosts_;
  int32_t response_id_ = 0;
  bool allocating_ = false;
  bool allocate_again_ = false;
  env::Loop::TimerId allocate_timer_ = 0;
  std::map<std::string, Container> containers_;                   // by container id
  std::map<std::string, std::string> by_executor_;                // executor id -> container id
  std::map<std::string, endpoints::yarn::RpcToken> node_tokens_;  // by "host:port"
  std::vector<wire::yarn::ContainerIdProto> releases_;
  /// Nodes without the auxiliary service, by "host:port".
  std::set<std::string> without_service_;
  int32_t next_executor_ = 1;

  bool finishing_ = false;
  wire::yarn::FinishApplicationMasterRequestProto finish_;
  std::function<void()> on_finished_;
  base::Instant finish_until_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::process::driver

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "model/resources.h"
#include "process/application/near_data.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/records.h"

namespace fairlead::process::application {

/// A container that an executor runs or shall run in.
struct ExecutorContainer {
  std::string executor_id;
  int32_t kind = 0;
  std::string container_id;
  env::Endpoint node;
  std::string node_http_address;  // of its pages; empty: unknown
  /// The auxiliary service spark_shuffle may be named in the launch context; false once the node has said that it has
  /// none.
  bool shuffle_service = true;
};

/// How an executor ended.
struct ExecutorEnd {
  ExecutorContainer executor;
  int32_t exit_status =
      0;  // the process', or YARN's own (negative): org.apache.hadoop.yarn.api.records.ContainerExitStatus
  std::string diagnostics;
  /// The resource manager has given up the whole node.
  bool node_lost = false;

  /// It says nothing about the application: the cluster took the container, or lost it (what Spark's YarnAllocator does
  /// not count as a failure; wider than what the resource manager forgives a master).
  bool IsClustersDoing() const;
};

/// The application master's side of YARN (org.apache.hadoop.yarn.client.api.async.AMRMClientAsync and NMClientAsync, as
/// Spark's YarnAllocator uses them): registers with the AMRMToken, keeps the wanted number of executor containers asked
/// for, starts what is granted, hears of what ended, says the final status. Everything is retried while the resource
/// manager or a node is away; a resource manager that restarted is told everything again. On the loop's thread.
class YarnMaster {
 public:
  struct Callbacks {
    /// What to run in a container.
    std::function<wire::yarn::ContainerLaunchContextProto(const ExecutorContainer& executor)> make_launch;
    /// The node has taken the container (may be null).
    std::function<void(const ExecutorContainer& executor)> on_executor_started;
    /// Also for one that never started.
    std::function<void(const ExecutorEnd& end)> on_executor_ended;
    /// The resource manager will not give containers of this size, at least for now; it is asked again (may be null).
    std::function<void(const std::string& reason)> on_refused;
    /// The resource manager does not want this master any more.
    std::function<void(const std::string& reason)> on_dismissed;
    /// The resource manager has renewed the AMRMToken (may be null).
    std::function<void(const endpoints::yarn::RpcToken& token)> on_token;
    /// Between 0 and 1, for allocate.
    std::function<float()> progress;
    /// What would be lost with each executor that ended now, as a part of the time for which it has run; of one that is
    /// left out, all of it (may be null).
    std::function<std::map<std::string, base::Duration>()> losses;
  };

  YarnMaster(env::Loop& loop, env::Net& net, rpc::Members resource_managers, endpoints::yarn::RpcToken am_rm_token,
             Callbacks callbacks);
  ~YarnMaster();

  /// Before Register: executors that an earlier life of this process started, and the id of the next new one. Those
  /// that have ended meanwhile are reported so.
  void Adopt(const std::vector<ExecutorContainer>& executors, int32_t next_executor);
  void Register(const std::string& host, int32_t port, const std::string& tracking_url,
                std::function<void(base::Status)> done);
  /// How many executors of a kind there shall be, and the size of each; the difference is asked for or, from asks,
  /// taken back. Kinds are told apart by the priority of their containers, which is `kind`: lower ones are served
  /// first. The size of a kind does not change.
  void SetTarget(int32_t kind, const model::Resources& size, int32_t executors);
  /// Where the tasks of a kind's executors, `slots` at a time in each, would like to run: its executors are asked for
  /// there, else in the rack, else anywhere (a gang's anywhere). `racks` by host.
  void SetPlaces(int32_t kind, int32_t slots, WantedPlaces places, std::map<std::string, std::string> racks);
  /// The first `executors` of a kind are asked for together, all or none, before any others: by an
  /// allocation_request_id, which Fairlead's resource manager takes for a gang's number in an application with the tag
  /// "fairlead.gang".
  void SetGang(int32_t kind, int32_t executors) { kinds_[kind].gang = executors; }
  /// Gives one executor's container back.
  void Release(const std::string& executor_id);
  /// Takes no more executors, unregisters, then done.
  void Finish(bool succeeded, const std::string& diagnostics, const std::string& tracking_url,
              std::function<void()> done);

  /// The host of an executor's container; empty when unknown.
  std::string HostOf(const std::string& executor_id) const;

 private:
  struct Kind {
    model::Resources size;
    int32_t target = 0;
    int32_t asked = -1;  // what the resource manager was told last; -1: nothing
    int32_t containers = 0;
    int32_t gang = 0;  // above 0: so many are asked for together, and are not there yet
    base::Instant asked_at;
    int32_t slots = 1;
    WantedPlaces places;
    std::map<std::string, std::string> racks;
    PlaceLines lines;  // what the resource manager was told last; -1: it may have something else
    int32_t missing() const { return std::max(0, (gang > 0 ? gang : target) - containers); }
  };
  struct Container {
    wire::yarn::ContainerProto proto;
    std::string executor_id;
    int32_t kind = 0;
    int start_tries = 0;
    bool released = false;
    /// What was done since is lost, as the resource manager was told last; Max(): nothing was told.
    base::Instant lost_since = base::Instant::Max();
  };
  rpc::RpcTarget ResourceManager() const;
  void SendRegister();
  void RegisterAnew();
  void ForgetAsks();
  void ScheduleAllocate(base::Duration delay);
  void Allocate();
  void AskFor(int32_t id, Kind& kind, std::vector<wire::yarn::ResourceRequestProto>& asks);
  void TellLosses(std::vector<wire::yarn::FairleadLossProto>& losses);
  void OnAllocated(wire::yarn::AllocateResponseProto& response);
  void OnAllocateFailed(const rpc::RpcError& error);
  void OnContainer(wire::yarn::ContainerProto container);
  void Confirm(const wire::yarn::ContainerProto& container);
  void Start(const std::string& container_id);
  void OnStarted(const std::string& container_id,
                 base::Result<wire::yarn::StartContainersResponseProto, rpc::RpcError> answer);
  void StartAgainOrGiveUp(const std::string& container_id, const std::string& why);
  void Ended(const std::string& container_id, int32_t exit_status, const std::string& diagnostics);
  void TakeToken(const wire::yarn::NMTokenProto& token);
  ExecutorContainer Describe(const std::string& container_id, const Container& container) const;
  void SendFinish();

  env::Loop& loop_;
  rpc::RpcClient rpc_;
  rpc::Members resource_managers_;
  endpoints::yarn::RpcToken am_rm_token_;
  Callbacks callbacks_;

  wire::yarn::RegisterApplicationMasterRequestProto registration_;
  std::function<void(base::Status)> on_registered_;
  base::Instant register_until_;
  bool registered_ = false;
  bool dismissed_ = false;

  std::map<int32_t, Kind> kinds_;
  int32_t response_id_ = 0;
  bool allocating_ = false;
  bool allocate_again_ = false;
  env::Timer allocate_timer_{loop_};
  std::map<std::string, Container> containers_;                   // by container id
  std::map<std::string, std::string> by_executor_;                // executor id -> container id
  std::map<std::string, endpoints::yarn::RpcToken> node_tokens_;  // by "host:port"
  std::vector<wire::yarn::ContainerIdProto> releases_;
  /// Nodes without the auxiliary service, by "host:port".
  std::set<std::string> without_service_;
  /// Nodes that the resource manager has given up, by "host:port".
  std::set<std::string> lost_nodes_;
  int32_t next_executor_ = 1;
  /// Adopted containers that the resource manager has not named as running.
  std::set<std::string> unconfirmed_;

  bool finishing_ = false;
  wire::yarn::FinishApplicationMasterRequestProto finish_;
  std::function<void()> on_finished_;
  base::Instant finish_until_;
  env::Alive alive_;
};

/// Names the auxiliary service spark_shuffle in a launch context: the node's service then knows the application, and
/// the secret that its executors show; empty: none.
void AddShuffleService(wire::yarn::ContainerLaunchContextProto& context, const std::string& secret = "");

}  // namespace fairlead::process::application

#pragma once

#include "env/alive.h"
#include "env/loop.h"
#include "process/rm/call_answers.h"
#include "process/rm/log_aggregation.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

/// ResourceTracker (ResourceTrackerService): nodes register and beat. Node managers are believed by name, as Hadoop
/// believes them without Kerberos; off loopback the include list is the guard. Asks the manager; owns nothing.
class TrackerService final : public CallAnswers {
 public:
  TrackerService(env::Loop& loop, ResourceManager& manager, rpc::RpcServer& server)
      : CallAnswers(manager, server), loop_(loop) {}
  void OnCall(const rpc::IncomingCall& call);

 private:
  /// Answers a node's call when its credential belongs to a different host, or when the kernel's word makes it known
  /// and its host is not on this machine, and gives true.
  bool RefusedHost(const Call& call, const model::rm::NodeAddress& address);
  void RegisterNode(const Call& call, const wire::yarn::RegisterNodeManagerRequestProto& request);
  void RegisterNode(rpc::CallToken call, model::rm::RegisterNode event, LogAggregation::Reports logs);
  void Heartbeat(const Call& call, const wire::yarn::NodeHeartbeatRequestProto& request);

  env::Loop& loop_;
  env::Alive alive_;
};

}  // namespace fairlead::process::rm

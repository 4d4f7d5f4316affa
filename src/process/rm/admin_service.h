#pragma once

#include "env/alive.h"
#include "process/rm/call_answers.h"
#include "wire/yarn/admin.h"

namespace fairlead::process::rm {

/// ResourceManagerAdministrationProtocol (AdminService), and HAServiceProtocol of one that runs alone: `yarn rmadmin`.
/// Changes the whole manager, as it is told; owns nothing.
class AdminService final : public CallAnswers {
 public:
  AdminService(ResourceManager& manager, rpc::RpcServer& server) : CallAnswers(manager, server) {}
  void OnCall(const rpc::IncomingCall& call);
  void OnHaCall(const Call& call);

 private:
  void Do(const Call& call);
  /// True after answering: the caller is no administrator. What is asked for has its line in the audit.
  bool RefusesStranger(const Call& call);
  void RefreshNodes(const Call& call, const wire::yarn::RefreshNodesRequestProto& request);
  void RefreshAdmission(const Call& call);
  void AddLabels(const Call& call, const wire::yarn::AddToClusterNodeLabelsRequestProto& request);
  void RemoveLabels(const Call& call, const wire::yarn::RemoveFromClusterNodeLabelsRequestProto& request);
  void ReplaceLabels(const Call& call, const wire::yarn::ReplaceLabelsOnNodeRequestProto& request);
  void UpdateNodeResource(const Call& call, const wire::yarn::UpdateNodeResourceRequestProto& request);

  env::Alive alive_;
};

}  // namespace fairlead::process::rm

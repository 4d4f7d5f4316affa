#pragma once

#include <functional>
#include <string>

#include "env/loop.h"
#include "process/rm/call_answers.h"
#include "process/rm/large_answers.h"
#include "rm/state.h"
#include "wire/yarn/client.h"

namespace fairlead::process::rm {

class DelegationTokens;

/// ApplicationClientProtocol (ClientRMService): users and their tools. Tells of the whole manager; owns the turns of
/// its long answers.
class ClientService final : public CallAnswers {
 public:
  ClientService(env::Loop& loop, ResourceManager& manager, rpc::RpcServer& server)
      : CallAnswers(manager, server), large_(loop, [this] { return server_.held_bytes(); }) {}
  void OnCall(const rpc::IncomingCall& call);

 private:
  void Do(const Call& call);
  /// Answers in turn with what `begin` reads and its work encodes off this thread.
  void ReplyInTurn(const Call& call, std::function<std::function<std::string()>()> begin);
  enum class Right { kAny, kView };
  /// The application, or null after answering: unknown, or not the caller's to see.
  const fairlead::rm::App* RequireApp(const Call& call, const model::ApplicationId& id, Right right);
  /// Null after answering: there is none.
  const fairlead::rm::Attempt* RequireAttempt(const Call& call, const model::ApplicationAttemptId& id);
  /// The application that `operation` changes, or null after answering: unknown, or not the caller's to change. The
  /// operation has its line in the audit then.
  const fairlead::rm::App* RequireChangeable(const Call& call, const model::ApplicationId& id, Operation operation);
  /// What ClientRMService says of an operation on somebody else's application.
  void RefuseChange(const Call& call, const model::ApplicationId& id, Operation operation);
  static Operation ChangeOf(const char* name, const model::ApplicationId& id);

  void Submit(const Call& call);
  void Kill(const Call& call, const wire::yarn::KillApplicationRequestProto& request);
  void GetReport(const Call& call, const wire::yarn::GetApplicationReportRequestProto& request);
  void GetApplications(const Call& call, const wire::yarn::GetApplicationsRequestProto& request);
  void GetMetrics(const Call& call);
  void GetNodes(const Call& call, const wire::yarn::GetClusterNodesRequestProto& request);
  void GetLabelsToNodes(const Call& call, const wire::yarn::GetLabelsToNodesRequestProto& request);
  void GetQueueInfo(const Call& call, const wire::yarn::GetQueueInfoRequestProto& request);
  void GetQueueAcls(const Call& call);
  void GetAttempts(const Call& call, const wire::yarn::GetApplicationAttemptsRequestProto& request);
  void GetAttempt(const Call& call, const wire::yarn::GetApplicationAttemptReportRequestProto& request);
  void GetContainers(const Call& call, const wire::yarn::GetContainersRequestProto& request);
  void GetContainer(const Call& call, const wire::yarn::GetContainerReportRequestProto& request);
  void Move(const Call& call, const wire::yarn::MoveApplicationAcrossQueuesRequestProto& request);
  void SetPriority(const Call& call, const wire::yarn::UpdateApplicationPriorityRequestProto& request);
  void SetTimeouts(const Call& call, const wire::yarn::UpdateApplicationTimeoutsRequestProto& request);
  void FailAttempt(const Call& call, const wire::yarn::FailApplicationAttemptRequestProto& request);
  void Signal(const Call& call, const wire::yarn::SignalContainerRequestProto& request);
  // delegation_service.cc
  /// Null after answering: without Kerberos there are none.
  DelegationTokens* RequireDelegation(const Call& call);
  void GetDelegationToken(const Call& call);
  void RenewDelegationToken(const Call& call);
  void CancelDelegationToken(const Call& call);

  LargeAnswers large_;
};

}  // namespace fairlead::process::rm

#include "process/rm/master_service.h"

#include <set>
#include <utility>

#include "endpoints/yarn/refusals.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "process/rm/resource_manager.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;

void MasterService::OnCall(const Call& call) {
  w::AMRMTokenIdentifierProto token;
  if (!call.caller.by_token() ||
      !token.ParseFrom(call.caller.token_identifier, wire::hadoop_rpc::kTokenIdentifier).ok()) {
    return Refuse(call.token, endpoints::yarn::exceptions::kAccessControl, "An AMRM token is needed.");
  }
  const model::ApplicationAttemptId attempt = endpoints::yarn::FromWire(token.AppAttemptId());
  const rpc::CallToken to = call.token;
  if (manager_.keys().IsOver(token.KeyId())) {
    server_.CloseAfter(to);
    return Refuse(to, endpoints::yarn::exceptions::kInvalidToken, "Invalid AMRMToken from " + ToString(attempt));
  }
  using Method = w::ApplicationMasterProtocolMethod;
  switch (call.As<Method>()) {
    case Method::kAllocate:
      return Allocate(call, attempt, token.KeyId());
    case Method::kRegisterApplicationMaster: {
      const auto request = Parse<w::RegisterApplicationMasterRequestProto>(call);
      if (!request) return;
      AuditWhenAnswered(call, OperationOf(operations::kRegister, attempt));
      base::Result<m::RegisterMaster> event = endpoints::yarn::ToEvent(*request, attempt);
      if (!event.ok()) return RefuseRequest(call, event.error());
      batches_.Ask(std::move(*event), [this, to, attempt](const auto& effect) {
        if (Refused(to, effect)) return;
        const auto& answer = std::get<m::RegisterMasterAnswer>(effect);
        w::RegisterApplicationMasterResponseProto response = endpoints::yarn::ToWire(answer, manager_.keys());
        if (manager_.secured()) response.client_to_am_token_master_key = manager_.keys().ClientToMasterKey(attempt);
        if (const fairlead::rm::App* app = manager_.core().AppAt(answer.app)) {
          w::ApplicationSubmissionContextProto context;
          if (context.ParseFrom(app->submission.context, wire::hadoop_rpc::kKept).ok() && context.am_container_spec) {
            response.application_acls = context.am_container_spec->application_acls;
          }
        }
        server_.ReplyMessage(to, response);
      });
      return;
    }
    case Method::kFinishApplicationMaster: {
      const auto request = Parse<w::FinishApplicationMasterRequestProto>(call);
      if (!request) return;
      // Masters ask again and again until all is stored, and the application's end has a line.
      server_.WhenAnswered(to, [audit = manager_.options().security.audit, peer = call.peer.host,
                                operation = OperationOf(operations::kUnregister, attempt)](auto refused) mutable {
        operation.ip = peer;
        if (refused) NoteOperation(audit, operation, refused);
      });
      base::Result<m::FinishMaster> event = endpoints::yarn::ToEvent(*request, attempt);
      if (!event.ok()) return RefuseRequest(call, event.error());
      batches_.Ask(std::move(*event), [this, to](const auto& effect) {
        if (Refused(to, effect)) return;
        w::FinishApplicationMasterResponseProto response;
        response.is_unregistered = std::get<m::FinishMasterAnswer>(effect).unregistered;
        server_.ReplyMessage(to, response);
      });
    }
  }
}

Operation MasterService::OperationOf(const char* name, const model::ApplicationAttemptId& attempt) const {
  Operation operation{.name = name, .target = "ApplicationMasterService", .about = AboutApp(attempt.app)};
  operation.about.emplace_back("APPATTEMPTID", ToString(attempt));
  if (const fairlead::rm::App* app = manager_.core().FindApp(attempt.app)) {
    operation.caller.user = app->submission.user;
  }
  return operation;
}

/// For every node on which the attempt has containers: nodes forget the keys that lay open.
void MasterService::AddNmTokens(const m::AllocateAnswer& answer, w::AllocateResponseProto& response) {
  const fairlead::rm::App* app = manager_.core().AppAt(answer.app);
  if (!app) return;
  std::set<model::NodeIndex> nodes(answer.new_nodes.begin(), answer.new_nodes.end());
  for (const fairlead::rm::Container* container : InOrder(app->containers)) {
    if (!nodes.insert(container->node).second) continue;
    w::NMTokenProto& token = response.nm_tokens.emplace_back();
    token.node_id = endpoints::yarn::ToWire(manager_.keys().AddressOf(container->node));
    token.token = manager_.keys().NmToken(answer.attempt, container->node, answer.app);
  }
}

void MasterService::Allocate(const Call& call, const model::ApplicationAttemptId& attempt, int32_t key) {
  const auto request = Parse<w::AllocateRequestProto>(call);
  if (!request) return;
  if (const auto refused = endpoints::yarn::TooLong(*request)) {
    return Refuse(call.token, endpoints::yarn::ExceptionOf(*refused));
  }
  for (const w::ResourceRequestProto& ask : request->ask) {
    if (!ask.capability) return RefuseMissing(call, "capability in an ask");
    if (!ask.resource_name) return RefuseMissing(call, "resource name in an ask");
  }
  base::Result<m::AllocateCall> event = endpoints::yarn::ToEvent(*request, attempt);
  if (!event.ok()) return RefuseRequest(call, event.error());
  ++manager_.counters().allocate_calls;
  batches_.Ask(std::move(*event), [this, to = call.token, key, began = loop_.ReadClock()](const auto& effect) {
    manager_.counters().allocate.Add(loop_.ReadClock() - began);
    if (Refused(to, effect)) return;
    const auto& answer = std::get<m::AllocateAnswer>(effect);
    w::AllocateResponseProto response = endpoints::yarn::ToWire(answer, manager_.keys());
    if (manager_.keys().amrm().next && manager_.keys().amrm().newest().id != key) {
      response.am_rm_token = endpoints::yarn::ToWire(manager_.keys().AmRmToken(answer.attempt));
    }
    if (manager_.keys().LayOpen(key)) {
      AddNmTokens(answer, response);
      server_.CloseAfter(to);  // the master comes again with the new token
    }
    server_.ReplyMessage(to, response);
  });
}

}  // namespace fairlead::process::rm

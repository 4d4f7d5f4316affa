#include "process/rm/call_answers.h"

#include <utility>

#include "process/rm/access.h"
#include "process/rm/resource_manager.h"

namespace fairlead::process::rm {

CallAnswers::CallAnswers(ResourceManager& manager, rpc::RpcServer& server)
    : manager_(manager), batches_(manager.batches()), server_(server) {}

void CallAnswers::LearnCaller(const rpc::IncomingCall& call, std::function<void(const rpc::IncomingCall&)> handler) {
  if (manager_.access().known().Knows(call.caller.user)) return handler(call);
  manager_.access().known().Learn(
      call.caller.user,
      [handler = std::move(handler), token = call.token, caller = call.caller, peer = call.peer,
       protocol = std::string(call.protocol), method = std::string(call.method), number = call.method_number,
       request = std::string(call.request), retries = call.retry_count, asker = call.asker] {
        handler({token, caller, peer, protocol, method, number, request, retries, asker});
      });
}

void CallAnswers::RefuseRequest(const rpc::IncomingCall& call, const base::Error& why, const char* before) {
  manager_.CountRefused(why);
  Refuse(call.token, endpoints::yarn::exceptions::kYarn, before + why.message);
}

void CallAnswers::RefuseMissing(const rpc::IncomingCall& call, std::string_view what) {
  Refuse(call.token, "NullPointerException",
         "The request of " + std::string(call.method) + " has no " + std::string(what) + ".");
}

void CallAnswers::AuditWhenAnswered(const Call& call, Operation operation) {
  if (operation.caller.user.empty()) operation.caller = call.caller;
  operation.ip = call.peer.host;
  server_.WhenAnswered(call.token,
                       [audit = manager_.options().security.audit, operation = std::move(operation)](
                           std::optional<std::string_view> refused) { NoteOperation(audit, operation, refused); });
}

bool CallAnswers::Refused(rpc::CallToken call, const model::rm::OuterEffect& effect) {
  const auto refused = RefusalOf(effect);
  if (refused) Refuse(call, *refused);
  return refused.has_value();
}

}  // namespace fairlead::process::rm

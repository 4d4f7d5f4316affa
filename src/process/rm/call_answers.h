#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "endpoints/yarn/exceptions.h"
#include "model/rm.h"
#include "process/rm/operation_audit.h"
#include "process/rpc/rpc_server.h"

namespace fairlead::process::rm {

class Batches;
class ResourceManager;

/// A large call of whoever has no token. Its bytes are still there, and a list that grows takes twice what is charged
/// for its elements: all together stay within 16 MiB.
inline constexpr base::BudgetKind kLargeRead = wire::hadoop_rpc::MessageKind(
    wire::hadoop_rpc::kLargeCall.name, wire::hadoop_rpc::kLargeCall.bytes, 256 << 10, 32, 5 << 20);

/// What the services of the protocols share: how a request is read, and how it is refused.
class CallAnswers {
 protected:
  using Call = rpc::IncomingCall;
  CallAnswers(ResourceManager& manager, rpc::RpcServer& server);

  /// Lets `handler` have the call once its caller is known (KnownGroups).
  void LearnCaller(const Call& call, std::function<void(const Call&)> handler);

  /// Parses `Request`, or answers the call with an exception and gives nothing.
  template <class Request>
  std::optional<Request> Parse(const Call& call) {
    Request request;
    const base::BudgetKind& kind = wire::hadoop_rpc::CallKind(call.method);
    const bool large = &kind == &wire::hadoop_rpc::kLargeCall;
    if (base::Status parsed = request.ParseFrom(call.request, large ? kLargeRead : kind); !parsed.ok()) {
      // RpcWritable.ProtobufWrapper throws this from the handler; an ERROR, not FATAL: the connection lives on.
      Refuse(call.token, endpoints::yarn::exceptions::kInvalidProtocolBuffer, parsed.error().message);
      return std::nullopt;
    }
    return request;
  }
  /// Lets `handler` have the call with its request.
  template <class Self, class Request>
  void Take(const Call& call, void (Self::*handler)(const Call& call, const Request& request)) {
    if (const auto request = Parse<Request>(call)) (static_cast<Self*>(this)->*handler)(call, *request);
  }
  void Refuse(rpc::CallToken call, std::string_view exception, const std::string& message) {
    server_.Fail(call, exception, message);
  }
  void Refuse(rpc::CallToken call, const endpoints::yarn::RemoteException& why) {
    Refuse(call, why.class_name, why.message);
  }
  /// Answers a call whose request cannot be taken, and counts that.
  void RefuseRequest(const Call& call, const base::Error& why, const char* before = "");
  /// Answers a call whose request lacks what protobuf calls optional, and Hadoop's code takes for granted.
  void RefuseMissing(const Call& call, std::string_view what);
  /// Once `call` is answered, `operation` has its line in the audit. Its caller, where it names none, and its address
  /// are the call's. Said again of a call, the last one counts.
  void AuditWhenAnswered(const Call& call, Operation operation);
  /// Answers `call` with CallRefused's exception; true when `effect` was one.
  bool Refused(rpc::CallToken call, const model::rm::OuterEffect& effect);
  /// Answers `call` with an empty Response once what it asks for is done.
  template <class Response>
  auto Done(rpc::CallToken call) {
    return [this, call](const model::rm::OuterEffect& effect) {
      if (!Refused(call, effect)) server_.ReplyMessage(call, Response{});
    };
  }

  ResourceManager& manager_;
  Batches& batches_;
  rpc::RpcServer& server_;
};

}  // namespace fairlead::process::rm

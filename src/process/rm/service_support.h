#pragma once

#include <optional>
#include <string>

#include "process/rm/resource_manager.h"

namespace fairlead::process::rm {

/// A large call of whoever has no token. Its bytes are still there, and a list that grows takes twice what is charged
/// for its elements: all together stay within 16 MiB.
inline constexpr base::BudgetKind kLargeRead = wire::hadoop_rpc::MessageKind(
    wire::hadoop_rpc::kLargeCall.name, wire::hadoop_rpc::kLargeCall.bytes, 256 << 10, 32, 5 << 20);

/// Bytes above which what a submission has freed is given back at once.
inline constexpr size_t kLargeSubmission = 1 << 20;

template <class Request>
std::optional<Request> ResourceManager::Parse(const rpc::IncomingCall& call) {
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

}  // namespace fairlead::process::rm

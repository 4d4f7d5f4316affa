#pragma once

#include <optional>
#include <string>

#include "process/rm/resource_manager.h"

namespace fairlead::process::rm {

template <class Request>
std::optional<Request> ResourceManager::Parse(const rpc::IncomingCall& call) {
  Request request;
  if (base::Status parsed = request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)); !parsed.ok()) {
    // RpcWritable.ProtobufWrapper throws this from the handler; an ERROR, not FATAL: the connection lives on.
    Refuse(call.token, endpoints::yarn::exceptions::kInvalidProtocolBuffer, parsed.error().message);
    return std::nullopt;
  }
  return request;
}

}  // namespace fairlead::process::rm

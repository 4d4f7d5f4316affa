#pragma once

#include <cstdint>
#include <string_view>

#include "wire/hadoop_rpc/rpc.h"

// The three headers that stand before every call, read by hand: views into the frame, no allocation. The generated
// structs of wire/hadoop_rpc/rpc.h hold the same fields and are what the tests compare with.

namespace fairlead::wire::hadoop_rpc {

/// RpcRequestHeaderProto, what a server needs of it.
struct RequestHeaderView {
  bool has_kind = false;
  bool has_operation = false;
  RpcKindProto kind = RpcKindProto::kBuiltin;
  RpcOperationProto operation = RpcOperationProto::kFinalPacket;
  int32_t call_id = 0;
  int32_t retry_count = -1;
  std::string_view client_id;
};
bool ParseRequestHeader(std::string_view bytes, RequestHeaderView& out);

/// RequestHeaderProto of the protobuf engine.
struct MethodHeaderView {
  std::string_view method;
  std::string_view protocol;
  uint64_t version = 0;
};
bool ParseMethodHeader(std::string_view bytes, MethodHeaderView& out);

/// RpcResponseHeaderProto, what a client needs of it.
struct ResponseHeaderView {
  int32_t call_id = 0;
  RpcStatusProto status = RpcStatusProto::kSuccess;
  std::string_view exception_class;
  std::string_view error;
  RpcErrorCodeProto detail{};
};
bool ParseResponseHeader(std::string_view bytes, ResponseHeaderView& out);

}  // namespace fairlead::wire::hadoop_rpc

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::endpoints::spark {

/// org.apache.spark.rpc.RpcAddress.
struct RpcAddress {
  std::string host;
  int32_t port = 0;
  std::string ToString() const { return host + ":" + std::to_string(port); }
  friend bool operator==(const RpcAddress&, const RpcAddress&) = default;
};

/// The body of an RpcRequest or OneWayMessage frame (org.apache.spark.rpc.netty.RequestMessage).
struct RpcMessage {
  std::optional<RpcAddress> sender;  // where the sender listens; nothing: nowhere
  std::optional<RpcAddress> receiver;
  std::string endpoint;      // "Master"
  std::string_view content;  // a Java object stream; points into what was decoded
};

base::Result<RpcMessage> DecodeRpcMessage(std::string_view body);
std::string EncodeRpcMessage(const RpcMessage& message);

/// Whether a body is the first message of Spark's authentication (org.apache.spark.network.sasl.SaslMessage,
/// org.apache.spark.network.crypto.AuthMessage) instead: such a client has spark.authenticate set.
bool BeginsAuthentication(std::string_view body);

}  // namespace fairlead::endpoints::spark

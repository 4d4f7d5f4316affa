#include "endpoints/spark/rpc_message.h"

#include "base/bytes.h"
#include "endpoints/spark/message_bounds.h"

namespace fairlead::endpoints::spark {
namespace {

constexpr uint8_t kSaslTag = 0xEA;
constexpr uint8_t kAuthTag = 0xFB;

bool ReadAddress(base::ByteReader& in, std::optional<RpcAddress>& address) {
  const uint8_t present = in.U8();
  if (present > 1) return false;
  if (present == 1) {
    const uint16_t length = in.U16();
    const std::string_view host = in.Take(length);
    if (in.Charge(host.size())) address.emplace().host = host;
    if (in.failed()) return false;
    address->port = in.I32();
  }
  return !in.failed();
}

void WriteText(base::ByteWriter& out, const std::string& text) {
  out.U16(static_cast<uint16_t>(text.size()));
  out.Bytes(text);
}

void WriteAddress(base::ByteWriter& out, const std::optional<RpcAddress>& address) {
  out.U8(address.has_value());
  if (!address) return;
  WriteText(out, address->host);
  out.I32(address->port);
}

}  // namespace

base::Result<RpcMessage> DecodeRpcMessage(std::string_view body) {
  base::Budget budget(kSparkMessage, body.size());
  base::ByteReader in(body, budget);
  RpcMessage message;
  if (!ReadAddress(in, message.sender) || !ReadAddress(in, message.receiver)) {
    return base::Error{"not a message of Spark's RPC"};
  }
  const uint16_t length = in.U16();
  const std::string_view name = in.Take(length);
  if (in.Charge(name.size())) message.endpoint = name;
  message.content = in.Rest();
  if (in.failed()) return base::Error{"a message of Spark's RPC that ends early"};
  return message;
}

std::string EncodeRpcMessage(const RpcMessage& message) {
  std::string body;
  base::ByteWriter out(body);
  WriteAddress(out, message.sender);
  WriteAddress(out, message.receiver);
  WriteText(out, message.endpoint);
  out.Bytes(message.content);
  return body;
}

bool BeginsAuthentication(std::string_view body) {
  return !body.empty() && (static_cast<uint8_t>(body[0]) == kSaslTag || static_cast<uint8_t>(body[0]) == kAuthTag);
}

}  // namespace fairlead::endpoints::spark

#include "wire/hadoop_rpc/headers.h"

#include "wire/hadoop_rpc/proto_runtime.h"

namespace fairlead::wire::hadoop_rpc {
namespace {

constexpr uint32_t Varint(uint32_t field) { return field << 3; }
constexpr uint32_t Delimited(uint32_t field) { return field << 3 | 2; }

}  // namespace

bool ParseRequestHeader(std::string_view bytes, RequestHeaderView& out) {
  base::Budget budget(kSetup, bytes.size());
  proto::ParseContext context{budget, {}};
  proto::Reader in(bytes, context);
  bool has_call = false;
  bool has_client = false;
  while (const uint32_t tag = in.NextTag()) {
    bool ok = true;
    switch (tag) {
      case Varint(1):
        ok = in.Enum(out.kind);
        out.has_kind = true;
        break;
      case Varint(2):
        ok = in.Enum(out.operation);
        out.has_operation = true;
        break;
      case Varint(3):
        ok = in.SInt32(out.call_id);
        has_call = true;
        break;
      case Delimited(4):
        ok = in.View(out.client_id);
        has_client = true;
        break;
      case Varint(5):
        ok = in.SInt32(out.retry_count);
        break;
      default:
        ok = in.Skip(tag);
    }
    if (!ok) return false;
  }
  return !in.failed() && has_call && has_client;
}

bool ParseMethodHeader(std::string_view bytes, MethodHeaderView& out) {
  base::Budget budget(kSetup, bytes.size());
  proto::ParseContext context{budget, {}};
  proto::Reader in(bytes, context);
  uint32_t seen = 0;
  while (const uint32_t tag = in.NextTag()) {
    bool ok = true;
    switch (tag) {
      case Delimited(1):
        ok = in.View(out.method);
        seen |= 1;
        break;
      case Delimited(2):
        ok = in.View(out.protocol);
        seen |= 2;
        break;
      case Varint(3):
        ok = in.UInt64(out.version);
        seen |= 4;
        break;
      default:
        ok = in.Skip(tag);
    }
    if (!ok) return false;
  }
  return !in.failed() && seen == 7;
}

bool ParseResponseHeader(std::string_view bytes, ResponseHeaderView& out) {
  base::Budget budget(kSetup, bytes.size());
  proto::ParseContext context{budget, {}};
  proto::Reader in(bytes, context);
  uint32_t seen = 0;
  while (const uint32_t tag = in.NextTag()) {
    bool ok = true;
    uint32_t call = 0;
    switch (tag) {
      case Varint(1):
        ok = in.UInt32(call);
        out.call_id = static_cast<int32_t>(call);
        seen |= 1;
        break;
      case Varint(2):
        ok = in.Enum(out.status);
        seen |= 2;
        break;
      case Delimited(4):
        ok = in.View(out.exception_class);
        break;
      case Delimited(5):
        ok = in.View(out.error);
        break;
      case Varint(6):
        ok = in.Enum(out.detail);
        break;
      default:
        ok = in.Skip(tag);
    }
    if (!ok) return false;
  }
  return !in.failed() && seen == 3;
}

}  // namespace fairlead::wire::hadoop_rpc

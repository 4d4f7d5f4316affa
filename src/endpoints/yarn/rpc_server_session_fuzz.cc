// A client that sends anything, in any cut. The session must stay within its bounds, and answer every call once.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "endpoints/yarn/rpc_server_session.h"

namespace {

using namespace fairlead::endpoints::yarn;

struct AnyToken : TokenAuthority {
  fairlead::base::Result<TokenSecret> Secret(std::string_view identifier) const override {
    if (identifier.size() % 2) return fairlead::base::Error{"odd"};
    return TokenSecret{"password", "user"};
  }
};

struct Server : RpcServerSession::Handler {
  explicit Server(const RpcServerOptions& with) : options(with), session(options, "nonce", this) {}
  void OnCall(const RpcCall& call) override {
    if (call.request.size() % 3 == 0) return session.Reply(call.call_id, call.request);
    if (call.request.size() % 3 == 1) session.Fail(call.call_id, exceptions::kYarn, call.method);
  }
  const RpcServerOptions options;
  RpcServerSession session;
};

}  // namespace

/// First byte: bit 0 tokens, bit 1 SIMPLE, bit 2 begin behind preamble and context; the second: the cut of the bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const AnyToken tokens;
  Server server({.allow_simple = (data[0] & 2) != 0,
                 .tokens = data[0] & 1 ? &tokens : nullptr,
                 .frame_bytes_max = 1 << 16,
                 .setup_frame_bytes_max = 1 << 12,
                 .calls_max = 8});
  if (data[0] & 4) {
    server.session.OnBytes(std::string_view("hrpc\x09\0\0", 7));
    server.session.OnBytes(
        std::string_view("\0\0\0\x11\x0a\x08\x02\x10\0\x18\x05\x22\0\x28\x01\x05\x12\x03\x0a\x01u", 21));
  }
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = 1 + data[1];
  while (!bytes.empty()) {
    server.session.OnBytes(bytes.substr(0, cut));
    bytes.remove_prefix(std::min(cut, bytes.size()));
    FL_CHECK(server.session.pending_calls() <= 9, "more calls than allowed");
    FL_CHECK(!server.session.established() || !server.session.caller().user.empty(), "a caller without a name");
    server.session.TakeOutput();
  }
  return 0;
}

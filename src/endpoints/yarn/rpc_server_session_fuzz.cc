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

/// Protects nothing, and refuses some.
struct Layer : fairlead::wire::hadoop_rpc::SaslLayer {
  fairlead::base::Result<std::string> Wrap(std::string_view message) override { return std::string(message); }
  fairlead::base::Result<std::string> Unwrap(std::string_view wrapped) override {
    if (wrapped.starts_with("no")) return fairlead::base::Error{"changed"};
    return std::string(wrapped);
  }
};

struct Server : RpcServerSession::Handler {
  explicit Server(const RpcServerOptions& with) : options(with), session(options, "nonce", this) {}
  void OnCall(const RpcCall& call) override {
    if (call.request.size() % 3 == 0) return session.Reply(call.call_id, call.request);
    if (call.request.size() % 3 == 1) session.Fail(call.call_id, exceptions::kYarn, call.method);
  }
  /// A ticket is a word: its first letter says what becomes of it.
  void OnLoginToken(std::string token) override {
    if (token.empty()) return session.LoginStepped(fairlead::base::Error{"GSS initiate failed"});
    fairlead::wire::hadoop_rpc::LoginStep step;
    step.token = "t";
    step.done = token[0] != 'c';
    step.principal = "user@R";
    if (token[0] == 'p') step.layer = std::make_unique<Layer>();
    session.LoginStepped(std::move(step));
  }
  const RpcServerOptions options;
  RpcServerSession session;
};

KerberosLogin AnyTicket() {
  KerberosLogin login;
  login.short_name = [](const std::string& principal) -> fairlead::base::Result<std::string> {
    return principal.substr(0, principal.find('@'));
  };
  return login;
}

}  // namespace

/// First byte: bit 0 tokens, bit 1 SIMPLE, bit 2 begin behind preamble and context, bit 3 tickets, bit 4 begin behind a
/// login that has agreed on a protection; the second: the cut of the bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const AnyToken tokens;
  Server server({.allow_simple = (data[0] & 2) != 0,
                 .tokens = data[0] & 1 ? &tokens : nullptr,
                 .frame_bytes_max = 1 << 16,
                 .setup_frame_bytes_max = 1 << 12,
                 .calls_max = 8,
                 .kerberos = data[0] & 8 ? std::optional(AnyTicket()) : std::nullopt});
  if (data[0] & 4) {
    server.session.OnBytes(std::string_view("hrpc\x09\0\0", 7));
    server.session.OnBytes(
        std::string_view("\0\0\0\x11\x0a\x08\x02\x10\0\x18\x05\x22\0\x28\x01\x05\x12\x03\x0a\x01u", 21));
  }
  if ((data[0] & 24) == 24) {
    server.session.OnBytes(std::string_view("hrpc\x09\0\xDF", 7));
    // INITIATE of KERBEROS with the token "p"
    server.session.OnBytes(
        std::string_view("\0\0\0\x27\x08\x08\x02\x10\0\x18\x41\x22\0"
                         "\x1d\x10\x02\x1a\x01p\x22\x16\x0a\x08"
                         "KERBEROS\x12\x06GSSAPI\x1a\0\x22\0",
                         43));
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

// A server that sends anything, in any cut.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "endpoints/yarn/rpc_client_session.h"

namespace {

using namespace fairlead::endpoints::yarn;

struct Client : RpcClientSession::Handler {
  explicit Client(RpcUser user)
      : session({.user = std::move(user), .protocol = "p", .client_id = "c", .cnonce = "n"}, this) {}
  void OnReply(int32_t, std::string_view) override { ++answers; }
  void OnException(int32_t, const RemoteException&) override { ++answers; }
  void OnFatal(const RemoteException&, bool) override { ++fatals; }
  int answers = 0;
  int fatals = 0;
  RpcClientSession session;
};

}  // namespace

/// First byte: bit 0 with a token; the second: the cut of the bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  RpcUser user{"alice", "", {}};
  if (data[0] & 1) user.token = RpcToken{"identifier", "password", "k", "s"};
  Client client(std::move(user));
  for (int i = 0; i < 3; ++i) client.session.Call("m", "x");
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = 1 + data[1];
  while (!bytes.empty()) {
    client.session.OnBytes(bytes.substr(0, cut));
    bytes.remove_prefix(std::min(cut, bytes.size()));
    client.session.TakeOutput();
  }
  FL_CHECK(client.answers <= 3 && client.fatals <= 1, "an event too many");
  return 0;
}

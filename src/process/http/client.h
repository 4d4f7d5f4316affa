#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/http.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::http {

struct ClientRequest {
  env::Endpoint endpoint;
  std::string scheme = "http://";  // for errors: it is the net that speaks TLS
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  // Host and Content-Length are added
  std::string body;
  bool chunked = false;                                  // the body comes by Exchange::Send
  base::Duration timeout = base::Duration::Seconds(30);  // of the whole; with a Flow of a silence
  size_t body_bytes_max = 64 * 1024 * 1024;              // of the answer
  /// Where others decide what is fetched: the table that bounds all of it, and who is charged. One that it evicts
  /// fails.
  std::shared_ptr<peers::PeerTable> table = nullptr;
  std::string charged;
};

/// A GET of "http://HOST[:PORT][/TARGET]", or of another scheme; without a default the port must be there.
base::Result<ClientRequest> ParseUrl(std::string_view url, std::string_view scheme = "http://",
                                     uint16_t default_port = 80);

/// One request on a connection of its own; `done` runs once with the whole answer or the reason.
void Fetch(env::Loop& loop, env::Net& net, ClientRequest request, std::function<void(base::Result<Response>)> done);

/// Who takes bodies as they come and go. Nothing here slows the peer down but a loop that does not turn meanwhile.
struct Flow {
  std::function<void(int status, std::string_view bytes)> on_body;  // instead of Response::body
  std::function<void()> on_sent = [] {};                            // the kernel has all that was sent
};

/// A Fetch whose bodies flow. The end of its last owner ends it without a call.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// More of a chunked body; after the end of the exchange it is thrown away.
  virtual void Send(std::string_view bytes) = 0;
  virtual void SendLast() = 0;
};
std::shared_ptr<Exchange> Open(env::Loop& loop, env::Net& net, ClientRequest request, Flow flow,
                               std::function<void(base::Result<Response>)> done);

}  // namespace fairlead::process::http

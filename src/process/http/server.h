#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/http.h"
#include "process/http/known_hosts.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::http {

struct ServerLimits {
  size_t header_bytes_max = 64 * 1024;
  size_t body_bytes_max = 8 * 1024 * 1024;
  peers::PeerLimits peers;
  /// From a connection's or a request's first moment until its head is whole, and until its body is.
  base::Duration head = base::Duration::Seconds(10);
  base::Duration body = base::Duration::Seconds(30);
  /// Between two requests.
  base::Duration idle = base::Duration::Seconds(60);
  /// An answer that the peer does not take.
  base::Duration unread = base::Duration::Seconds(30);
};

/// An HTTP/1.1 server over the env ports (parsing by Boost.Beast): keep-alive, one request of a connection at a time,
/// everything bounded by ServerLimits. The next request of a connection is parsed when its last answer is mostly taken.
/// The handler answers now or later through `reply`, exactly once, on the loop's thread; a reply to a connection that
/// has gone is dropped. What Refusal() does not let pass `hosts` never reaches it. Guard calls it.
class Server {
 public:
  using Reply = std::function<void(Response)>;
  using Handler = std::function<void(Request, Reply)>;

  /// Who asks, as the connection alone says (the kernel's word for a process of this machine).
  using Vouch = std::function<std::optional<Visitor>(const env::Endpoint& peer, const env::Endpoint& local)>;

  /// With `vouch` what it says is Request::visitor.
  static base::Result<std::unique_ptr<Server>> Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                      KnownHosts hosts, Handler handler, ServerLimits limits = {},
                                                      Vouch vouch = {});
  virtual ~Server() = default;
  virtual env::Endpoint local() const = 0;
  /// What its connections hold in memory: bytes not parsed, answers not taken.
  virtual size_t held_bytes() const = 0;
  /// Requests that Refusal() did not let pass, and those that are no HTTP or too long.
  virtual uint64_t refused() const = 0;
};

/// Calls `handle`. When it throws at a GET or HEAD, BrokenPage answers: it only read. At any other method that ends the
/// process: a change may be half done.
void Guard(const Request& request, const Server::Reply& reply, const std::function<void()>& handle);

}  // namespace fairlead::process::http

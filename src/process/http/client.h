#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/http.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::http {

struct ClientRequest {
  env::Endpoint endpoint;
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  // Host and Content-Length are added
  std::string body;
  base::Duration timeout = base::Duration::Seconds(30);
  size_t body_bytes_max = 64 * 1024 * 1024;
  /// Where others decide what is fetched: the table that bounds all of it, and who is charged. One that it evicts
  /// fails.
  std::shared_ptr<peers::PeerTable> table = nullptr;
  std::string charged;
};

/// One request on a connection of its own; `done` runs once with the whole answer or the reason.
void Fetch(env::Loop& loop, env::Net& net, ClientRequest request, std::function<void(base::Result<Response>)> done);

}  // namespace fairlead::process::http

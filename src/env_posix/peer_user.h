#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/net.h"

namespace fairlead::env_posix {

/// The user whose process holds the other end of a TCP connection within this machine (NETLINK_SOCK_DIAG, one call to
/// the kernel). nullopt: the other end is on another machine, has gone, or belongs to no process any more.
std::optional<uid_t> PeerUser(int connection);

/// The same of the connection whose end there is `peer` and whose end here is `local`, numeric addresses.
std::optional<uid_t> UserOfConnection(const env::Endpoint& peer, const env::Endpoint& local);

/// An Error: the kernel does not tell whose a connection is.
base::Status TellsUsers();

/// A connection that is not served.
struct Stranger {
  std::optional<uid_t> user;  // nothing: of another machine, or gone
  env::Endpoint peer;
  env::Endpoint local;
};
/// What a stranger is told before his connection is closed, by the first bytes that he sends; empty: nothing. nullopt:
/// more bytes would say what he speaks. On the threads of listeners.
using Farewell = std::function<std::optional<std::string>(const Stranger& stranger, std::string_view first)>;

/// From now on every listener of TCP in this process takes connections from processes of `users` and of root alone, and
/// closes others. To be called before there are threads or listeners. An Error: the kernel does not tell whose a
/// connection is.
base::Status TakeCallsOnlyFrom(std::vector<uid_t> users, Farewell farewell = nullptr);

/// Of an accepted connection: nobody is told farewell who may call.
std::optional<Stranger> StrangerAt(int connection, env::Endpoint peer, env::Endpoint local);
const Farewell& FarewellOfStrangers();

}  // namespace fairlead::env_posix

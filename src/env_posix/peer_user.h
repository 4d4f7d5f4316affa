#pragma once

#include <sys/types.h>

#include <optional>
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

/// From now on every listener of TCP in this process takes connections from processes of `users` and of root alone, and
/// closes others unread. To be called before there are threads or listeners. An Error: the kernel does not tell whose a
/// connection is.
base::Status TakeCallsOnlyFrom(std::vector<uid_t> users);

/// What TakeCallsOnlyFrom() says of an accepted connection.
bool MayCall(int connection);

}  // namespace fairlead::env_posix

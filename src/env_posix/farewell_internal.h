#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "env_posix/peer_user.h"

namespace fairlead::env_posix {

/// Tells a stranger why he is not served (TakeCallsOnlyFrom), and closes his connection: after half a kilobyte of his,
/// or two seconds. At most 32 are told at a time; who comes beyond them is closed unread.
void Refuse(boost::asio::ip::tcp::socket socket, Stranger stranger);

}  // namespace fairlead::env_posix

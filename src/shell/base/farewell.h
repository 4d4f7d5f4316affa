#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::shell {

/// The answer to a connection whose first bytes are `first`, in the protocol that these speak: Hadoop's RPC gets an
/// AccessControlException, HTTP 403, a request of Spark's transport a failure (RpcFailure), each with `why`. Empty:
/// another protocol, TLS among them. nullopt: more bytes would say which.
std::optional<std::string> FarewellOf(std::string_view first, const std::string& why);

}  // namespace fairlead::shell

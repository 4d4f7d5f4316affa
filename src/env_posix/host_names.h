#pragma once

#include <string>
#include <vector>

namespace fairlead::env_posix {

/// The names that this machine goes by: its host name, whole and up to the first dot, what the resolver makes of it,
/// and what /etc/hosts calls its addresses. Asks the resolver: for the start of a daemon.
std::vector<std::string> OwnHostNames();

/// An IPv4 address of a host, which tokens name services by; "" where it has none. Asks the resolver, and may wait.
std::string Ipv4Of(const std::string& host);

}  // namespace fairlead::env_posix

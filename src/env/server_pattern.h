#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

// Servers that a client knows by a pattern (Hadoop's keys *.principal.pattern): "rm/*@EXAMPLE.COM".

namespace fairlead::env {

/// Whether a principal stands for several, by one of the characters *?[{\ of Hadoop's GlobPattern.
bool IsServerPattern(std::string_view principal);

/// What is wrong with a pattern.
base::Status CheckServerPattern(std::string_view pattern);

/// The principal of a server that says it is `said`, "rm/rm1.example.com"; an error when that does not fit `pattern`
/// (org.apache.hadoop.security.SaslRpcClient.getServerPrincipal). A server's word is a stranger's: nobody is asked for
/// a ticket, or for the realm of its host, before it is a service and a host.
using RealmOfHost = std::function<base::Result<std::string>(const std::string& host)>;
base::Result<std::string> FittingServer(const std::string& pattern, const std::string& said, const RealmOfHost& realm);

}  // namespace fairlead::env

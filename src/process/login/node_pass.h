#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "env/net.h"

// How a node's pages know who looks at them where there is no KDC (fairlead.auth=credentials): the node knows no
// credentials, the resource manager does. It gives whoever has shown it who he is a pass, which is good for one node's
// pages and a short time. Both sign with the key of NM tokens, which every node has: so a node is trusted with no more
// than it could make before.

namespace fairlead::process::login {

inline constexpr base::Duration kPassLife = base::Duration::Seconds(600);
/// The parameter by which a browser brings its pass.
inline constexpr std::string_view kPassParameter = "fairlead.pass";

/// The value of a cookie (cookie.h) for the pages at `node`; nothing for a user's name that none can carry.
std::optional<std::string> MakePass(const std::string& user, const env::Endpoint& node, std::string_view key,
                                    int64_t now_ms);
/// Whose it is; nothing when it is no pass for `node` of that key, or has ended.
std::optional<std::string> UserOfPass(std::string_view pass, const env::Endpoint& node, std::string_view key,
                                      int64_t now_ms);

}  // namespace fairlead::process::login

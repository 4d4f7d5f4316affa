#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/net.h"

namespace fairlead::process::rm {

/// Another daemon whose tokens the resource manager renews by Hadoop RPC, with its own ticket.
struct TokenIssuer {
  std::string kind;       // "HDFS_DELEGATION_TOKEN"
  std::string protocol;   // that has renewDelegationToken and cancelDelegationToken
  std::string principal;  // "hdfs/_HOST@EXAMPLE.COM", or a pattern (env/server_pattern.h)
  std::string key;        // in which the principal is written, for errors
  /// Where a token's service is: one address, or those of several name nodes; empty: it is none.
  std::function<std::vector<env::Endpoint>(const std::string& service)> addresses;
  std::string web_kind = {};       // of tokens of the same daemons that their web ports renew, "WEBHDFS delegation"
  std::string web_principal = {};  // and whose these ports are, "HTTP/_HOST@EXAMPLE.COM"
};

/// New tokens in the place of those that end (org.apache.hadoop.yarn.server.resourcemanager.security.
/// DelegationTokenRenewer). Names of Hadoop keys behind the values in comments; R. is yarn.resourcemanager.
struct IssueRules {
  std::string kind;  // of the tokens that are got so, R.proxy-user-privileges.enabled; empty: none are
  base::Duration least_left =
      base::Duration::Seconds(3 * 3600);  // R.system-credentials.valid-time-remaining: after a renewal
  /// Whose tokens an application gets that brings none of this kind (fs.defaultFS), as a token names it; empty: none.
  std::string default_service;
  base::Duration timeout = base::Duration::Seconds(60);  // of a call, R.delegation-token-renewer.thread-timeout
};

struct RenewalTimes {
  size_t at_once = 50;                                     // yarn.resourcemanager.delegation-token-renewer.thread-count
  base::Duration retry = base::Duration::Seconds(1);       // of a submission that waits
  int tries = 3;                                           // of it
  base::Duration later = base::Duration::Seconds(10);      // a renewal of one that runs
  base::Duration cancel_delay = base::Duration::Nanos(0);  // after an end: logs are aggregated with the tokens
  base::Duration cancel_look = base::Duration::Seconds(30);  // and so often somebody looks whether that is over
  bool always_cancel = false;                                // whatever applications say
  IssueRules issue{};
};

}  // namespace fairlead::process::rm

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
  std::string principal;  // "hdfs/_HOST@EXAMPLE.COM"
  std::string key;        // in which the principal is written, for errors
  /// Where a token's service is: one address, or those of several name nodes; empty: it is none.
  std::function<std::vector<env::Endpoint>(const std::string& service)> addresses;
};

struct RenewalTimes {
  size_t at_once = 50;                                     // yarn.resourcemanager.delegation-token-renewer.thread-count
  base::Duration retry = base::Duration::Seconds(1);       // of a submission that waits
  int tries = 3;                                           // of it
  base::Duration later = base::Duration::Seconds(10);      // a renewal of one that runs
  base::Duration cancel_delay = base::Duration::Nanos(0);  // after an end: logs are aggregated with the tokens
};

}  // namespace fairlead::process::rm

#pragma once

#include <string>

#include "base/time.h"

namespace fairlead::process::rm {

/// New tokens in the place of those that end (org.apache.hadoop.yarn.server.resourcemanager.security.
/// DelegationTokenRenewer). Names of Hadoop keys behind the values in comments; R. is yarn.resourcemanager.
struct IssueRules {
  std::string kind;  // of the tokens that are got so, R.proxy-user-privileges.enabled; empty: none are
  base::Duration least_left = base::Duration::Seconds(3 * 3600);  // R.system-credentials.valid-time-remaining
  /// Whose tokens an application gets that brings none of this kind (fs.defaultFS), as a token names it; empty: none.
  std::string default_service;
  base::Duration timeout = base::Duration::Seconds(60);  // of a call, R.delegation-token-renewer.thread-timeout
};

/// Those of this process, which are set before its managers begin, if at all.
void SetIssueRules(IssueRules rules);
const IssueRules& OwnIssueRules();

}  // namespace fairlead::process::rm

#pragma once

#include <cstdint>
#include <string>

#include "shell/shuffle/settings.h"

namespace fairlead::shell {

/// `fairlead shuffle`: the separate service, until SIGTERM or SIGINT (then it drains; a second signal ends it at once).
/// Gives the exit status: 0 ended on request, 1 could not start, 2 the configuration was refused (the reason is on
/// stderr).
int RunShuffle(const ShuffleOptions& options);

/// `fairlead shuffle status`: asks the service with this state directory, or at this address of its status page, and
/// prints applications, executors, bytes, disks and rates (`json`: as it came). `ca`: the file by which HTTPS is
/// trusted; empty: as this machine trusts. 3: nothing answered.
int RunShuffleStatus(const std::string& state, const std::string& web, const std::string& ca, bool json);

/// `fairlead shuffle drain`: tells the service with this state directory to take no more executors and to end once
/// nothing was asked for during `idle_seconds`, or after `limit_seconds`. Returns at once. 3: it could not be told.
int RunShuffleDrain(const std::string& state, const std::string& ca, int64_t idle_seconds, int64_t limit_seconds);

}  // namespace fairlead::shell

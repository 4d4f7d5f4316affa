#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"

namespace fairlead::apps {

/// From now on what this process starts stays below it in the tree of processes, whatever it does: orphans become
/// children of this process (PR_SET_CHILD_SUBREAPER). So who descends from it is known by descent, not by name.
void AdoptOrphans();

/// Every process below this one.
std::vector<int64_t> Descendants();

/// Takes leave of adopted orphans that have ended; children that `is_own` accepts are left for whoever waits for them.
void ReapOrphans(const std::function<bool(int64_t pid)>& is_own);

/// SIGTERM for every process below this one, SIGKILL for those that are left after `patience`, until there is none or
/// twice the time has passed. Blocks.
void EndDescendants(base::Duration patience);

}  // namespace fairlead::apps

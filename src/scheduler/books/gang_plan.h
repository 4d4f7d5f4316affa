#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/books/books.h"
#include "scheduler/books/policy.h"
#include "scheduler/shared/tournament.h"

namespace fairlead::scheduler::native {

/// A node for every member of a gang that finds one beside those planned before.
struct GangPlan {
  bool whole = false;  // all members found one
  int64_t members = 0;
  std::vector<std::pair<uint64_t, NodeIndex>> places;  // (serial of the ask, node), in the order of granting
};

/// Largest members first, each on the next node with room. A node that was too full for one member of a size is not
/// looked at again for that size: O(members + nodes x sizes).
GangPlan PlanGang(const Books& books, const Policy& policy, AppSlot slot, int64_t number);

}  // namespace fairlead::scheduler::native

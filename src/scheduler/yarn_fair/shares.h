#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::scheduler::yarn_fair {

/// One schedulable of a share computation, for one resource type.
struct Sharer {
  float weight = 1.0F;
  int64_t min_share = 0;
  int64_t max_share = INT64_MAX;
  bool active = true;  // false: an inactive queue of an instantaneous computation
  int64_t share = 0;   // the result
};

/// ComputeFairShares.computeSharesInternal: fixed ones first, then 25 bisection steps on the weight-to-resource ratio
/// in double precision. `round_up` keeps the upper bound, as Hadoop does; otherwise the lower one, whose sum never
/// exceeds `total`. Each sharer stands for `times` equal ones. O(members + 60 * distinct (weight, min, max)).
void ComputeShares(std::vector<Sharer>& sharers, int64_t total, bool round_up, size_t times = 1);

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include <cstdint>

#include "model/resources.h"

// Hadoop's resource arithmetic (org.apache.hadoop.yarn.util.resource: Resources, DefaultResourceCalculator,
// DominantResourceCalculator), operation by operation.

namespace fairlead::scheduler::yarn_fair {

using model::Resources;

enum class Policy : uint8_t { kFair, kDrf, kFifo };

Resources Unbounded();
Resources ComponentwiseMin(const Resources& a, const Resources& b);
Resources ComponentwiseMax(const Resources& a, const Resources& b);
/// Subtracts; memory and vcores stop at 0, other types do not.
void SubtractNonNegative(Resources& a, const Resources& b);
/// (long) (x * by) for each type.
Resources MultiplyDown(const Resources& a, double by);
/// (long) Math.ceil(x * by) for each type.
Resources MultiplyUp(const Resources& a, double by);
/// DominantResourceCalculator.normalize: at least `minimum`, rounded up to `increment`, at most `maximum`.
Resources Normalize(const Resources& ask, const Resources& minimum, const Resources& maximum,
                    const Resources& increment);

/// ResourceCalculator.compare of the policy: memory alone, or dominant shares of `cluster` over `types` types
/// (`single_type`: only the largest share of each).
int CompareBy(Policy policy, const Resources& cluster, const Resources& a, const Resources& b, bool single_type,
              size_t types);

}  // namespace fairlead::scheduler::yarn_fair

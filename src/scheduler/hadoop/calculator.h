#pragma once

#include <cstdint>

#include "base/hash.h"
#include "model/resources.h"

// Hadoop's resource arithmetic (org.apache.hadoop.yarn.util.resource: Resources, DefaultResourceCalculator,
// DominantResourceCalculator), operation by operation.

namespace fairlead::scheduler::hadoop {

using model::Resources;

/// How amounts are compared: DefaultResourceCalculator looks at memory alone, DominantResourceCalculator at all types.
enum class Calculator : uint8_t { kMemory, kDominant };

void Mix(base::StateHasher& hash, const Resources& amounts);
Resources Unbounded();
Resources ComponentwiseMin(const Resources& a, const Resources& b);
Resources ComponentwiseMax(const Resources& a, const Resources& b);
/// Subtracts; memory and vcores stop at 0, other types do not.
void SubtractNonNegative(Resources& a, const Resources& b);
/// DominantResourceCalculator.calculateShare: infinite of a cluster that has none of the type.
double Share(int64_t cluster, int64_t amount);
/// (long) (x * by) for each type.
Resources MultiplyDown(const Resources& a, double by);
/// (long) Math.ceil(x * by) for each type.
Resources MultiplyUp(const Resources& a, double by);
/// DominantResourceCalculator.normalize: at least `minimum`, rounded up to `increment`, at most `maximum`.
Resources Normalize(const Resources& ask, const Resources& minimum, const Resources& maximum,
                    const Resources& increment);

/// ResourceCalculator.compare: memory alone, or dominant shares of `cluster` over `types` types (`single_type`: only
/// the largest share of each).
int CompareBy(Calculator calculator, const Resources& cluster, const Resources& a, const Resources& b, bool single_type,
              size_t types);

}  // namespace fairlead::scheduler::hadoop

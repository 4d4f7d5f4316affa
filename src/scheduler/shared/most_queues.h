#pragma once

#include <cstddef>

namespace fairlead::scheduler {

/// When there are so many queues, no application makes another: pages, documents and metrics tell of each. Those of a
/// file are never refused.
inline constexpr size_t kMostQueues = 10'000;
inline constexpr char kTooManyQueues[] = "there are 10000 queues, and for this one another had to be made";

}  // namespace fairlead::scheduler

#pragma once

#include <cstdint>
#include <string_view>

#include "model/capacity_queues.h"

namespace fairlead::model {

/// How long applications of a queue may live, in seconds since their submission; 0 or less: for ever
/// (QueueAppLifetimeAndLimitSettings).
struct QueueLifetimes {
  int64_t maximum = -1;   // maximum-application-lifetime, its own or of the nearest queue above that has one
  int64_t standard = -1;  // of an application that asks for none: default-application-lifetime, else the maximum
  /// What an application gets that asks for `wanted` (CapacityScheduler.checkAndGetApplicationLifetime).
  int64_t For(int64_t wanted) const;
};

/// Of the queue with this full path; one that is not written there has what the templates of the one above say.
/// Cost: the path's length and the file's look-ups.
QueueLifetimes LifetimesOf(const CapacityQueues& file, std::string_view path);

}  // namespace fairlead::model

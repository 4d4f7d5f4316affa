#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
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

/// What the keys of one path say of lifetimes, in seconds; -1: nothing.
struct LifetimeKeys {
  int64_t maximum = -1;
  int64_t standard = -1;
  // The templates for queues that are made right below.
  int64_t made_maximum = -1;
  int64_t made_standard = -1;
};

/// By full path; empty when no key of the file speaks of lifetimes. O(queues log queues).
std::map<std::string, LifetimeKeys, std::less<>> LifetimeKeysOf(const CapacityQueues& file);

/// Of the queue with this full path; one that is not written has what the templates of the one above say. `keys_at`
/// has the keys of a path that is written. Cost: the path's length and a look-up for each part of it.
QueueLifetimes LifetimesOf(std::string_view path,
                           const std::function<std::optional<LifetimeKeys>(std::string_view path)>& keys_at);
QueueLifetimes LifetimesOf(const CapacityQueues& file, std::string_view path);

}  // namespace fairlead::model

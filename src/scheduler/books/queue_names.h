#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/queues.h"

// Names and settings of queues as text.

namespace fairlead::scheduler {

/// What is wrong with `queues`, with the queue's name; a tree that passes can be loaded. O(queues).
base::Status CheckQueueTree(const model::QueueTree& queues);

namespace native {

/// "fair", "drf", "fifo" or Hadoop's policy class names (FairSharePolicy, DominantResourceFairnessPolicy, FifoPolicy).
std::optional<model::OrderPolicy> PolicyByName(std::string_view name);

/// A weight in units of 2^-16, within what orders are exact for.
int64_t WeightUnits(double weight);

/// "a.b" -> "root.a.b"; an Error for empty parts, control characters, spaces around a part, or absurd length.
base::Result<std::string> FullQueueName(std::string_view name);

/// A user's or group's name as one part of a queue's name: "." becomes "_dot_".
std::string AsQueuePart(std::string_view name);

}  // namespace native
}  // namespace fairlead::scheduler

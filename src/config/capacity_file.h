#pragma once

#include <map>
#include <string>

#include "model/capacity_queues.h"

namespace fairlead::config {

/// Reads the keys of capacity-scheduler.xml over those of yarn-site.xml, by full name, as Hadoop's
/// CapacitySchedulerConfiguration does. Never fails: what cannot be read is a problem of the queue (or of the whole)
/// that the scheduler refuses when it comes to it, as Hadoop does. The resource types must have been registered before.
/// O(keys log keys).
model::CapacityQueues ReadCapacityQueues(const std::map<std::string, std::string>& keys);

/// One value of `capacity` (`labelled`: of a node label) or `maximum-capacity`.
model::CapacityValue ReadCapacity(const std::string& text, bool labelled);
model::CapacityValue ReadMaximumCapacity(const std::string& text, bool labelled);

}  // namespace fairlead::config

#pragma once

#include <cstdint>

#include "base/fields.h"
#include "model/ids.h"

namespace fairlead::model {

/// What a node, or the containers on it, were measured to use: from the node's meter (env_posix/use_meter.h) by way of
/// YARN's utilization fields to the scheduler. kUnknown: nobody has told; Java's NodeManagers tell CPU and memory only.
struct MeasuredUse {
  static constexpr int64_t kUnknown = -1;
  int64_t milli_cores = kUnknown;
  int64_t physical_bytes = kUnknown;
  int64_t virtual_bytes = kUnknown;
  int64_t disk_bytes = kUnknown;     // read and written, a second
  int64_t disk_busy = kUnknown;      // thousandths of the time in which the busiest disk had work
  int64_t network_bytes = kUnknown;  // received and sent, a second

  bool told() const { return *this != MeasuredUse{}; }
  /// Adds what both know; what one knows stands. Disks' busy times are not added: the larger is theirs together.
  MeasuredUse& operator+=(const MeasuredUse& other);

  FL_FIELDS(milli_cores, physical_bytes, virtual_bytes, disk_bytes, disk_busy, network_bytes)
  friend bool operator==(const MeasuredUse&, const MeasuredUse&) = default;
};

/// What one container was measured to use.
struct ContainerUse {
  ContainerId container;
  MeasuredUse use;
  FL_FIELDS(container, use)
  friend bool operator==(const ContainerUse&, const ContainerUse&) = default;
};

}  // namespace fairlead::model

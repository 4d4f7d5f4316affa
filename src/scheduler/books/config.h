#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/queues.h"
#include "model/resources.h"

namespace fairlead::scheduler {

/// What every profile on the books is configured with.
struct BooksConfig {
  model::QueueTree queues;
  /// Bits 40 and up of container numbers; grows with every restart of the resource manager.
  int64_t epoch = 0;
  /// Asks are rounded up to minimum_allocation, then to a multiple of increment (0: not rounded).
  model::Resources minimum_allocation;
  model::Resources increment;
  /// Larger asks are refused; 0: no limit for this type.
  model::Resources maximum_allocation;
  /// Masters of all queues together use at most this part of the cluster, in thousandths.
  int32_t cluster_master_share = 800;
  /// A grant that ends before its master has heard of it is asked for again, as in Hadoop; false: its master asks.
  bool ask_again = true;
  /// yarn.scheduler.fair.allow-undeclared-pools, yarn.scheduler.fair.user-as-default-queue.
  bool undeclared_queues = true;
  bool user_as_default_queue = true;
  /// A gang that could not start for so long is given up.
  base::Duration gang_expiry = base::Duration::Seconds(600);
  /// Different (priority, request id, capability) keys of one application, and different sizes.
  int32_t keys_per_app = 4096;
  int32_t sizes_per_app = 256;
  /// Hosts and racks that the pending asks of one application name, and that it excludes.
  int32_t places_per_app = 65'536;
};

}  // namespace fairlead::scheduler

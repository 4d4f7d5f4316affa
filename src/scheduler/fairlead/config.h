#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/queues.h"
#include "model/resources.h"

namespace fairlead::scheduler {

/// Which node an ask without a preference gets.
enum class NodeOrder : uint8_t {
  kSpread,  // the next node after the last grant that has room
  kPack,    // the first node that has room
};

/// Taking containers back from queues above their share (off: `enabled` false).
struct PreemptionConfig {
  bool enabled = false;
  /// How long a queue waits below its share before others give back.
  base::Duration starvation = base::Duration::Seconds(10);
  /// Between the notice to the application and the end of the container.
  base::Duration grace = base::Duration::Seconds(15);
  /// Time between two rounds.
  base::Duration interval = base::Duration::Seconds(3);
  /// A container that ran for less is never taken.
  base::Duration minimum_run = base::Duration::Seconds(5);
  /// Containers noticed in one round at most.
  int32_t round_cap = 100;
};

/// Keeping a node free for a request that is too large for what is left on every node.
struct HoldConfig {
  /// How long a request waits in a full cluster before a node is kept for it.
  base::Duration after = base::Duration::Seconds(2);
  /// How long one hold lasts.
  base::Duration duration = base::Duration::Seconds(60);
  /// At most this many nodes per thousand are held, and at least one.
  int32_t nodes_per_thousand = 50;
};

/// Everything the `fairlead` profile is configured with.
struct FairleadConfig {
  model::QueueTree queues;
  /// Bits 40 and up of container numbers; grows with every restart of the resource manager.
  int64_t epoch = 0;
  /// Asks are rounded up to minimum_allocation, then to a multiple of increment (0: not rounded).
  model::Resources minimum_allocation;
  model::Resources increment;
  /// Larger asks are refused; 0: no limit for this type.
  model::Resources maximum_allocation;
  base::Duration node_locality_wait = base::Duration::Millis(500);
  base::Duration rack_locality_wait = base::Duration::Millis(500);
  NodeOrder node_order = NodeOrder::kSpread;
  /// Masters of all queues together use at most this part of the cluster, in thousandths.
  int32_t cluster_master_share = 800;
  /// yarn.scheduler.fair.allow-undeclared-pools, yarn.scheduler.fair.user-as-default-queue.
  bool undeclared_queues = true;
  bool user_as_default_queue = true;
  PreemptionConfig preemption;
  HoldConfig holds;
  /// A gang that could not start for so long is given up.
  base::Duration gang_expiry = base::Duration::Seconds(600);
  /// Different (priority, request id, capability) keys of one application, and different sizes.
  int32_t keys_per_app = 4096;
  int32_t sizes_per_app = 256;
};

}  // namespace fairlead::scheduler

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/books/config.h"

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

/// Keeping a node free for an ask that is too large for what is left on every node.
struct ReservationConfig {
  /// How long an ask waits in a full cluster before a node is kept for it.
  base::Duration after = base::Duration::Seconds(2);
  /// How long a reservation lasts.
  base::Duration duration = base::Duration::Seconds(60);
  /// At most this many nodes per thousand are kept so, and at least one.
  int32_t nodes_per_thousand = 50;
};

/// Small jobs first, and large asks in their turn (model::Wishes::small_jobs).
struct SmallJobsConfig {
  /// Nobody who has less than his part of a queue is passed by who came so much later.
  base::Duration bound = base::Duration::Seconds(7 * 86'400);
  /// Nodes per thousand that may be kept at the same time for asks that are next and fit nowhere; for how long.
  int32_t nodes_per_thousand = 300;
  base::Duration reservation = base::Duration::Seconds(600);
  /// A master that is older is never ended for others (model::Wishes::park_masters): it may have worked.
  base::Duration park_within = base::Duration::Seconds(60);
};

/// Nodes that were measured to be overloaded take nothing (model::Wishes::measured_use). Of each amount, 0: no
/// threshold.
struct MeasuredUseConfig {
  int32_t cpu_percent = 95;     // of the machine's cores
  int32_t memory_percent = 95;  // of its memory
  int32_t disk_percent = 90;    // of the time, of its busiest disk
  int32_t network_mbit = 0;     // a second, both directions together
  /// Below this part of all thresholds a busy node takes containers again.
  int32_t calm_percent = 85;
  /// A measure counts for so long.
  base::Duration stale = base::Duration::Seconds(30);
};

/// Containers go where least is expected to be used, against what reading from afar costs
/// (model::Wishes::measured_load).
struct MeasuredLoadConfig {
  /// What is placed counts as large as it is booked until a measure that comes so long afterwards.
  base::Duration settle = base::Duration::Seconds(10);
  int64_t input_mib = 128;      // that a container reads for an ask that names places
  int32_t rack_mbit = 2000;     // a second, within its rack
  int32_t cluster_mbit = 1000;  // and from another one
  /// How long a container works, for what it loses where more is wanted than there is.
  base::Duration run = base::Duration::Seconds(60);
};

/// Nodes offer more than they have as long as little of it is used (model::Wishes::overcommit).
struct OvercommitConfig {
  int32_t percent = 100;         // of a node's capacity at most above it
  int32_t fill_percent = 80;     // of the machine's cores and memory that are meant to be used
  int32_t reclaim_percent = 95;  // above it, containers above the capacity end
};

/// The first asks of a queue that find no room get a start that is kept (fairlead/backfill.h).
struct BackfillConfig {
  int32_t promises = 0;  // asks of a queue; 0: none
  /// A promised start is this much later than the first that is possible, of the time that the whole cluster would
  /// work for the container: so much may be passed for others.
  int32_t slack_percent = 4000;
  /// Jobs with less work first (wish small-jobs): work is amount x time, where the time is known.
  bool run_times = true;
};

/// Maintenance windows of nodes (fairlead/maintenance.h).
struct MaintenanceConfig {
  /// A container is expected to run for so long where nobody knows better.
  base::Duration unknown_run = base::Duration::Seconds(3600);
};

/// What containers of a kind were measured to use is expected of the next of that kind (model::Wishes::learned_use).
struct LearnedUseConfig {
  /// A kind is a user's, and told by these.
  bool by_name = true;      // of the application, without digits
  bool by_priority = true;  // of the ask
  bool by_size = true;
  /// After so long a measure weighs half.
  base::Duration half_life = base::Duration::Seconds(86'400);
  int32_t enough = 10;         // measures, before they count
  int32_t least_percent = 25;  // of the booking, expected at the least, whatever a node told
};

/// So much of a resource in each period, for a queue and those below it.
struct BudgetConfig {
  std::string queue;
  size_t type = 1;     // of resource
  int64_t amount = 0;  // x milliseconds
  base::Duration period;
  bool hard = false;
};

/// What queues used in the past counts (fairlead/past_use.h).
struct FairnessConfig {
  /// Of the queues of each level below root, the last one's for those below; 0: by what they use now.
  std::vector<base::Duration> half_lives;
  std::vector<BudgetConfig> budgets;
};

/// Everything the `fairlead` profile is configured with. The wishes are those of `queues`: a refresh changes them.
struct FairleadConfig : BooksConfig {
  base::Duration node_locality_wait = base::Duration::Millis(500);
  base::Duration rack_locality_wait = base::Duration::Millis(500);
  NodeOrder node_order = NodeOrder::kSpread;
  PreemptionConfig preemption;
  ReservationConfig reservations;
  SmallJobsConfig small_jobs;
  MeasuredUseConfig measured_use;
  MeasuredLoadConfig measured_load;
  OvercommitConfig overcommit;
  LearnedUseConfig learned_use;
  BackfillConfig backfill;
  FairnessConfig fairness;
  MaintenanceConfig maintenance;
};

}  // namespace fairlead::scheduler

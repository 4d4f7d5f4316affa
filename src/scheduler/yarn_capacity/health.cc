#include "scheduler/yarn_capacity/health.h"

namespace fairlead::scheduler::yarn_capacity {

static CapacityHealth::Last ShownOf(const Health::Last& last) {
  return {last.node, last.container ? model::ToString(*last.container) : "", last.queue};
}

CapacityHealth ShownOf(const Health& health) {
  CapacityHealth shown;
  if (health.run_ms) shown.last_run = base::Instant{*health.run_ms * 1'000'000};
  shown.allocation = ShownOf(health.allocation);
  shown.release = ShownOf(health.release);
  shown.preemption = ShownOf(health.preemption);
  shown.reservation = ShownOf(health.reservation);
  shown.released = health.released;
  shown.allocated = health.allocated;
  shown.reserved = health.reserved;
  return shown;
}

}  // namespace fairlead::scheduler::yarn_capacity

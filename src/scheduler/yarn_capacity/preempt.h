#pragma once

#include "scheduler/yarn_capacity/books.h"

// Rounds of preemption (ProportionalCapacityPreemptionPolicy.editSchedule).

namespace fairlead::scheduler::yarn_capacity {

void PreemptRound(Books& books);

}  // namespace fairlead::scheduler::yarn_capacity

#pragma once

#include "scheduler/yarn_capacity/assign.h"

// Deciding on what was proposed (CapacityScheduler.tryCommit, FiCaSchedulerApp.accept, apply).

namespace fairlead::scheduler::yarn_capacity {

/// Whether there is anything to decide on (createResourceCommitRequest).
bool ProposesSomething(const Proposal& proposal);
/// Grants, reserves or gives up; false: the proposal holds no more, and nothing changed.
bool Commit(Books& books, const Proposal& proposal);

}  // namespace fairlead::scheduler::yarn_capacity

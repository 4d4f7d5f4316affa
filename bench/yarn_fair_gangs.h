#pragma once

#include <span>
#include <vector>

#include "sim/rigid/rigid.h"

/// Rigid jobs through profile `yarn-fair`: each is an application that asks for a container a device, keeps what it
/// gets and starts when it has all. With `fifo` the queue's policy is that, else Hadoop's default, fair. `jobs` in the
/// order in which they come. At -1 starts who is larger than the pool, or never gets all: jobs that wait for each
/// other's devices wait for ever.
std::vector<fairlead::sim::RigidStart> RunYarnFair(std::span<const fairlead::sim::RigidJob> jobs, int32_t devices,
                                                   bool fifo);

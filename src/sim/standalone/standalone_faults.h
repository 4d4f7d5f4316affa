#pragma once

#include <string>
#include <vector>

#include "sim/cluster/fault_run.h"

namespace fairlead::sim {

/// One run of a Standalone cluster by `seed`: Masters are killed, stopped, cut off from their quorum or made to hear it
/// late, Workers with or without their host, executors and drivers killed, connections cut. One Master acts at a time,
/// no executor runs twice, no core is booked twice; and once all is whole again every driver that was acknowledged runs
/// once, and every application has the executors that it wants. Of the bugs kNoFence and kLateStepDown are known here.
FaultRunResult RunStandaloneFaults(uint64_t seed, PlantedBug bug);

/// Faults and rare branches that must each have fired at least once over many seeds.
std::vector<std::string> ExpectedStandaloneFaults();

}  // namespace fairlead::sim

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env_sim/world.h"
#include "sim/cluster/cluster.h"

namespace fairlead::sim {

struct FaultRunResult {
  uint64_t seed = 0;
  std::vector<std::string> violations;  // empty: all is well
  env_sim::FaultCounts counts;
  uint64_t hash = 0;
  double virtual_seconds = 0;
  int64_t steps = 0;
  bool ok() const { return violations.empty(); }
};

/// One run: a few jobs on a small cluster while connections break, replies get lost, machines crash and come back, all
/// by `seed`. Production code and real bytes everywhere; only time, network, disks and containers' processes are
/// simulated. Invariants are checked after every step. With several `managers` the leader is changed again and again;
/// in some of the runs nothing else happens, and then no task may be killed.
FaultRunResult RunFaults(uint64_t seed, PlantedBug bug, int managers = 1);

/// Faults and rare branches that must each have fired at least once over many seeds.
std::vector<std::string> ExpectedFaults(int managers = 1);

}  // namespace fairlead::sim

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

// Rigid jobs: each wants so many devices at once, for as long as it runs (gangs of training jobs, jobs of batch
// systems). A pool counts devices; on which nodes they are plays no part.

namespace fairlead::sim {

struct RigidJob {
  int64_t submit_s = 0;
  int64_t run_s = 0;
  int64_t estimate_s = 0;  // what the scheduler believes; a job that runs longer is not ended
  int32_t devices = 0;
  int32_t pool = 0;
};

enum class RigidOrder : uint8_t {
  kArrival,         // first come first served, and nobody passes the first
  kBackfill,        // first come first served; others pass while the first is not delayed (EASY, Lifka 1995)
  kLeastWorkFirst,  // the same, and those that pass go by estimate * devices
};

struct RigidStart {
  int64_t at_s = -1;        // -1: larger than its pool
  int64_t promised_s = -1;  // the start at the latest that was promised when the job became the first; -1: none was
};

/// Starts of the jobs of one pool of `devices`, in their order. Jobs come in order of submission. An event costs
/// O(waiting + running).
std::vector<RigidStart> RunRigid(std::span<const RigidJob> jobs, int32_t devices, RigidOrder order);

/// The most devices that the jobs would use at once if none of them waited.
int32_t LargestUse(std::span<const RigidJob> jobs);

/// Rows "timestamp,duration,num_gpus,gpu_time,cluster" after a line with these names, as the Philly trace is published:
/// "2017-10-09 07:01:55", seconds. Clusters become pools by name; jobs come out by time of submission. An Error names
/// the line and what is wrong.
base::Result<std::vector<RigidJob>> ReadPhilly(std::string_view csv);

}  // namespace fairlead::sim

#pragma once

#include <cstdint>
#include <vector>

#include "sim/traces/trace.h"

namespace fairlead::sim {

/// What goes wrong in a run, drawn from a seed.
struct FaultOptions {
  int rack_losses = 0;          // so often a whole rack is lost
  int64_t repair_ms = 600'000;  // until its nodes come back
  double slow_nodes = 0;        // this part of the nodes ...
  double slow_factor = 3;       // ... needs so many times as long for a task
  int storms = 0;               // so often a crowd of small jobs comes within a second
  int storm_jobs = 200;
  uint64_t seed = 1;
};

struct NodeLoss {
  int64_t at_ms = 0;
  int64_t back_ms = 0;
  uint32_t node = 0;  // position in the list of nodes
};

struct FaultPlan {
  std::vector<NodeLoss> losses;  // by time
  std::vector<double> slowness;  // per node; empty: 1 for all
};

/// Racks and times drawn uniformly, times from [0, span_ms).
FaultPlan PlanFaults(const FaultOptions& options, const std::vector<TraceNode>& nodes, int64_t span_ms);

/// The jobs of another source with storms between them: `storm_jobs` jobs of one 5 s task in queue "storm".
class StormyJobs final : public JobSource {
 public:
  StormyJobs(JobSource& jobs, const FaultOptions& options, int64_t span_ms);
  bool Next(TraceJob& job) override;
  int64_t jobs() const override { return jobs_.jobs() + static_cast<int64_t>(storms_.size()); }

 private:
  JobSource& jobs_;
  std::vector<TraceJob> storms_;
  size_t next_storm_ = 0;
  TraceJob ahead_;
  bool has_ahead_ = false;
};

}  // namespace fairlead::sim

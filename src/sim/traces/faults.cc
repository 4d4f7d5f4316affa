#include "sim/traces/faults.h"

#include <algorithm>
#include <map>

#include "base/rng.h"

namespace fairlead::sim {

FaultPlan PlanFaults(const FaultOptions& options, const std::vector<TraceNode>& nodes, int64_t span_ms) {
  FaultPlan plan;
  base::Rng rng(options.seed * 3 + 1);
  std::map<std::string, std::vector<uint32_t>> racks;
  for (uint32_t i = 0; i < nodes.size(); ++i) racks[nodes[i].rack].push_back(i);
  for (int i = 0; i < options.rack_losses && !racks.empty(); ++i) {
    const auto& rack = std::next(racks.begin(), static_cast<int64_t>(rng.Below(racks.size())))->second;
    const int64_t at = rng.Between(0, std::max<int64_t>(span_ms, 1) - 1);
    for (const uint32_t node : rack) plan.losses.push_back({at, at + options.repair_ms, node});
  }
  std::stable_sort(plan.losses.begin(), plan.losses.end(),
                   [](const NodeLoss& a, const NodeLoss& b) { return a.at_ms < b.at_ms; });
  if (options.slow_nodes > 0) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      plan.slowness.push_back(rng.Chance(options.slow_nodes) ? options.slow_factor : 1);
    }
  }
  return plan;
}

StormyJobs::StormyJobs(JobSource& jobs, const FaultOptions& options, int64_t span_ms) : jobs_(jobs) {
  base::Rng rng(options.seed * 3 + 2);
  for (int storm = 0; storm < options.storms; ++storm) {
    const int64_t at = rng.Between(0, std::max<int64_t>(span_ms, 1) - 1);
    for (int i = 0; i < options.storm_jobs; ++i) {
      TraceJob job;
      job.name = "storm_" + std::to_string(storm + 1) + "_" + std::to_string(i + 1);
      job.queue = job.user = "storm";
      job.submit_ms = at + rng.Between(0, 999);
      job.stages.emplace_back();
      job.stages[0].run_ms = {5000};
      storms_.push_back(std::move(job));
    }
  }
  std::stable_sort(storms_.begin(), storms_.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit_ms < b.submit_ms; });
  has_ahead_ = jobs_.Next(ahead_);
}

bool StormyJobs::Next(TraceJob& job) {
  if (next_storm_ < storms_.size() && (!has_ahead_ || storms_[next_storm_].submit_ms < ahead_.submit_ms)) {
    job = storms_[next_storm_++];
    return true;
  }
  if (!has_ahead_) return false;
  job = std::move(ahead_);
  has_ahead_ = jobs_.Next(ahead_);
  return true;
}

}  // namespace fairlead::sim

#pragma once

#include <nlohmann/json.hpp>
#include <string>

// Replays recordings of Spark's TaskSchedulerImpl and DAGScheduler against the tasks core.

namespace fairlead::oracle {

/// What a scenario's replay found; `difference` is empty when every recorded member came out equal.
struct Verdict {
  std::string difference;
  bool passed() const { return difference.empty(); }
};

/// A scenario of task sets and offers (it has "conf").
Verdict ReplaySets(const nlohmann::json& scenario);
/// A scenario of jobs and stages (it has "rdds").
Verdict ReplayDag(const nlohmann::json& scenario);
/// Either, by content.
Verdict ReplaySparkTasks(const nlohmann::json& scenario);

/// Compares the recorded outcome of a step with ours. `inputs` are the members that are not outcome.
std::string CompareStep(size_t number, const nlohmann::json& step, const std::vector<std::string>& inputs,
                        const nlohmann::json& actual);

}  // namespace fairlead::oracle

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Replays recordings of Spark's TaskSchedulerImpl and DAGScheduler against the tasks core. What a replay returns is
// what differs, empty when every recorded member came out equal.

namespace fairlead::oracle {

/// A scenario of task sets and offers (it has "conf").
std::string ReplaySets(const nlohmann::json& scenario);
/// A scenario of jobs and stages (it has "rdds").
std::string ReplayDag(const nlohmann::json& scenario);
/// Either, by content.
std::string ReplaySparkTasks(const nlohmann::json& scenario);

/// An input that the replay does not know; ends the scenario as failed.
struct Unknown {
  std::string what;
};

/// Compares the recorded outcome of a step with ours. `inputs` are the members that are not outcome.
std::string CompareStep(size_t number, const nlohmann::json& step, const std::vector<std::string>& inputs,
                        const nlohmann::json& actual);

/// Plays a scenario's steps until one differs. A Player is made of the scenario and has Play(step, inputs), which
/// returns the outcome, and CheckStep(step), which says what is wrong after it.
template <class Player>
std::string PlaySteps(const nlohmann::json& scenario) try {
  Player player(scenario);
  size_t number = 0;
  for (const nlohmann::json& step : scenario.at("steps")) {
    std::vector<std::string> inputs;
    const nlohmann::json actual = player.Play(step, inputs);
    if (std::string difference = CompareStep(number, step, inputs, actual); !difference.empty()) return difference;
    if (const std::string wrong = player.CheckStep(step); !wrong.empty()) {
      return "step " + std::to_string(number) + ": " + wrong;
    }
    ++number;
  }
  return {};
} catch (const Unknown& unknown) {
  return "unknown " + unknown.what;
} catch (const std::exception& error) {
  return std::string("malformed scenario: ") + error.what();
}

}  // namespace fairlead::oracle

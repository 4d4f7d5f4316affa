#include "spark_tasks.h"

namespace fairlead::oracle {

using nlohmann::json;

std::string CompareStep(size_t number, const json& step, const std::vector<std::string>& inputs, const json& actual) {
  json expected = step;
  json given = json::object();
  for (const std::string& input : inputs) {
    if (!expected.contains(input)) continue;
    given[input] = expected[input];
    expected.erase(input);
  }
  if (expected == actual) return {};
  std::string difference = "step " + std::to_string(number) + " " + given.dump();
  json members = expected;
  members.update(actual);
  for (const auto& [name, ignored] : members.items()) {
    const json recorded = expected.contains(name) ? expected[name] : json("(nothing)");
    const json ours = actual.contains(name) ? actual[name] : json("(nothing)");
    if (recorded != ours)
      difference += "\n    " + name + " recorded " + recorded.dump() + "\n    " + name + " ours     " + ours.dump();
  }
  return difference;
}

std::string ReplaySparkTasks(const json& scenario) {
  if (scenario.is_object() && scenario.contains("conf")) return ReplaySets(scenario);
  if (scenario.is_object() && scenario.contains("rdds")) return ReplayDag(scenario);
  return "neither a scenario of task sets nor of stages";
}

}  // namespace fairlead::oracle

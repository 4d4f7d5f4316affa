#include "spark_tasks.h"

#include <gtest/gtest.h>

#include <functional>

namespace fairlead::oracle {
namespace {

using nlohmann::json;

/// A small recording of task sets, in the form of the shared ones.
json SetScenario() {
  return json::parse(R"({"id":"t","spark":"3.5.5","conf":{"spark.scheduler.mode":"FIFO","spark.locality.wait":"3000ms"},
    "pools":[],"racks":{"h0":"r0"},"steps":[
    {"type":"offer","all_free_resources":false,"offers":[["e0","h0",2]],"now":1000},
    {"type":"submit","set":"0.0","stage":0,"stage_attempt":0,"priority":0,"pool":null,"kind":"result","tasks":[["h0"],["h0"]],
     "now":1000,"rack_lists":[["r0",[1,0]]],
     "sets":[{"set":"0.0","zombie":false,"running":0,"successful":0,"levels":["NODE_LOCAL","RACK_LOCAL","ANY"],
              "level":"NODE_LOCAL","last_reset":1000,"all_nonempty":true,"speculatable":[]}]},
    {"type":"advance","ms":500,"now":1500},
    {"type":"offer","all_free_resources":true,"offers":[["e0","h0",1]],"set_order":["0.0"],"now":1500,
     "launched":[{"tid":0,"set":"0.0","index":0,"attempt":0,"executor":"e0","locality":"NODE_LOCAL","speculative":false}],
     "sets":[{"set":"0.0","zombie":false,"running":1,"successful":0,"levels":["NODE_LOCAL","RACK_LOCAL","ANY"],
              "level":"NODE_LOCAL","last_reset":1500,"all_nonempty":true,"speculatable":[]}]},
    {"type":"status","tid":0,"state":"FINISHED","now":1500,
     "events":[{"event":"task_ended","set":"0.0","index":0,"tid":0,"reason":"success"}],
     "sets":[{"set":"0.0","zombie":false,"running":0,"successful":1,"levels":["NODE_LOCAL","RACK_LOCAL","ANY"],
              "level":"NODE_LOCAL","last_reset":1500,"all_nonempty":true,"speculatable":[]}]}]})");
}

json DagScenario() {
  return json::parse(R"({"id":"d","spark":"3.5.5","rdds":[
    {"rdd":0,"partitions":1,"preferred":[["h1"]],"dependencies":[]},
    {"rdd":1,"partitions":1,"preferred":[],"dependencies":[{"type":"shuffle","rdd":0,"shuffle":0}]}],"steps":[
    {"type":"job","job":0,"rdd":1,"partitions":[0],"submitted":[{"stage":0,"attempt":0,"job":0,"kind":"shuffle_map",
     "rdd":0,"shuffle":0,"parents":[],"partitions":[0],"preferred":[["h1"]]}],
     "waiting":[1],"running":[0],"failed":[],"cancelled":[],"jobs_ended":[]},
    {"type":"task_succeeded","stage":0,"attempt":0,"partition":0,"executor":"e0","host":"h0","sizes":[1051],
     "submitted":[{"stage":1,"attempt":0,"job":0,"kind":"result","rdd":1,"shuffle":null,"parents":[0],"partitions":[0],
     "preferred":[[]]}],"waiting":[],"running":[1],"failed":[],"cancelled":[],"jobs_ended":[]},
    {"type":"task_succeeded","stage":1,"attempt":0,"partition":0,"executor":"e0","host":"h0","submitted":[],
     "waiting":[],"running":[],"failed":[],"cancelled":[],"jobs_ended":[{"job":0,"result":"succeeded"}]}]})");
}

TEST(SparkTasksOracleTest, GoodRecordingsPass) {
  EXPECT_EQ(ReplaySparkTasks(SetScenario()), "");
  EXPECT_EQ(ReplaySparkTasks(DagScenario()), "");
}

/// The names of a step's members that the replay is told, not asked.
bool IsInput(const std::string& name) {
  static const std::vector<std::string> kInputs{
      "type",    "set",       "stage", "stage_attempt", "priority", "pool", "kind", "tasks", "all_free_resources",
      "offers",  "tid",       "state", "reason",        "executor", "ms",   "job",  "rdd",   "partitions",
      "attempt", "partition", "host",  "sizes"};
  return std::find(kInputs.begin(), kInputs.end(), name) != kInputs.end();
}

/// Another value of the same kind.
json Changed(const json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<int64_t>() + 1;
  if (value.is_string()) return value.get<std::string>() + "x";
  return "changed";
}

/// Calls `check` with a copy of the scenario for every leaf of every answer, that leaf changed.
void ForEachChange(const json& scenario, const std::function<void(const json&, const std::string&)>& check) {
  const json flat = scenario.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!path.starts_with("/steps/")) continue;
    const size_t name_at = path.find('/', 7) + 1;
    const std::string member = path.substr(name_at, path.find('/', name_at) - name_at);
    if (IsInput(member)) continue;
    json copy = flat;
    copy[path] = Changed(value);
    check(copy.unflatten(), path);
  }
}

TEST(SparkTasksOracleTest, EveryChangedAnswerFails) {
  for (const json& scenario : {SetScenario(), DagScenario()}) {
    int changes = 0;
    ForEachChange(scenario, [&](const json& changed, const std::string& path) {
      ++changes;
      EXPECT_NE(ReplaySparkTasks(changed), "") << path;
    });
    EXPECT_GT(changes, 20);
  }
}

TEST(SparkTasksOracleTest, MissingAndAddedAnswersFail) {
  json scenario = SetScenario();
  scenario["steps"][3].erase("launched");
  EXPECT_NE(ReplaySparkTasks(scenario), "");
  scenario = SetScenario();
  scenario["steps"][0]["kills"] = {1};
  EXPECT_NE(ReplaySparkTasks(scenario), "");
  scenario = DagScenario();
  scenario["steps"][0].erase("failed");
  EXPECT_NE(ReplaySparkTasks(scenario), "");
}

TEST(SparkTasksOracleTest, WhatIsNotUnderstoodFails) {
  json scenario = SetScenario();
  scenario["steps"][2]["type"] = "sleep";
  EXPECT_NE(ReplaySparkTasks(scenario).find("sleep"), std::string::npos);
  scenario = SetScenario();
  scenario["conf"]["spark.new.key"] = "1";
  EXPECT_NE(ReplaySparkTasks(scenario), "");
  scenario = DagScenario();
  scenario["rdds"][1]["dependencies"][0]["type"] = "magic";
  EXPECT_NE(ReplaySparkTasks(scenario), "");
  EXPECT_NE(ReplaySparkTasks(json::object()), "");
  EXPECT_NE(ReplaySparkTasks(json("text")), "");
  EXPECT_NE(ReplaySparkTasks(json::parse(R"({"conf":{}})")), "");
}

}  // namespace
}  // namespace fairlead::oracle

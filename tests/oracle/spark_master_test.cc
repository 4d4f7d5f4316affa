#include "spark_master.h"

#include <gtest/gtest.h>

// A recording that was changed, or says what nobody understands, must fail: a runner that passes everything is none.

namespace fairlead::oracle {
namespace {

using nlohmann::json;

json Recorded() {
  return json::parse(R"({"id":"m","spark":"4.3.0","conf":{"spread_out_apps":true,"default_cores":2147483647,
    "max_executor_retries":3,"spread_out_drivers":false,"max_drivers":2147483647,
    "worker_selection_policy":"CORES_FREE_DESC"},"steps":[
    {"event":{"type":"app_registered","app":"app-0","max_cores":3,"cores_per_executor":3,"memory_per_executor":2048,
      "gpus_per_executor":0,"initial_executor_limit":null},"alive_order":[],"driver_permutations":[],"launched":[],
      "messages":["RegisteredApplication to=app-0 app=app-0"],"reply":null,"state":{"workers":[],
      "apps":[{"id":"app-0","state":"WAITING","cores_granted":0,"cores_left":3,"retries":0,"executors":[]}],
      "waiting_drivers":[],"running_drivers":[]}},
    {"event":{"type":"worker_registered","worker":"w-7","cores":4,"memory":8192,"gpus":0},"alive_order":["w-7"],
      "driver_permutations":[],"launched":[{"executor":0,"app":"app-0","worker":"w-7","cores":3,"memory":2048,
      "profile":0,"gpus":[]}],"messages":["ExecutorAdded to=app-0 executor=0 worker=w-7 cores=3 memory=2048",
      "RegisteredWorker to=w-7 duplicate=false"],"reply":null,"state":{"workers":[{"id":"w-7","state":"ALIVE",
      "cores_free":1,"memory_free":6144,"gpus_free":0,"drivers":[]}],"apps":[{"id":"app-0","state":"RUNNING",
      "cores_granted":3,"cores_left":0,"retries":0,"executors":[{"id":0,"worker":"w-7","cores":3,"memory":2048,
      "profile":0,"state":"LAUNCHING"}]}],"waiting_drivers":[],"running_drivers":[]}}]})");
}

std::string Replay(const json& scenario) {
  int orders_taken = 0;
  return ReplaySparkMaster(scenario, orders_taken);
}

TEST(SparkMasterReplayTest, RecordedPasses) { EXPECT_EQ(Replay(Recorded()), ""); }

TEST(SparkMasterReplayTest, EveryChangedOutcomeFails) {
  for (const char* pointer : {"/steps/1/launched/0/cores", "/steps/1/state/workers/0/cores_free",
                              "/steps/1/state/apps/0/executors/0/memory", "/steps/0/state/apps/0/cores_left"}) {
    json changed = Recorded();
    changed[json::json_pointer(pointer)] = 99;
    EXPECT_NE(Replay(changed), "") << pointer;
  }
  json message = Recorded();
  message["steps"][1]["messages"].erase(0);
  EXPECT_NE(Replay(message), "");
}

TEST(SparkMasterReplayTest, UnknownEventMemberAndSettingFail) {
  json event = Recorded();
  event["steps"][0]["event"]["type"] = "app_paused";
  EXPECT_NE(Replay(event).find("unknown event"), std::string::npos);
  json member = Recorded();
  member["steps"][0]["extra"] = 1;
  EXPECT_NE(Replay(member), "");
  json setting = Recorded();
  setting["conf"]["new_setting"] = 1;
  EXPECT_NE(Replay(setting), "");
  json empty = Recorded();
  empty["steps"] = json::array();
  EXPECT_NE(Replay(empty), "");
}

}  // namespace
}  // namespace fairlead::oracle

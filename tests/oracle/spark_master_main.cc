#include "jsonl_runner.h"
#include "spark_master.h"

// oracle_spark_master DIR [--version V]: replays recordings of Spark's Standalone master.

int main(int argc, char** argv) {
  using namespace fairlead::oracle;
  int orders_taken = 0;
  const auto replay = [&](const nlohmann::json& scenario) { return ReplaySparkMaster(scenario, orders_taken); };
  const auto note = [&] {
    return orders_taken == 0
               ? std::string()
               : "order of a lost worker's drivers taken from the recording: " + std::to_string(orders_taken) +
                     " times";
  };
  return RunJsonlOracle(argc, argv, "oracle_spark_master", replay, note);
}

#include "jsonl_runner.h"
#include "spark_tasks.h"

// oracle_spark_tasks DIR [--version V]: replays recordings of Spark's task and stage scheduling.

int main(int argc, char** argv) {
  return fairlead::oracle::RunJsonlOracle(argc, argv, "oracle_spark_tasks", fairlead::oracle::ReplaySparkTasks);
}

#include "jsonl_runner.h"
#include "spark_master.h"

// oracle_spark_master DIR [--version V]: replays recordings of Spark's Standalone master.

int main(int argc, char** argv) {
  return fairlead::oracle::RunJsonlOracle(argc, argv, "oracle_spark_master", fairlead::oracle::ReplaySparkMaster);
}

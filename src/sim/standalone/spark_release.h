#pragma once

#include "endpoints/spark/spark_build.h"

namespace fairlead::sim {

/// Spark 4.3.0 as everybody in a simulated Standalone cluster has it, at /opt/spark.
const endpoints::spark::SparkBuild& SimulatedSpark();

}  // namespace fairlead::sim

#pragma once

#include <string>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"

namespace fairlead::shell {

/// What Spark is installed in a directory, from the classes in its jars/spark-core_*.jar and jars/scala-library-*.jar;
/// no Java is started.
base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home);

}  // namespace fairlead::shell

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "env/disk.h"
#include "process/spark_master/standalone_store.h"

namespace fairlead::process::spark_master {

/// What Spark's own Master left in its spark.deploy.recoveryDirectory, as a StandaloneCluster would have stored it.
struct SparkDirectory {
  StandaloneState state;
  std::vector<std::string> unread;  // a sentence for each file that cannot be read
};
/// Blocks; for the start. A directory that is missing is empty.
base::Result<SparkDirectory> ReadSparkDirectory(env::Disk& disk, const std::string& directory,
                                                const endpoints::spark::SparkBuild& build);

}  // namespace fairlead::process::spark_master

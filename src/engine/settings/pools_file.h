#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tasks/config.h"

namespace fairlead::engine {

/// Pools of Spark's allocation file (fairscheduler.xml; org.apache.spark.scheduler.FairSchedulableBuilder):
///   <allocations><pool
///   name="NAME"><schedulingMode>FAIR</schedulingMode><weight>2</weight><minShare>3</minShare></pool>
/// with Spark's defaults FIFO, 1 and 0. Where Spark warns and takes a default, this is an error that names `file`,
/// line, pool and value. At most 64 KiB.
base::Result<std::vector<tasks::PoolConfig>> ParsePools(const std::string& file, std::string_view text);

/// The text of an allocation file that ParsePools takes.
base::Result<std::string> ReadPoolsFile(const std::string& path);

}  // namespace fairlead::engine

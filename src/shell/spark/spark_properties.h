#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/base/spark_keys.h"

namespace fairlead::shell {

/// What a Standalone daemon of Spark reads: the -D options in the environment variables named, then what those do not
/// say in `file`, or without one in spark-defaults.conf of SPARK_CONF_DIR or `spark_home`/conf, which may be missing.
base::Result<SparkProperties> ReadSparkProperties(const std::string& file, const std::string& spark_home,
                                                  const std::vector<const char*>& variables);

/// The keys in the -D options of a command line; quotes and backslashes as a shell takes them.
SparkProperties PropertiesInJavaOptions(std::string_view options);

}  // namespace fairlead::shell

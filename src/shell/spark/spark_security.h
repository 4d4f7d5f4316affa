#pragma once

#include "process/spark_rpc/security.h"
#include "shell/spark/spark_properties.h"

namespace fairlead::shell {

/// spark.authenticate and what belongs to it. The secret is that of spark.authenticate.secret, of the file
/// spark.authenticate.secret.file, or of the variable _SPARK_AUTH_SECRET. What is wrong is an error of `keys`.
process::spark_rpc::Security ReadSparkSecurity(SparkKeys& keys);

}  // namespace fairlead::shell

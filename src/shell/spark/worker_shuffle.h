#pragma once

#include <memory>

#include "base/result.h"
#include "env/log.h"
#include "process/spark_worker/spark_worker.h"
#include "shell/shuffle/runtime.h"
#include "shell/spark/spark_properties.h"

namespace fairlead::shell {

/// The shuffle service inside a Worker (org.apache.spark.deploy.ExternalShuffleService), on threads of its own: starts
/// it on spark.shuffle.service.port with the keys that Spark's takes and lets it hear of executors and applications
/// that end. Its registrations outlive the Worker in its work directory. Null where spark.shuffle.service.enabled is
/// not true.
base::Result<std::unique_ptr<ShuffleRuntime>> StartWorkerShuffle(const SparkProperties& properties, bool spark4,
                                                                 process::spark_worker::SparkWorkerSettings& worker,
                                                                 env::Log& log);

}  // namespace fairlead::shell

#pragma once

#include "base/result.h"
#include "endpoints/spark/worker_messages.h"
#include "shell/spark/spark_properties.h"

namespace fairlead::shell {

/// A worker's custom resources (org.apache.spark.resource.ResourceUtils.getOrDiscoverAllResources): for each
/// spark.worker.resource.NAME.amount the addresses in spark.worker.resourcesFile, else those that the program
/// .discoveryScript prints, {"name": NAME, "addresses": [...]}. Runs the programs; fails where there are fewer
/// addresses than the amount, and gives as many as that.
base::Result<endpoints::spark::Resources> ReadWorkerResources(const SparkProperties& properties);

}  // namespace fairlead::shell

#pragma once

#include "base/result.h"
#include "base/time.h"
#include "endpoints/spark/worker_messages.h"
#include "shell/spark/spark_properties.h"

namespace fairlead::shell {

/// A worker's custom resources (org.apache.spark.resource.ResourceUtils.getOrDiscoverAllResources): for each
/// spark.worker.resource.NAME.amount the addresses in spark.worker.resourcesFile, else those that the program
/// .discoveryScript prints, {"name": NAME, "addresses": [...]}. Runs the programs; fails where there are fewer
/// addresses than the amount, or a program does not end by the deadline, and gives as many as that.
base::Result<endpoints::spark::Resources> ReadWorkerResources(const SparkProperties& properties,
                                                              base::Duration deadline = base::Duration::Seconds(10));

}  // namespace fairlead::shell

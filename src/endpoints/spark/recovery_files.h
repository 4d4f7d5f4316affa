#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/worker_messages.h"

// What Spark's own Master leaves in its spark.deploy.recoveryDirectory, a Java object stream a file
// (org.apache.spark.deploy.master.FileSystemPersistenceEngine). Only read, never written: it is tied to Spark's build.

namespace fairlead::endpoints::spark {

/// org.apache.spark.deploy.master.WorkerInfo.
base::Result<RegisterWorker> DecodeWorkerInfo(std::string_view bytes);

/// org.apache.spark.deploy.master.ApplicationInfo, with the message that its driver must have sent.
struct ApplicationInfo {
  std::string id;
  base::WallTime started;
  std::string registration;  // RegisterApplication, as drivers of `build` send it
};
base::Result<ApplicationInfo> DecodeApplicationInfo(const SparkBuild& build, std::string_view bytes);

/// org.apache.spark.deploy.master.DriverInfo.
struct DriverInfo {
  std::string id;
  base::WallTime submitted;
  DriverDescription description;
};
base::Result<DriverInfo> DecodeDriverInfo(std::string_view bytes);

}  // namespace fairlead::endpoints::spark

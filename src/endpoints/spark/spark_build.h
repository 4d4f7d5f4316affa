#pragma once

#include <string>

#include "base/result.h"
#include "wire/java_stream/class_file.h"
#include "wire/java_stream/graph.h"

namespace fairlead::endpoints::spark {

inline constexpr char kResourceProfile[] = "org.apache.spark.resource.ResourceProfile";
inline constexpr char kTaskResourceProfile[] = "org.apache.spark.resource.TaskResourceProfile";

/// One build of Spark: the classes of the messages between a driver and its master as this build's compiler numbered
/// them.
struct SparkBuild {
  std::string home;     // SPARK_HOME, on the nodes too
  std::string release;  // for people: "3.5.9, Scala 2.12"
  wire::java_stream::ClassCatalog classes;

  /// "3.5.9".
  std::string version() const { return release.substr(0, release.find(',')); }
  /// Of DeployMessages.RegisterApplication: drivers of this build, and hardly of another, send it.
  int64_t registration_suid() const;
  /// Of DeployMessages.RegisterWorker, as workers of this build send it.
  int64_t worker_suid() const;
  /// Scala 2.13 and later write a module as scala.runtime.ModuleSerializationProxy.
  bool has_module_proxies() const;
};

/// Describes the classes of a build from its class files. Fails when one is missing.
base::Result<SparkBuild> DescribeSparkBuild(const std::string& home, const std::string& release,
                                            const wire::java_stream::ClassSource& source);

/// Adds the classes that only drivers write (driver_requests.h).
base::Status AddDriverClasses(const wire::java_stream::ClassSource& source, SparkBuild& build);

}  // namespace fairlead::endpoints::spark

#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/class_file.h"

namespace fairlead::shell {

/// The class files of a SPARK_HOME that tell how its messages are written: those of Scala and of Spark's Standalone
/// mode.
struct SparkClassFiles {
  std::string release;                                    // "3.5.9, Scala 2.12"
  std::map<std::string, std::string, std::less<>> files;  // bytes by class
  wire::java_stream::ClassSource source() const;          // lives no longer than this
};
base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home);

/// What Spark is installed in a directory, from the classes in its jars/spark-core_*.jar and jars/scala-library-*.jar;
/// no Java is started.
base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home);

}  // namespace fairlead::shell

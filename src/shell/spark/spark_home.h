#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/class_file.h"

namespace fairlead::shell {

/// The class files of a SPARK_HOME that tell how its messages are written: those of Scala and of Spark's Standalone
/// mode.
struct SparkClassFiles {
  struct Part {
    size_t begin = 0;
    size_t size = 0;
  };
  std::string release;                             // "3.5.9, Scala 2.12"
  std::map<std::string, Part, std::less<>> files;  // of `bytes`, by class
  /// All of them one after the other: a block so large goes back to the system with this, and leaves no holes behind.
  std::string bytes;
  wire::java_stream::ClassSource source() const;  // lives no longer than this
};
base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home);

/// What Spark is installed in a directory, from the classes in its jars/spark-core_*.jar and jars/scala-library-*.jar;
/// no Java is started.
base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home);

}  // namespace fairlead::shell

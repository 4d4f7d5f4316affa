#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/class_file.h"

struct zip;  // of libzip

namespace fairlead::shell {

/// The class files of a SPARK_HOME that tell how its messages are written: those of spark-core and of Scala. A class is
/// read when it is asked for.
class SparkClassFiles {
 public:
  const std::string& release() const { return release_; }  // "3.5.9, Scala 2.12"
  bool Has(const std::string& name) const;
  wire::java_stream::ClassSource source() const;  // lives no longer than this

 private:
  struct JarCloser {
    void operator()(zip* jar) const;
  };
  using Jar = std::unique_ptr<zip, JarCloser>;
  friend base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home);

  std::string release_;
  std::vector<Jar> jars_;
  mutable std::map<std::string, std::string, std::less<>> read_;  // bytes by class
};
base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home);

/// What Spark is installed in a directory, from the classes in its jars/spark-core_*.jar and jars/scala-library-*.jar;
/// no Java is started.
base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home);

}  // namespace fairlead::shell

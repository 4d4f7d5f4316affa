#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::shell {

/// Keys of Spark ("spark.deploy.defaultCores"), and of Fairlead, and their values.
using SparkProperties = std::map<std::string, std::string>;

/// What a Standalone daemon of Spark reads: the -D options in the environment variables named, then what those do not
/// say in `file`, or without one in spark-defaults.conf of SPARK_CONF_DIR or `spark_home`/conf, which may be missing.
base::Result<SparkProperties> ReadSparkProperties(const std::string& file, const std::string& spark_home,
                                                  const std::vector<const char*>& variables);

/// The keys in the -D options of a command line; quotes and backslashes as a shell takes them.
SparkProperties PropertiesInJavaOptions(std::string_view options);

/// Reads values; after the first that is wrong error() names its key, what it says and what it may say.
class SparkKeys {
 public:
  explicit SparkKeys(const SparkProperties& properties) : properties_(properties) {}

  std::string Text(const std::string& key, const std::string& otherwise) const;
  bool Flag(const std::string& key, bool otherwise);
  int64_t Number(const std::string& key, int64_t otherwise, int64_t min, int64_t max);
  /// "60s", "1min"; a bare number is seconds.
  int64_t Seconds(const std::string& key, int64_t otherwise);
  void Refuse(const std::string& key, const std::string& why);
  /// A key of Fairlead ("fairlead.tls.key"), also with "spark." before it: programs of Spark pass over keys without
  /// that. "": it is not there.
  std::string Own(const std::string& key) const;
  /// fairlead.callers.uids.
  std::vector<std::string> Callers() const;
  bool Has(const std::string& key) const { return properties_.count(key) != 0; }
  const std::string& error() const { return error_; }

 private:
  const SparkProperties& properties_;
  std::string error_;
};

/// An environment variable, or "".
std::string Variable(const char* name);

}  // namespace fairlead::shell

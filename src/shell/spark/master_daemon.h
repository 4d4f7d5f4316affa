#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/base/logging.h"
#include "shell/base/settings.h"

namespace fairlead::shell {

/// What `fairlead spark-master` was told on its command line; it goes over the keys fairlead.spark-master.*.
struct SparkMasterOptions {
  SettingsSource settings;
  std::vector<std::string> spark_homes;
  std::string host;
  std::optional<uint16_t> port;
  std::optional<uint16_t> web_port;   // of a Standalone Master's page
  std::optional<uint16_t> rest_port;  // of drivers by REST
  std::string profile;                // places a Standalone Master's executors; empty: Spark's rules
  std::string properties_file;        // spark-defaults.conf of a Standalone Master
  std::string queue;
  std::string state;  // directory
  LogOptions log;
};

/// `fairlead spark-master`: with Hadoop's configuration on the command line a door to its cluster, without a Standalone
/// Master with Workers behind it. Runs until SIGTERM or SIGINT. Gives the exit status: 0 ended on request, 1 could not
/// start, 2 the configuration was refused (the reason is on stderr).
int RunSparkMaster(const SparkMasterOptions& options);

}  // namespace fairlead::shell

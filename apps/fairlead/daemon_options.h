#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "env/log.h"

namespace fairlead::apps {

inline const std::map<std::string, env::LogLevel> kLogLevels = {{"debug", env::LogLevel::kDebug},
                                                                {"info", env::LogLevel::kInfo},
                                                                {"warn", env::LogLevel::kWarn},
                                                                {"error", env::LogLevel::kError}};

template <class Options>
void AddLogOptions(CLI::App& daemon, Options& options) {
  daemon.add_option("--log-file", options.log_file, "log here, rotated (default: stderr)");
  daemon.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->transform(CLI::CheckedTransformer(kLogLevels, CLI::ignore_case).description(""));  // else --help shows numbers
}

/// Options of a daemon that reads Hadoop's configuration.
template <class Options>
void AddDaemonOptions(CLI::App& daemon, Options& options) {
  daemon.add_option("--hadoop-conf", options.settings.hadoop_conf,
                    "directory of Hadoop's files: core-site.xml, yarn-site.xml, ...");
  daemon.add_option("--config", options.settings.yaml, "Fairlead's own YAML file; goes over Hadoop's files");
  daemon.add_option("--set", options.settings.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  AddLogOptions(daemon, options);
}

}  // namespace fairlead::apps

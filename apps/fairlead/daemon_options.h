#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "shell/base/logging.h"

namespace fairlead::apps {

inline const std::map<std::string, env::LogLevel> kLogLevels = {{"debug", env::LogLevel::kDebug},
                                                                {"info", env::LogLevel::kInfo},
                                                                {"warn", env::LogLevel::kWarn},
                                                                {"error", env::LogLevel::kError}};

/// --log-file and how much is kept of it.
inline void AddLogFileOptions(CLI::App& daemon, shell::LogOptions& log) {
  daemon.add_option("--log-file", log.file, "log here, rotated (default: stderr)");
  daemon.add_option("--log-file-mib", log.file_mib, "size in MiB at which it is set aside, rm.log as rm.1.log (64)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20));
  daemon.add_option("--log-files-kept", log.files_kept, "how many that were set aside are kept (5)")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1000}));
}

inline void AddLogOptions(CLI::App& daemon, shell::LogOptions& log) {
  AddLogFileOptions(daemon, log);
  daemon.add_option("--log-level", log.level, "debug, info, warn or error")
      ->transform(CLI::CheckedTransformer(kLogLevels, CLI::ignore_case).description(""));  // else --help shows numbers
}

/// Options of a daemon that reads Hadoop's configuration.
template <class Options>
void AddDaemonOptions(CLI::App& daemon, Options& options) {
  daemon.add_option("--hadoop-conf", options.settings.hadoop_conf,
                    "directory of Hadoop's files: core-site.xml, yarn-site.xml, ...");
  daemon.add_option("--config", options.settings.yaml, "Fairlead's own YAML file; goes over Hadoop's files");
  daemon.add_option("--set", options.settings.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  AddLogOptions(daemon, options.log);
}

}  // namespace fairlead::apps

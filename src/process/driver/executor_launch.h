#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "process/application/yarn_master.h"
#include "wire/yarn/records.h"

namespace fairlead::process::driver {

/// How executors are started.
struct ExecutorLaunch {
  int64_t memory_mib = 1024;
  int32_t cores = 1;
  std::string job_url;  // file:// URL of the job binary
  int64_t job_size = 0;
  int64_t job_timestamp_ms = 0;
  std::map<std::string, std::string> environment;
  std::vector<std::string> command;  // before the executor's id
  std::string tokens;                // credentials blob
  /// The auxiliary service spark_shuffle shall serve the executors' files, on nodes that have it.
  bool shuffle_service = false;
  std::string shuffle_secret;  // that they show it; empty: none
  /// Environment besides, on nodes that do not.
  std::map<std::string, std::string> environment_without_service;
};

/// What runs in the container of one executor.
wire::yarn::ContainerLaunchContextProto LaunchContext(const ExecutorLaunch& launch,
                                                      const application::ExecutorContainer& executor);

}  // namespace fairlead::process::driver

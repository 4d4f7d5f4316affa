#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/base/logging.h"

namespace fairlead::shell {

/// What `fairlead spark-worker` was told on its command line; it goes over SPARK_WORKER_* in the environment.
struct SparkWorkerOptions {
  std::string masters;  // spark://HOST:PORT[,HOST:PORT]
  std::string spark_home;
  std::string host;
  std::optional<uint16_t> port;
  std::optional<uint16_t> web_port;
  std::optional<int32_t> cores;
  std::string memory;  // "4g"
  std::string work_directory;
  std::string properties_file;
  LogOptions log;
};

/// `fairlead spark-worker`: a Standalone Worker, until SIGTERM or SIGINT. Gives the exit status: 0 ended on request, 1
/// could not start or was given up by its masters, 2 the configuration was refused (the reason is on stderr).
int RunSparkWorker(const SparkWorkerOptions& options);

}  // namespace fairlead::shell

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "env/net.h"
#include "process/http/token_filter.h"
#include "process/spark_worker/spark_worker.h"
#include "shell/spark/spark_properties.h"
#include "shell/spark/worker_daemon.h"
#include "shell/tls/spark_tls.h"

namespace fairlead::shell {

struct WorkerDaemonSettings {
  endpoints::spark::SparkBuild build;
  process::spark_worker::SparkWorkerSettings worker;
  env::Endpoint web;
  int port_retries = 0;                                   // spark.port.maxRetries
  std::optional<process::http::TokenFilter> page_filter;  // spark.ui.filters
  std::optional<PageTls> tls;                             // spark.ssl.standalone.*
  SparkProperties properties;
  std::vector<std::string> callers;  // fairlead.callers.uids, and this user, as who executors run
  std::vector<std::string> warnings;
};

/// What Spark's own Worker would take from its flags, environment and properties; docs/configuration.md has the keys.
base::Result<WorkerDaemonSettings> ReadSparkWorkerSettings(const SparkWorkerOptions& options);
/// The same of this Spark; `keys` reads `properties` in the place of its files and variables.
base::Result<WorkerDaemonSettings> ReadSparkWorkerSettings(const SparkWorkerOptions& options,
                                                           endpoints::spark::SparkBuild build,
                                                           const SparkProperties& properties, SparkKeys& keys);

}  // namespace fairlead::shell

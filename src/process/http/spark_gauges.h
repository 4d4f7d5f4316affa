#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "process/http/http.h"

namespace fairlead::process::http {

/// Numbers of a Standalone daemon under the names that Spark's dashboards read, by name.
using SparkGauges = std::vector<std::pair<std::string, int64_t>>;

/// What org.apache.spark.metrics.sink.PrometheusServlet answers: each number twice, as there.
Response SparkPrometheus(const SparkGauges& gauges);

}  // namespace fairlead::process::http

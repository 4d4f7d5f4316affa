#pragma once

#include <string>

#include "env/disk.h"
#include "process/http/http.h"
#include "process/spark_worker/spark_worker.h"

namespace fairlead::process::spark_worker {

/// The JSON of the worker's page (org.apache.spark.deploy.JsonProtocol.writeWorkerState).
std::string WorkerJson(const SparkWorker& worker);

/// `/metrics/json/`: the gauges of Spark's WorkerSource.
std::string WorkerGauges(const SparkWorker& worker);
/// `/metrics`, for Prometheus.
http::Response WorkerMetrics(const SparkWorker& worker);

/// A part of a log as Spark's page gives it (org.apache.spark.deploy.worker.ui.LogPage.renderLog): of an executor
/// (appId, executorId) or a driver (driverId), logType stdout or stderr, with its rolled files, `offset` and
/// `byteLength` in bytes, without an offset the end of it. At most 1 MiB at once.
http::Response LogPart(const SparkWorker& worker, env::Disk& disk, const http::Request& request);

/// The worker's page and all of the above by their paths: /, /json/, /metrics, /metrics/json/, /log/, /logPage/;
/// /healthz, and /readyz: whether executors may be started here.
http::Response WorkerPage(const SparkWorker& worker, env::Disk& disk, const http::Request& request);

}  // namespace fairlead::process::spark_worker

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "env/alive.h"
#include "env/disk.h"
#include "env/loop.h"
#include "process/http/http.h"
#include "process/http/metrics.h"
#include "process/http/server.h"
#include "process/spark_worker/log_files.h"
#include "process/spark_worker/spark_worker.h"

namespace fairlead::process::spark_worker {

/// The JSON of the worker's page (org.apache.spark.deploy.JsonProtocol.writeWorkerState).
std::string WorkerJson(const SparkWorker& worker);

/// What Spark's JSON leaves out: of each executor and driver, running and ended, its state, size, times and end:
/// `/fairlead/runs`.
std::string WorkerRunsJson(const SparkWorker& worker);

/// `/metrics/json/`: the gauges of Spark's WorkerSource.
std::string WorkerGauges(const SparkWorker& worker);
/// `/metrics`, for Prometheus.
http::Response WorkerMetrics(const SparkWorker& worker, const http::WebRefusals& web);

/// `/fairlead/notices`: what an operator should know, a sentence each.
std::string WorkerNotices(const SparkWorker& worker);

/// The worker's page and all of the above by their paths: /, /json/, /metrics, /metrics/json/, /log/, /logPage/;
/// /healthz, and /readyz: whether executors may be started here. On the loop's thread.
class WorkerPages {
 public:
  /// `loop` and `disk` outlive it. `web_refusals`: of the page's port.
  WorkerPages(env::Loop& loop, env::Disk& disk, std::function<http::WebRefusals()> web_refusals)
      : loop_(loop), disk_(disk), web_refusals_(std::move(web_refusals)) {}

  void Handle(const SparkWorker& worker, const http::Request& request, const http::Server::Reply& reply);

 private:
  /// A part of a log as Spark's page gives it (org.apache.spark.deploy.worker.ui.LogPage.renderLog): of an executor
  /// (appId, executorId) or a driver (driverId), logType stdout or stderr, with its rolled files, `offset` and
  /// `byteLength` in bytes, without an offset the end of it. At most 1 MiB at once. Read off the loop, one after the
  /// other; beyond some that wait they are refused.
  struct LogOrder {
    std::string root;
    std::string directory;  // below it, with a "/" at its end
    std::string name;
    std::optional<int64_t> offset;
    int64_t wanted = 0;
    http::Server::Reply reply;
  };
  void Log(const SparkWorker& worker, const http::Request& request, const http::Server::Reply& reply);
  void ReadNext();
  static http::Response Read(env::Disk& disk, const LogOrder& order, LogFiles::Lengths& lengths);

  env::Loop& loop_;
  env::Disk& disk_;
  const std::function<http::WebRefusals()> web_refusals_;
  std::deque<LogOrder> orders_;                                                         // the first one is being read
  std::shared_ptr<LogFiles::Lengths> lengths_ = std::make_shared<LogFiles::Lengths>();  // of who reads
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker

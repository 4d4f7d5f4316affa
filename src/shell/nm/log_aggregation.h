#pragma once

#include <memory>
#include <string>

#include "env/loop.h"
#include "process/nm/ports.h"

namespace fairlead::shell {

struct LogAggregationOptions {
  std::string root;             // yarn.nodemanager.remote-app-log-dir, a path of a file system that all nodes see
  std::string suffix = "logs";  // yarn.nodemanager.remote-app-log-dir-suffix
};

/// Copies the logs of an application on this node into one TFile below
/// ROOT/USER/bucket-SUFFIX-tfile/BUCKET/APPLICATION/NODE, where `yarn logs` looks for them (Hadoop:
/// LogAggregationTFileController, AggregatedLogFormat).
std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, LogAggregationOptions options);

/// The work itself, for tests; "" or why nothing was written.
std::string AggregateLogs(const process::nm::AggregationPlan& plan, const LogAggregationOptions& options);

}  // namespace fairlead::shell

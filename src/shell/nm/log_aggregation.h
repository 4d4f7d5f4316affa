#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/errand.h"
#include "shell/nm/errands.h"

namespace fairlead::shell {

/// Copies the logs of an application on this node into one TFile or IFile below
/// ROOT/USER/bucket-SUFFIX/BUCKET/APPLICATION, where `yarn logs` looks for them (Hadoop: LogAggregationTFileController,
/// AggregatedLogFormat, LogAggregationIndexedFileController): HOST_PORT, or HOST_PORT_TIME for each roll of an
/// application that rolls. Where containers run as their submitters the user reads and writes: ROOT must let everybody
/// make a directory in it (mode 1777), as it is made where it is missing. In HDFS all is done as the submitter, by
/// WebHDFS; the file grows in a log directory of this node first, without a name.
std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, Errands& errands,
                                                              LogAggregationOptions options);

/// The errand's work: what of the plan could not be obeyed, or ""; an Error: why nothing was written.
base::Result<std::string> AggregateLogs(const process::nm::AggregationPlan& plan, const LogAggregationOptions& options);

}  // namespace fairlead::shell

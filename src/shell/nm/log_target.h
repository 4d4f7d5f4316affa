#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/nm/ports.h"
#include "shell/nm/errand.h"

namespace fairlead::shell {

/// Where one application's gathered logs are: ROOT/USER/bucket-SUFFIX/BUCKET/APPLICATION, in a file system that this
/// machine mounts or in HDFS (LogAggregationUtils.getRemoteAppLogDir).
class LogTarget {
 public:
  using Write = std::function<base::Status(int file)>;
  virtual ~LogTarget() = default;
  virtual base::Result<bool> Has(const std::string& name) const = 0;
  /// A file with what `write` gives, whole or not at all; a file of this name is replaced.
  virtual base::Status Put(const std::string& name, const Write& write) const = 0;
  /// Removes a file; one that is not there is success.
  virtual base::Status Remove(const std::string& name) const = 0;
};

/// That directory, below the user's own.
std::string LogDirectory(const model::ApplicationId& app, const LogAggregationOptions& options);
/// Makes the directory where it is missing. Fails where the user's directory belongs to somebody else.
base::Result<std::unique_ptr<LogTarget>> OpenLogTarget(const process::nm::AggregationPlan& plan,
                                                       const LogAggregationOptions& options);

}  // namespace fairlead::shell

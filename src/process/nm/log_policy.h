#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"
#include "process/nm/ports.h"

// What an application says of its logs (Hadoop: LogAggregationContext, ContainerLogAggregationPolicy).

namespace fairlead::process::nm {

/// Which containers' logs are gathered.
struct LogPolicy {
  enum class Kind : uint8_t {
    kAll,
    kMasterOnly,
    kFailedOrKilled,
    kFailed,
    kMasterOrFailed,
    kNone,
    kSample,
    kLimitSize,
  };
  Kind kind = Kind::kAll;
  float sample_rate = 0.2F;  // of kSample: of workers that ended well, beyond the first ones
  int32_t sample_min = 20;

  /// Of a container that ended with `exit_status`; one that runs counts as one that ended with 0.
  bool Takes(const model::ContainerId& id, bool is_master, int32_t exit_status) const;
};

/// A policy by the name of its Java class, with its parameters ("SR:0.5,MIN:50"; those that cannot be read leave the
/// default, as in Hadoop). Fails for a class that is none of Hadoop's.
base::Result<LogPolicy> ReadLogPolicy(std::string_view class_name, std::string_view parameters);

struct LogContext {
  LogPatterns at_end;
  LogPatterns rolled;
  std::string policy_class;  // empty: the node's
  std::string policy_parameters;
  bool has_parameters = false;
  bool rolls() const { return !rolled.include.empty(); }
};
/// From a LogAggregationContextProto; bytes that are none say nothing.
LogContext ReadLogContext(std::string_view proto);

}  // namespace fairlead::process::nm

#include "process/nm/log_policy.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "model/exit_status.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/records.h"

namespace fairlead::process::nm {

namespace {

constexpr std::string_view kPackage = "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation.";
constexpr std::string_view kEnding = "LogAggregationPolicy";
constexpr std::pair<std::string_view, LogPolicy::Kind> kPolicies[] = {
    {"AllContainer", LogPolicy::Kind::kAll},
    {"AMOnly", LogPolicy::Kind::kMasterOnly},
    {"FailedOrKilledContainer", LogPolicy::Kind::kFailedOrKilled},
    {"FailedContainer", LogPolicy::Kind::kFailed},
    {"AMOrFailedContainer", LogPolicy::Kind::kMasterOrFailed},
    {"NoneContainer", LogPolicy::Kind::kNone},
    {"SampleContainer", LogPolicy::Kind::kSample},
    {"LimitSizeContainer", LogPolicy::Kind::kLimitSize},
};

constexpr int32_t kKilledForExcessLogs = -109;

bool HasFailed(int32_t exit_status) { return exit_status != 0 && !model::EndedBySignal(exit_status); }

/// ContainerId.hashCode of Hadoop, over those of its attempt and application.
int32_t JavaHash(const model::ContainerId& id) {
  const auto fold = [](int64_t value) {
    return static_cast<uint32_t>(static_cast<uint64_t>(value) ^ (static_cast<uint64_t>(value) >> 32));
  };
  const model::ApplicationId& app = id.attempt.app;
  uint32_t hash = 371237U * (371237U * 6521U + fold(app.cluster_timestamp)) + static_cast<uint32_t>(app.number);
  hash = 347671U * (347671U * 5501U + hash) + static_cast<uint32_t>(id.attempt.attempt);
  return static_cast<int32_t>(31U * fold(id.value) + hash);
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <class Number>
void ReadWithin(std::string_view text, Number low, Number high, Number& out) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= low && value <= high) out = value;
}

void ReadParameters(std::string_view parameters, LogPolicy& policy) {
  while (!parameters.empty()) {
    const size_t comma = parameters.find(',');
    const std::string_view one = Trimmed(parameters.substr(0, comma));
    parameters.remove_prefix(comma == std::string_view::npos ? parameters.size() : comma + 1);
    const size_t colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view value = one.substr(colon + 1);
    if (one.substr(0, colon) == "SR") ReadWithin(value, 0.0F, 1.0F, policy.sample_rate);
    if (one.substr(0, colon) == "MIN") ReadWithin(value, 0, INT32_MAX, policy.sample_min);
  }
}

}  // namespace

bool LogPolicy::Takes(const model::ContainerId& id, bool is_master, int32_t exit_status) const {
  switch (kind) {
    case Kind::kAll:
      return true;
    case Kind::kMasterOnly:
      return is_master;
    case Kind::kFailedOrKilled:
      return exit_status != 0;
    case Kind::kFailed:
      return HasFailed(exit_status);
    case Kind::kMasterOrFailed:
      return is_master || HasFailed(exit_status);
    case Kind::kNone:
      return false;
    case Kind::kLimitSize:
      return exit_status != kKilledForExcessLogs;
    case Kind::kSample:
      break;
  }
  // SampleContainerLogAggregationPolicy: containers count from 1, the master, within an epoch.
  if (is_master || exit_status != 0 || id.sequence() < int64_t{sample_min} + 2) return true;
  return sample_rate != 0 && std::fmod(static_cast<float>(JavaHash(id)), 1 / sample_rate) == 0;
}

base::Result<LogPolicy> ReadLogPolicy(std::string_view class_name, std::string_view parameters) {
  for (const auto& [name, kind] : kPolicies) {
    if (class_name != std::string(kPackage) + std::string(name) + std::string(kEnding)) continue;
    LogPolicy policy;
    policy.kind = kind;
    ReadParameters(parameters, policy);
    return policy;
  }
  return base::Error{std::string(class_name) + " is no log aggregation policy that is known here; write one of " +
                     std::string(kPackage) +
                     "{AllContainer, AMOnly, FailedOrKilledContainer, FailedContainer, AMOrFailedContainer, "
                     "NoneContainer, SampleContainer, LimitSizeContainer}" +
                     std::string(kEnding)};
}

LogContext ReadLogContext(std::string_view proto) {
  LogContext out;
  wire::yarn::LogAggregationContextProto context;
  if (!context.ParseFrom(proto, wire::hadoop_rpc::kKept)) return out;
  // The defaults of the message hold for nobody: Hadoop asks for what is there.
  out.at_end = {context.include_pattern.value_or(""), context.exclude_pattern.value_or("")};
  out.rolled = {context.rolled_logs_include_pattern.value_or(""), context.rolled_logs_exclude_pattern.value_or("")};
  out.policy_class = context.log_aggregation_policy_class_name.value_or("");
  out.has_parameters = context.log_aggregation_policy_parameters.has_value();
  out.policy_parameters = context.log_aggregation_policy_parameters.value_or("");
  return out;
}

}  // namespace fairlead::process::nm

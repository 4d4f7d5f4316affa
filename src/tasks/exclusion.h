#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "tasks/config.h"
#include "tasks/set_events.h"

// Executors and hosts that are left out after failures (Spark: TaskSetExcludelist, HealthTracker). Small maps in order
// of number: failures are rare.

namespace fairlead::tasks {

/// The failures of one executor in one task set: task index -> time of its last failure.
struct ExecutorFailures {
  HostNumber host = 0;
  struct Failures {
    int32_t count = 0;
    base::Instant last;
  };
  std::map<int32_t, Failures> by_task;
};

/// What is excluded within one task set.
class SetExclusion {
 public:
  explicit SetExclusion(const ExclusionConfig& config) : config_(config) {}

  bool any() const { return !failures_.empty(); }
  bool ExecutorExcludedForTask(ExecutorNumber executor, int32_t index) const;
  bool HostExcludedForTask(HostNumber host, int32_t index) const;
  bool TaskExcluded(ExecutorNumber executor, HostNumber host, int32_t index) const {
    return HostExcludedForTask(host, index) || ExecutorExcludedForTask(executor, index);
  }
  bool ExecutorExcluded(ExecutorNumber executor) const { return executors_.contains(executor); }
  bool HostExcluded(HostNumber host) const { return hosts_.contains(host); }

  /// A failure that counts. What becomes excluded for the whole set goes to `out`.
  void Fail(base::Instant now, HostNumber host, ExecutorNumber executor, int32_t index, const std::string& reason,
            SetId set, std::vector<SetEffect>& out);

  const std::map<ExecutorNumber, ExecutorFailures>& failures() const { return failures_; }
  const std::string& latest_reason() const { return latest_reason_; }

 private:
  const ExclusionConfig& config_;
  std::map<ExecutorNumber, ExecutorFailures> failures_;
  std::map<HostNumber, std::set<ExecutorNumber>> executors_with_failures_;
  std::map<HostNumber, std::set<int32_t>> tasks_excluded_on_host_;
  std::set<ExecutorNumber> executors_;
  std::set<HostNumber> hosts_;
  std::string latest_reason_;
};

/// What is excluded for the whole application, each for a time.
class HealthTracker {
 public:
  explicit HealthTracker(const ExclusionConfig& config) : config_(config) {}

  bool ExecutorExcluded(ExecutorNumber executor) const { return executors_.contains(executor); }
  bool HostExcluded(HostNumber host) const { return hosts_.contains(host); }
  bool any() const { return !executors_.empty() || !hosts_.empty(); }
  std::vector<HostNumber> ExcludedHosts() const;

  /// Ends exclusions that are over.
  void Expire(base::Instant now);
  /// When an exclusion ends next; Instant::Max() for never.
  base::Instant next_expiry() const { return next_expiry_; }

  /// A set has succeeded although these failures happened: they count against the executors.
  void SetSucceeded(base::Instant now, SetId set, const std::map<ExecutorNumber, ExecutorFailures>& failures,
                    std::vector<SetEffect>& out);
  void ExecutorRemoved(ExecutorNumber executor) { failures_.erase(executor); }

 private:
  struct Failure {
    base::Instant expiry;
  };
  struct ExcludedExecutor {
    HostNumber host = 0;
    base::Instant expiry;
  };
  void UpdateNextExpiry();

  const ExclusionConfig& config_;
  std::map<ExecutorNumber, std::vector<Failure>> failures_;
  std::map<ExecutorNumber, ExcludedExecutor> executors_;
  std::map<HostNumber, base::Instant> hosts_;
  std::map<HostNumber, std::set<ExecutorNumber>> excluded_on_host_;  // also executors that are gone
  base::Instant next_expiry_ = base::Instant::Max();
};

}  // namespace fairlead::tasks

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"
#include "model/resources.h"
#include "process/application/yarn_master.h"

namespace fairlead::process::spark_master {

struct PolicySettings {
  /// Cores of an application that does not set spark.cores.max (spark.deploy.defaultCores).
  int32_t default_cores = 8;
  /// Executors that fail one after the other until the application is given up (spark.deploy.maxExecutorRetries);
  /// negative: never.
  int32_t failures_max = 10;
  /// An executor that lived for this long did not fail to start.
  base::Duration steady_after = base::Duration::Seconds(60);
};

// What is to be done.

/// So many executors of a profile there shall be.
struct SetTarget {
  int32_t profile = 0;
  model::Resources size;
  int32_t executors = 0;
};
struct Release {
  std::string executor;
};
/// The application can go no further.
struct GiveUp {
  std::string reason;
};
using PolicyEffect =
    std::variant<SetTarget, Release, GiveUp, endpoints::spark::ExecutorAdded, endpoints::spark::ExecutorUpdated>;

/// Which executors one application shall have, and what its driver is told of them: what
/// org.apache.spark.deploy.master.Master decides, with containers in the place of workers. Pure: events in, effects
/// out.
class ExecutorPolicy {
 public:
  using Effects = std::vector<PolicyEffect>;

  ExecutorPolicy(PolicySettings settings, const endpoints::spark::ApplicationDescription& application);

  /// The targets of a fresh application.
  void Begin(Effects& effects) const;
  /// RequestExecutors: what there shall be of each profile in all. False: nothing was changed.
  bool OnRequest(const endpoints::spark::RequestExecutors& request, Effects& effects);
  /// KillExecutors: gives them back; they are replaced when the limit is above what is left. Unknown ones are left out.
  bool OnKill(const endpoints::spark::KillExecutors& request, Effects& effects);
  /// A container was granted; said once for each.
  void OnGranted(const application::ExecutorContainer& executor, Effects& effects);
  /// The node has started it.
  void OnStarted(base::Instant now, const application::ExecutorContainer& executor, Effects& effects);
  void OnEnded(base::Instant now, const application::ExecutorEnd& end, Effects& effects);

  /// The profile of a granted executor, with nothing left unsaid; the default one when it is not known.
  const endpoints::spark::ResourceProfile& ProfileOf(int32_t id) const;
  int32_t CoresOf(int32_t profile) const { return ProfileOf(profile).cores; }
  size_t executors() const { return executors_.size(); }
  /// What was last requested of each profile, for OnRequest after a restart.
  std::vector<std::pair<endpoints::spark::ResourceProfile, int32_t>> totals() const;

 private:
  struct Executor {
    int32_t profile = 0;
    bool running = false;
    bool killed = false;  // by the driver
    base::Instant since;
  };
  struct Profile {
    endpoints::spark::ResourceProfile profile;
    int32_t limit = 0;
  };
  void SetTargets(Effects& effects) const;
  bool CountFailure(base::Instant now, const Executor& executor, const application::ExecutorEnd& end);

  const PolicySettings settings_;
  const int32_t cores_max_;
  const endpoints::spark::ResourceProfile default_profile_;
  std::map<int32_t, Profile> profiles_;
  std::map<std::string, Executor> executors_;
  int32_t failures_ = 0;
};

/// What the container of an executor of a profile that says all needs: heap, memory outside of it, and
/// spark.executor.memoryOverhead, by default a tenth of the heap and at least 384 MiB, as Spark asks YARN for.
model::Resources ContainerSize(const endpoints::spark::ResourceProfile& profile);

/// What the driver is told of the end of an executor that it did not end itself.
endpoints::spark::ExecutorUpdated EndOf(const application::ExecutorEnd& end);

}  // namespace fairlead::process::spark_master

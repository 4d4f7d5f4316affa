#include "process/spark_master/executor_policy.h"

#include <algorithm>

#include "process/spark_master/stored_application.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

constexpr int64_t kOverheadMibLeast = 384;
/// Of one application.
constexpr size_t kProfilesMax = 1000;

/// org.apache.spark.executor.ExecutorExitCode.HEARTBEAT_FAILURE: the only kind of exit without a lost host that a
/// driver does not hold against the tasks that ran.
constexpr int32_t kNotTheApplicationsFault = 56;

std::string With(const std::string& sentence, const std::string& diagnostics) {
  return diagnostics.empty() ? sentence : sentence + ": " + diagnostics;
}

/// Ids are numbers: given by the master, or checked when they were read.
int32_t IdOf(const std::string& executor) { return NumberOfExecutor(executor).value_or(0); }

/// The profile with what it does not say taken from `otherwise`, as Spark's Master and its YARN allocator do.
es::ResourceProfile Completed(es::ResourceProfile profile, const es::ResourceProfile& otherwise) {
  if (profile.cores == 0) profile.cores = otherwise.cores;
  if (profile.memory_mib == 0) profile.memory_mib = otherwise.memory_mib;
  if (profile.off_heap_mib == 0) profile.off_heap_mib = otherwise.off_heap_mib;
  if (profile.pyspark_mib == 0) profile.pyspark_mib = otherwise.pyspark_mib;
  if (!profile.overhead_mib) profile.overhead_mib = otherwise.overhead_mib;
  return profile;
}

/// What an executor gets of which the driver says nothing: one core, where a Standalone worker gives it all it has, and
/// the default of spark.executor.memory.
es::ResourceProfile Unsaid() {
  es::ResourceProfile profile;
  profile.cores = 1;
  profile.memory_mib = 1024;
  return profile;
}

}  // namespace

model::Resources ContainerSize(const es::ResourceProfile& profile) {
  const int64_t overhead = profile.overhead_mib.value_or(std::max(kOverheadMibLeast, profile.memory_mib / 10));
  const int64_t mib = profile.memory_mib + profile.off_heap_mib + profile.pyspark_mib + overhead;
  return model::Resources::Of(mib, profile.cores);
}

es::ExecutorUpdated EndOf(const application::ExecutorEnd& end) {
  es::ExecutorUpdated update;
  update.id = IdOf(end.executor.executor_id);
  const std::string& host = end.executor.node.host;
  if (end.node_lost) {
    update.state = es::ExecutorState::kLost;
    update.message = With("node " + host + " is lost", end.diagnostics);
    update.worker_host = host;
  } else if (end.IsClustersDoing()) {
    update.state = es::ExecutorState::kKilled;
    update.message = With("taken by the cluster from " + host, end.diagnostics);
    update.exit_status = kNotTheApplicationsFault;
  } else if (end.exit_status >= 0) {
    update.state = es::ExecutorState::kExited;
    update.message = With("Command exited with code " + std::to_string(end.exit_status), end.diagnostics);
    update.exit_status = end.exit_status;
  } else {
    update.state = es::ExecutorState::kFailed;
    update.message = With("container failed on " + host, end.diagnostics);
  }
  return update;
}

ExecutorPolicy::ExecutorPolicy(PolicySettings settings, const es::ApplicationDescription& application)
    : settings_(settings),
      cores_max_(application.cores_max.value_or(settings.default_cores)),
      default_profile_(Completed(application.profile, Unsaid())) {
  profiles_[default_profile_.id] = {default_profile_, application.initial_executor_limit.value_or(INT32_MAX)};
}

const es::ResourceProfile& ExecutorPolicy::ProfileOf(int32_t id) const {
  const auto found = profiles_.find(id);
  return found != profiles_.end() ? found->second.profile : default_profile_;
}

std::vector<std::pair<es::ResourceProfile, int32_t>> ExecutorPolicy::totals() const {
  std::vector<std::pair<es::ResourceProfile, int32_t>> totals;
  for (const auto& [id, wanted] : profiles_) totals.emplace_back(wanted.profile, wanted.limit);
  return totals;
}

void ExecutorPolicy::Begin(Effects& effects) const { SetTargets(effects); }

void ExecutorPolicy::SetTargets(Effects& effects) const {
  // Executors that are there keep their cores; what is left goes to the profiles in the order of their ids.
  std::map<int32_t, int32_t> present;
  int64_t cores_left = cores_max_;
  for (const auto& [id, executor] : executors_) {
    ++present[executor.profile];
    cores_left -= CoresOf(executor.profile);
  }
  for (const auto& [id, wanted] : profiles_) {
    const int64_t cores = wanted.profile.cores;
    const int64_t more =
        std::clamp<int64_t>(wanted.limit - int64_t{present[id]}, 0, std::max<int64_t>(0, cores_left) / cores);
    cores_left -= more * cores;
    const int64_t target = std::min<int64_t>(wanted.limit, present[id] + more);
    effects.emplace_back(SetTarget{id, ContainerSize(wanted.profile), static_cast<int32_t>(target)});
  }
}

bool ExecutorPolicy::OnRequest(const es::RequestExecutors& request, Effects& effects) {
  for (const auto& [profile, total] : request.totals) {
    const auto known = profiles_.find(profile.id);
    // A profile never changes; custom resources (GPUs) have no counterpart in the container's size.
    if (!profile.other.empty() || (known == profiles_.end() && profiles_.size() >= kProfilesMax)) return false;
  }
  for (const auto& [profile, total] : request.totals) {
    profiles_.try_emplace(profile.id, Profile{Completed(profile, default_profile_), 0}).first->second.limit = total;
  }
  SetTargets(effects);
  return true;
}

bool ExecutorPolicy::OnKill(const es::KillExecutors& request, Effects& effects) {
  for (const std::string& id : request.executors) {
    const auto found = executors_.find(id);
    if (found == executors_.end() || found->second.killed) continue;
    found->second.killed = true;
    effects.emplace_back(Release{id});
  }
  return true;
}

void ExecutorPolicy::OnGranted(const application::ExecutorContainer& executor, Effects& effects) {
  if (!executors_.try_emplace(executor.executor_id, Executor{executor.kind, false, false, {}}).second) return;
  const es::ResourceProfile& profile = ProfileOf(executor.kind);
  effects.emplace_back(es::ExecutorAdded{IdOf(executor.executor_id), executor.container_id, executor.node.ToString(),
                                         profile.cores,
                                         static_cast<int32_t>(std::min<int64_t>(profile.memory_mib, INT32_MAX))});
}

void ExecutorPolicy::OnStarted(base::Instant now, const application::ExecutorContainer& executor, Effects& effects) {
  const auto found = executors_.find(executor.executor_id);
  if (found == executors_.end() || found->second.running) return;
  found->second.running = true;
  found->second.since = now;
  effects.emplace_back(es::ExecutorUpdated{IdOf(executor.executor_id), es::ExecutorState::kRunning, {}, {}, {}});
}

void ExecutorPolicy::OnEnded(base::Instant now, const application::ExecutorEnd& end, Effects& effects) {
  const auto found = executors_.find(end.executor.executor_id);
  if (found == executors_.end()) return;
  const Executor executor = found->second;
  executors_.erase(found);
  if (executor.killed) {
    effects.emplace_back(es::ExecutorUpdated{
        IdOf(end.executor.executor_id), es::ExecutorState::kKilled, "given back as the driver asked", {}, {}});
  } else {
    effects.emplace_back(EndOf(end));
  }
  if (CountFailure(now, executor, end)) {
    const es::ExecutorUpdated last = EndOf(end);
    effects.emplace_back(
        GiveUp{std::to_string(failures_) + " executors failed one after the other; the last: " + *last.message});
    return;
  }
  SetTargets(effects);
}

/// Whether the application is to be given up after this end. The stock master begins to count again with every executor
/// whose process is there, and so starts for ever what crashes at once; here only one that has lived for a while
/// counts.
bool ExecutorPolicy::CountFailure(base::Instant now, const Executor& executor, const application::ExecutorEnd& end) {
  if (executor.killed || end.IsClustersDoing()) return false;
  if (end.exit_status == 0 || (executor.running && now - executor.since >= settings_.steady_after)) {
    failures_ = 0;
    return false;
  }
  ++failures_;
  const bool any_running =
      std::any_of(executors_.begin(), executors_.end(), [](const auto& other) { return other.second.running; });
  return settings_.failures_max >= 0 && failures_ >= settings_.failures_max && !any_running;
}

}  // namespace fairlead::process::spark_master

#include "tasks/exclusion.h"

#include <algorithm>

namespace fairlead::tasks {

bool SetExclusion::ExecutorExcludedForTask(ExecutorNumber executor, int32_t index) const {
  const auto it = failures_.find(executor);
  if (it == failures_.end()) return false;
  const auto task = it->second.by_task.find(index);
  const int32_t count = task == it->second.by_task.end() ? 0 : task->second.count;
  return count >= config_.task_attempts_per_executor;
}

bool SetExclusion::HostExcludedForTask(HostNumber host, int32_t index) const {
  const auto it = tasks_excluded_on_host_.find(host);
  return it != tasks_excluded_on_host_.end() && it->second.contains(index);
}

void SetExclusion::Fail(base::Instant now, HostNumber host, ExecutorNumber executor, int32_t index,
                        const std::string& reason, SetId set, std::vector<SetEffect>& out) {
  latest_reason_ = reason;
  ExecutorFailures& of_executor = failures_[executor];
  of_executor.host = host;
  ExecutorFailures::Failures& of_task = of_executor.by_task[index];
  ++of_task.count;
  of_task.last = now;

  std::set<ExecutorNumber>& on_host = executors_with_failures_[host];
  on_host.insert(executor);
  int32_t attempts_on_host = 0;
  for (const ExecutorNumber other : on_host) {
    const auto& tasks = failures_[other].by_task;
    if (const auto it = tasks.find(index); it != tasks.end()) attempts_on_host += it->second.count;
  }
  if (attempts_on_host >= config_.task_attempts_per_node) tasks_excluded_on_host_[host].insert(index);

  if (static_cast<int32_t>(of_executor.by_task.size()) < config_.stage_failed_tasks_per_executor) return;
  if (!executors_.insert(executor).second) return;
  out.push_back(SetExcluded{.executor = executor, .host = host, .set = set});
  const auto excluded_here =
      std::count_if(on_host.begin(), on_host.end(), [&](ExecutorNumber other) { return executors_.contains(other); });
  if (excluded_here >= config_.stage_failed_executors_per_node && hosts_.insert(host).second) {
    out.push_back(SetExcluded{.host = host, .set = set});
  }
}

std::vector<HostNumber> HealthTracker::ExcludedHosts() const {
  std::vector<HostNumber> hosts;
  for (const auto& [host, expiry] : hosts_) hosts.push_back(host);
  return hosts;
}

void HealthTracker::Expire(base::Instant now) {
  if (now <= next_expiry_) return;
  for (auto it = executors_.begin(); it != executors_.end();) {
    if (it->second.expiry >= now) {
      ++it;
      continue;
    }
    const auto on_host = excluded_on_host_.find(it->second.host);
    if (on_host != excluded_on_host_.end()) {
      on_host->second.erase(it->first);
      if (on_host->second.empty()) excluded_on_host_.erase(on_host);
    }
    it = executors_.erase(it);
  }
  std::erase_if(hosts_, [&](const auto& entry) { return entry.second < now; });
  UpdateNextExpiry();
}

void HealthTracker::UpdateNextExpiry() {
  next_expiry_ = base::Instant::Max();
  for (const auto& [executor, excluded] : executors_) next_expiry_ = std::min(next_expiry_, excluded.expiry);
  for (const auto& [host, expiry] : hosts_) next_expiry_ = std::min(next_expiry_, expiry);
}

void HealthTracker::SetSucceeded(base::Instant now, SetId /*set*/,
                                 const std::map<ExecutorNumber, ExecutorFailures>& failures,
                                 std::vector<SetEffect>& out) {
  for (const auto& [executor, in_set] : failures) {
    std::vector<Failure>& total = failures_[executor];
    for (const auto& [index, of_task] : in_set.by_task) total.push_back({.expiry = of_task.last + config_.timeout});
    std::erase_if(total, [&](const Failure& failure) { return failure.expiry < now; });
    const base::Instant expiry = now + config_.timeout;
    if (static_cast<int32_t>(total.size()) < config_.app_failed_tasks_per_executor || executors_.contains(executor)) {
      continue;
    }
    executors_[executor] = {.host = in_set.host, .expiry = expiry};
    failures_.erase(executor);
    UpdateNextExpiry();
    out.push_back(SetExcluded{.executor = executor, .host = in_set.host, .set = {}, .until = expiry});
    std::set<ExecutorNumber>& on_host = excluded_on_host_[in_set.host];
    on_host.insert(executor);
    if (static_cast<int32_t>(on_host.size()) >= config_.app_failed_executors_per_node &&
        !hosts_.contains(in_set.host)) {
      hosts_[in_set.host] = expiry;
      out.push_back(SetExcluded{.host = in_set.host, .set = {}, .until = expiry});
    }
  }
}

}  // namespace fairlead::tasks

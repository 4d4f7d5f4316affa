#include "process/rm/queue_activity.h"

namespace fairlead::process::rm {
namespace {

/// Of yarn.resourcemanager.metrics.runtime.buckets, Hadoop's default.
size_t BucketOf(base::WallTime since, base::WallTime now) {
  constexpr std::array<int64_t, 3> kMinutes = {60, 300, 1440};
  size_t bucket = 0;
  while (bucket < kMinutes.size() && now.ms - since.ms >= kMinutes[bucket] * 60'000) ++bucket;
  return bucket;
}

void AddTo(QueueActivity& sum, const QueueActivity& one) {
  for (size_t bucket = 0; bucket < sum.running.size(); ++bucket) sum.running[bucket] += one.running[bucket];
  sum.active_applications += one.active_applications;
  sum.active_users += one.active_users;
}

}  // namespace

void QueueActivities::Add(const AppRow& row, base::WallTime now) {
  const Attempt* attempt = row.app.current();
  const model::rm::AppState visible = Core::VisibleState(row.app);
  const bool ended = fairlead::rm::EndIsStored(visible);
  QueueActivity own;
  if (!ended && attempt != nullptr && attempt->master.id.value != 0) own.running[BucketOf(attempt->started, now)] = 1;
  if (!ended && row.pending > 0) own.active_applications = 1;
  std::string queue = FullQueueName(row.app.submission.queue);
  if (own.active_applications > 0 && users_.emplace(queue, row.app.submission.user).second) own.active_users = 1;
  while (true) {
    if (!ended) AddTo(by_queue_[queue], own);
    if (of_users_ && !fairlead::rm::IsOver(visible)) AddUser(queue, row, own);
    const size_t dot = queue.rfind('.');
    if (dot == std::string::npos) return;
    queue.resize(dot);
  }
}

void QueueActivities::AddUser(const std::string& queue, const AppRow& row, const QueueActivity& of_row) {
  const QueueUser name(queue, row.app.submission.user);
  if (by_user_.size() >= QueueCounters::kMostUsers && !by_user_.contains(name)) return;
  UserActivity& user = by_user_[name];
  AddRow(user.sums, row, 1);
  AddTo(user.activity, of_row);
  user.used += row.usage.used;
}

QueueActivity QueueActivities::Of(const std::string& queue) const {
  const auto found = by_queue_.find(queue);
  return found == by_queue_.end() ? QueueActivity{} : found->second;
}

}  // namespace fairlead::process::rm

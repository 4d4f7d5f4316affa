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

}  // namespace

void QueueActivities::Add(const AppRow& row, base::WallTime now) {
  const Attempt* attempt = row.app.current();
  const bool ended = fairlead::rm::EndIsStored(Core::VisibleState(row.app));
  const bool runs = !ended && attempt != nullptr && attempt->master.id.value != 0;
  const bool waits = !ended && row.pending > 0;
  if (!runs && !waits) return;
  std::string queue = FullQueueName(row.app.submission.queue);
  const bool new_user = waits && users_.emplace(queue, row.app.submission.user).second;
  while (true) {
    QueueActivity& activity = by_queue_[queue];
    if (runs) ++activity.running[BucketOf(attempt->started, now)];
    if (waits) ++activity.active_applications;
    if (new_user) ++activity.active_users;
    const size_t dot = queue.rfind('.');
    if (dot == std::string::npos) return;
    queue.resize(dot);
  }
}

QueueActivity QueueActivities::Of(const std::string& queue) const {
  const auto found = by_queue_.find(queue);
  return found == by_queue_.end() ? QueueActivity{} : found->second;
}

}  // namespace fairlead::process::rm

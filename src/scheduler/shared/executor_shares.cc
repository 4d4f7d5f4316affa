#include "scheduler/shared/executor_shares.h"

#include <algorithm>
#include <numeric>

namespace fairlead::scheduler {

ExecutorShares::ExecutorShares(std::span<const SharingJob> jobs, int32_t executors)
    : jobs_(jobs.begin(), jobs.end()), order_(jobs.size()), rank_(jobs.size()), first_missing_(jobs.size()) {
  const auto wanting =
      static_cast<int32_t>(std::count_if(jobs.begin(), jobs.end(), [](const SharingJob& job) { return job.wants; }));
  if (wanting > 0) share_ = executors / wanting + (executors % wanting == 0 ? 0 : 1);
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return jobs_[a].work < jobs_[b].work; });
  for (size_t i = 0; i < order_.size(); ++i) {
    rank_[order_[i]] = i;
    if (Missing(order_[i]) > 0) first_missing_ = std::min(first_missing_, i);
  }
}

int32_t ExecutorShares::Missing(size_t job) const {
  return jobs_[job].wants ? std::max(share_ - jobs_[job].executors, 0) : 0;
}

int32_t ExecutorShares::Excess(size_t job) const {
  return std::max(jobs_[job].executors - (jobs_[job].wants ? share_ : 0), 0);
}

}  // namespace fairlead::scheduler

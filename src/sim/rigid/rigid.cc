#include "sim/rigid/rigid.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace fairlead::sim {
namespace {

/// One pool of devices in virtual time.
class Pool {
 public:
  Pool(std::span<const RigidJob> jobs, int32_t devices, RigidOrder order)
      : jobs_(jobs), order_(order), devices_(devices), free_(devices), starts_(jobs.size()) {}

  std::vector<RigidStart> Run() {
    size_t next = 0;
    while (next < jobs_.size() || !running_.empty()) {
      now_ = std::numeric_limits<int64_t>::max();
      if (next < jobs_.size()) now_ = jobs_[next].submit_s;
      if (!running_.empty()) now_ = std::min(now_, running_.begin()->first);
      while (!running_.empty() && running_.begin()->first == now_) End(running_.begin());
      for (; next < jobs_.size() && jobs_[next].submit_s == now_; ++next) {
        if (jobs_[next].devices > devices_) continue;
        arrived_.insert(next);
        by_work_.emplace(WorkOf(next), next);
      }
      StartAll();
    }
    return std::move(starts_);
  }

 private:
  using Running = std::multimap<int64_t, size_t>;

  int64_t WorkOf(size_t job) const {
    return order_ == RigidOrder::kLeastWorkFirst ? jobs_[job].estimate_s * jobs_[job].devices
                                                 : static_cast<int64_t>(job);
  }

  void End(Running::iterator one) {
    const size_t job = one->second;
    running_.erase(one);
    expected_.erase({starts_[job].at_s + jobs_[job].estimate_s, job});
    free_ += jobs_[job].devices;
  }

  void Start(size_t job) {
    starts_[job].at_s = now_;
    free_ -= jobs_[job].devices;
    running_.emplace(now_ + jobs_[job].run_s, job);
    expected_.emplace(now_ + jobs_[job].estimate_s, job);
    arrived_.erase(job);
    by_work_.erase({WorkOf(job), job});
  }

  void StartAll() {
    while (!arrived_.empty() && jobs_[*arrived_.begin()].devices <= free_) Start(*arrived_.begin());
    if (arrived_.empty() || order_ == RigidOrder::kArrival || free_ == 0) return;
    const size_t first = *arrived_.begin();
    auto [latest, spare] = LatestStart(first);
    if (starts_[first].promised_s < 0) starts_[first].promised_s = latest;
    for (auto at = by_work_.begin(); at != by_work_.end() && free_ > 0;) {
      const size_t job = (at++)->second;
      const RigidJob& one = jobs_[job];
      if (job == first || one.devices > free_) continue;
      const bool ends_before = now_ + one.estimate_s <= latest;
      if (!ends_before && one.devices > spare) continue;
      if (!ends_before) spare -= one.devices;
      Start(job);
    }
  }

  /// When the job has room at the latest if estimates hold, and how many devices are then free beside it.
  std::pair<int64_t, int32_t> LatestStart(size_t job) const {
    int32_t free = free_;
    int64_t at = now_;
    for (const auto& [end, one] : expected_) {
      if (free >= jobs_[job].devices && end > at) break;
      free += jobs_[one].devices;
      at = std::max(end, now_);
    }
    return {at, free - jobs_[job].devices};
  }

  std::span<const RigidJob> jobs_;
  RigidOrder order_;
  int32_t devices_;
  int32_t free_;
  int64_t now_ = 0;
  Running running_;                                // by real end
  std::set<std::pair<int64_t, size_t>> expected_;  // by the end that the scheduler believes
  std::set<size_t> arrived_;                       // those that wait, by arrival
  std::set<std::pair<int64_t, size_t>> by_work_;   // the same, in the order in which they may pass
  std::vector<RigidStart> starts_;
};

}  // namespace

std::vector<RigidStart> RunRigid(std::span<const RigidJob> jobs, int32_t devices, RigidOrder order) {
  return Pool(jobs, devices, order).Run();
}

int32_t LargestUse(std::span<const RigidJob> jobs) {
  std::vector<std::pair<int64_t, int32_t>> changes;
  for (const RigidJob& job : jobs) {
    changes.emplace_back(job.submit_s, job.devices);
    changes.emplace_back(job.submit_s + job.run_s, -job.devices);
  }
  std::sort(changes.begin(), changes.end());  // at the same time ends come first
  int32_t use = 0;
  int32_t most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, use += change);
  return most;
}

}  // namespace fairlead::sim

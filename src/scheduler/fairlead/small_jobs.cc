#include "scheduler/fairlead/small_jobs.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace fairlead::scheduler::native {
namespace {

/// The dominant part of the cluster, in billionths.
uint64_t PartOf(const Books& books, const model::Resources& amount, uint64_t most) {
  const Share share = books.queues.ShareOf(model::OrderPolicy::kDrf, amount);
  if (share.of == 0) return 0;
  const unsigned __int128 part = static_cast<unsigned __int128>(share.used) * 1'000'000'000 / share.of;
  return part < most ? static_cast<uint64_t>(part) : most;
}

size_t LevelOf(uint64_t left) { return static_cast<size_t>(std::bit_width(left)); }

}  // namespace

void SmallJobs::Came(AppSlot slot, bool restartable) {
  if (jobs_.size() <= slot.value) jobs_.resize(slot.value + 1);
  jobs_[slot.value] = Job{};
  jobs_[slot.value].restartable = restartable;
}

void SmallJobs::Enter(const Books& books, AppSlot slot) {
  const App& app = books.apps[slot];
  Job& job = jobs_[slot.value];
  if (job.app != app.index) job.came = books.now;  // it does not get younger by a move
  job.app = app.index;
  job.lane = {app.leaf, app.user};
}

void SmallJobs::Leave(AppSlot slot) { Count(jobs_[slot.value], 0); }

void SmallJobs::Refresh(const Books& books, AppSlot slot) {
  const App& app = books.apps[slot];
  Job& job = jobs_[slot.value];
  if (!app.needs_master) {
    const uint64_t part = PartOf(books, app.pending, kMost);
    if (job.run_ms == 0 || part == 0) return Count(job, part);
    const auto work = static_cast<unsigned __int128>(part) * static_cast<uint64_t>(job.run_ms) /
                      static_cast<uint64_t>(kUnknownRun.millis());
    return Count(job, std::clamp<uint64_t>(static_cast<uint64_t>(work), 1, kMost));
  }
  Count(job, job.remembered);
}

void SmallJobs::MasterParked(AppSlot slot) {
  jobs_[slot.value].parked = true;
  jobs_[slot.value].remembered = jobs_[slot.value].left;
}

/// Takes the job's work out of its lane and puts it in again.
void SmallJobs::Count(Job& job, uint64_t left) {
  if (job.left == left) return;
  auto lane = lanes_.try_emplace(job.lane).first;
  if (job.left > 0) {
    lane->second.left[LevelOf(job.left)] -= job.left;
    --lane->second.jobs;
  }
  job.left = left;
  job.before = 0;
  if (left > 0) {
    lane->second.left[LevelOf(left)] += left;
    ++lane->second.jobs;
    const auto begin = lane->second.left.begin();
    job.before = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(LevelOf(left)) + 1, uint64_t{0});
  }
  if (lane->second.jobs == 0) lanes_.erase(lane);
}

void SmallJobs::Forget() {
  lanes_.clear();
  for (Job& job : jobs_) job.left = job.before = 0;
}

uint64_t SmallJobs::TurnOf(AppSlot slot) const {
  const Job& job = jobs_[slot.value];
  const auto put_off = static_cast<unsigned __int128>(bound_.millis()) * job.before / (job.before + kHalf);
  return static_cast<uint64_t>(job.came.ns / 1'000'000) + static_cast<uint64_t>(put_off);
}

std::string SmallJobs::Check() const {
  Lanes lanes;
  for (const Job& job : jobs_) {
    if (job.left == 0) continue;
    ++lanes[job.lane].jobs;
    lanes[job.lane].left[LevelOf(job.left)] += job.left;
  }
  return lanes == lanes_ ? "" : "work of small jobs by user";
}

void SmallJobs::Mix(base::StateHasher& hash) const {
  for (const Job& job : jobs_) {
    hash.Mix(static_cast<uint64_t>(job.came.ns));
    hash.Mix(job.before * 4 + uint64_t{job.restartable} * 2 + uint64_t{job.parked});
    hash.Mix(job.left);
    hash.Mix(job.remembered);
    if (job.run_ms != 0) hash.Mix(static_cast<uint64_t>(job.run_ms));
  }
}

}  // namespace fairlead::scheduler::native

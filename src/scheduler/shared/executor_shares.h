#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// How jobs share executors that outlive their tasks: every job may have an equal part; whoever has the least work left
// is served first; a job above its part gives the excess back as soon as one with less work is below its own. Nothing
// is taken from a job in the midst of a task, and no job is kept below its part by others.
//
// Work that is left needs to be known only roughly: it decides the order alone, never how much a job may have.

namespace fairlead::scheduler {

/// One of the jobs that share executors.
struct SharingJob {
  double work = 0;        // that is left, in any unit: tasks to begin * their mean time
  int32_t executors = 0;  // that it has, and that are on their way to it
  bool wants = false;     // it has tasks for one more
};

/// What every job may have of `executors`, and who is served first. O(n log n) to make; jobs are numbered as they come.
class ExecutorShares {
 public:
  ExecutorShares(std::span<const SharingJob> jobs, int32_t executors);

  /// Executors of each job that wants some: an equal part, rounded up.
  int32_t share() const { return share_; }
  /// The jobs by the least work, then by number.
  const std::vector<size_t>& order() const { return order_; }
  /// How many executors the job may get before it has its share; 0: it has it, or wants none.
  int32_t Missing(size_t job) const;
  /// How many executors the job has above its share; all of them when it wants none.
  int32_t Excess(size_t job) const;
  /// Whether a job with less work than this one is below its share and wants more.
  bool LessWorkWaits(size_t job) const { return rank_[job] > first_missing_; }

 private:
  std::vector<SharingJob> jobs_;
  int32_t share_ = 0;
  std::vector<size_t> order_;
  std::vector<size_t> rank_;  // place in order_, by job
  size_t first_missing_ = 0;  // place of the first job that is below its share; past the end: none is
};

}  // namespace fairlead::scheduler

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/books.h"

namespace fairlead::scheduler::native {

/// Wish 2: when it is an application's turn in its queue. The turn is when it came, put off by the more of `bound` the
/// more work is left to it (what it waits for, as a part of the cluster):
///
///   turn = came + bound * left / (left + kHalf)
///
/// So the least work comes first, and whoever came more than `bound` later has a later turn: the age counts in the end.
/// It counts since the application last had an equal part of what its queue uses: who is served does not get older, so
/// that a job may run for longer than the bound without passing everybody.
/// Where run times are known (protected backfill), work is the part of the cluster x the time: kUnknownRun for all that
/// counts as a part alone does where they are not.
/// An application that has not said yet what it wants (its master waits) counts as having no work.
///
/// Work counts together with that of the same user's applications in the queue that are not larger (in powers of two)
/// and were there before: a job that is cut into pieces has its last piece served when the whole would have been.
/// O(log users) a change.
class SmallJobs {
 public:
  /// The run time of a container whose run time nobody knows.
  static constexpr base::Duration kUnknownRun = base::Duration::Seconds(50 * 3600);

  explicit SmallJobs(base::Duration bound) : bound_(bound) {}

  /// A new application; `restartable`: its master may be ended and starts again. Enter follows.
  void Came(AppSlot slot, bool restartable);
  void Enter(const Books& books, AppSlot slot);
  void Leave(AppSlot slot);
  /// The application waits for more or less than before.
  void Refresh(const Books& books, AppSlot slot);
  /// Work is to be counted again, by Refresh of everybody: the cluster has another size, or the switch has been turned.
  void Forget();

  /// Milliseconds; the smaller first.
  uint64_t TurnOf(AppSlot slot) const;
  /// Its master was ended to let others start: what is left to it is remembered until it starts again.
  void MasterParked(AppSlot slot);
  /// Its master is never ended: it is older than the books know.
  void SetRun(AppSlot slot, int64_t run_ms) { jobs_[slot.value].run_ms = run_ms; }
  void KeepMaster(AppSlot slot) { jobs_[slot.value].parked = true; }
  /// Whose age is counted from before then is old; so turns do not change all the time, and of most jobs never.
  base::Instant OldBefore(base::Instant now) const { return {now.ns - bound_.ns / kAgeSteps}; }
  bool IsOld(AppSlot slot, base::Instant old_before) const { return jobs_[slot.value].came < old_before; }
  /// The application has its part: its age counts from now on.
  void RestartAge(AppSlot slot, base::Instant now) { jobs_[slot.value].came = now; }
  /// Its master may be ended, and was not yet.
  bool MayPark(AppSlot slot) const { return jobs_[slot.value].restartable && !jobs_[slot.value].parked; }

  /// What differs from the sums over the applications; empty: nothing.
  std::string Check() const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(bound_, jobs_, lanes_)

 private:
  /// Billionths of the cluster: where half of the bound is reached.
  static constexpr uint64_t kHalf = 20'000'000;
  static constexpr uint64_t kMost = uint64_t{1} << 44;
  static constexpr size_t kLevels = 46;
  static constexpr int64_t kAgeSteps = 8;  // of the bound

  struct Job {
    AppIndex app;
    bool restartable = false;
    bool parked = false;
    base::Instant came;
    uint64_t remembered = 0;  // what was left when its master was ended
    std::pair<QueueId, UserId> lane;
    uint64_t left = 0;    // billionths of the cluster; counted in the lane
    int64_t run_ms = 0;   // mean of the containers it waits for; 0: unknown
    uint64_t before = 0;  // with what the lane had at or below its level
    FL_STATE(app, restartable, parked, came, remembered, lane, left, run_ms, before)
  };
  struct Lane {
    uint64_t jobs = 0;  // that count in it
    std::array<uint64_t, kLevels> left{};
    friend bool operator==(const Lane&, const Lane&) = default;
    FL_STATE(jobs, left)
  };

  using Lanes = std::map<std::pair<QueueId, UserId>, Lane>;

  void Count(Job& job, uint64_t left);

  base::Duration bound_;
  std::vector<Job> jobs_;  // by AppSlot
  Lanes lanes_;
};

}  // namespace fairlead::scheduler::native

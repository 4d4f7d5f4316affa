#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "tasks/cluster.h"
#include "tasks/config.h"
#include "tasks/exclusion.h"
#include "tasks/hash_order.h"
#include "tasks/pending_lists.h"
#include "tasks/running_median.h"
#include "tasks/set_events.h"
#include "tasks/stage_places.h"
#include "tasks/task_table.h"

namespace fairlead::tasks {

class Pool;
class TaskSet;

/// What all task sets share; owned by the TaskScheduler.
struct SetContext {
  const Config& config;
  Cluster cluster;
  TaskTable tasks;
  std::unique_ptr<HealthTracker> health;  // null: exclusion is off
  base::Instant now;
  std::vector<SetEffect>* out = nullptr;  // of the running Step
  /// Remote reads of all sets, for the adaptive delay of a set that has none yet.
  int64_t remote_read_ns = 0;
  int64_t remote_reads = 0;
  bool level_moved = false;  // a set has gone to a weaker level
  /// Called when a set has nothing running and nothing to run; it may not be destroyed inside.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void SetFinished(TaskSet& set) = 0;
  };
  Owner* owner = nullptr;
};

/// One attempt of a stage: which of its tasks runs next, where, and how failures count (Spark: TaskSetManager; the
/// methods follow it one by one). Stale entries of the pending lists are kept as Spark keeps them, because they show
/// in decisions; each is dropped once, so that an offer costs O(levels) amortised.
class TaskSet {
 public:
  TaskSet(SetContext& context, SubmitSet submit);

  struct Launch {
    model::tasks::TaskId task = -1;
    model::tasks::Level level = model::tasks::Level::kAny;
    bool for_load = false;
  };
  struct Answer {
    std::optional<Launch> launch;
    bool rejected = false;  // had work, but not for this executor yet
  };
  /// Offers one slot of an executor, for tasks no further away than `limit`. kNoPref as limit ignores the delay.
  Answer Offer(ExecutorNumber executor, HostNumber host, model::tasks::Level limit);
  void ResetDelay(std::optional<model::tasks::Level> level);
  void RecomputeLocality();

  void Succeeded(model::tasks::TaskId task);
  void Failed(model::tasks::TaskId task, model::tasks::EndKind kind, const std::string& message);
  void PartitionDone(int32_t partition);
  /// Launches nothing more.
  void Stop();
  void ExecutorLost(ExecutorNumber executor, const SetExecutorLost& loss);
  bool CheckSpeculation();
  void Abort(SetFailureKind kind, int32_t index, const std::string& reason);
  /// An index that is excluded on every executor there is.
  std::optional<int32_t> ExcludedEverywhere() const;
  void AbortExcludedEverywhere(int32_t index);
  void RemoveRunning(model::tasks::TaskId task);

  bool schedulable() const { return !zombie && (!pending_.all.empty() || !speculative_.all.empty()); }
  bool SomeAttemptSucceeded(int32_t index) const { return state_[static_cast<size_t>(index)].successful; }
  /// When the current level's wait runs out; Max() when nothing waits for it.
  base::Instant WaitEnds() const;
  void NoteRemoteRead(int64_t ns);

  SetId id() const { return id_; }
  model::tasks::JobId priority() const { return priority_; }
  const std::string& pool_name() const { return pool_name_; }
  const std::string& name() const { return name_; }
  int32_t size() const { return static_cast<int32_t>(state_.size()); }
  int32_t running() const { return static_cast<int32_t>(running_.size()); }
  int32_t successful() const { return successful_; }
  int32_t partition(int32_t index) const { return partitions_[static_cast<size_t>(index)]; }
  const std::vector<model::tasks::Level>& levels() const { return levels_; }
  model::tasks::Level level() const { return levels_[static_cast<size_t>(level_index_)]; }
  base::Instant last_reset() const { return last_reset_; }
  bool all_nonempty() const { return !pending_.all.empty(); }
  const IntHashSet& speculatable() const { return speculatable_; }
  const TaskIdHashSet& running_tasks() const { return running_; }
  const std::vector<model::tasks::TaskId>& attempts() const { return attempts_; }
  const SetExclusion* exclusion() const { return exclusion_ ? &*exclusion_ : nullptr; }
  const PendingLists& pending() const { return pending_; }
  /// Something could be launched if there were room (stale entries do not count).
  bool waiting() const { return !zombie && (pending_count() > 0 || !speculatable_.empty()); }
  int64_t pending_count() const { return size() - successful_ - waiting_for_; }
  int32_t failed_attempts() const { return failed_attempts_; }
  StagePlaces Places() const;
  /// Of one task.
  std::vector<model::tasks::TaskLocation> PlacesOf(int32_t index) const;
  const int64_t* launched_at() const { return launched_at_; }

  /// Empty when all sums agree with what they sum up.
  std::string CheckInvariants() const;
  void HashInto(base::StateHasher& hasher) const;

  // Kept by the scheduler.
  bool zombie = false;  // launches nothing any more
  Pool* pool = nullptr;
  bool no_rejects_since_reset = true;
  bool finished = false;

 private:
  struct Task {
    model::tasks::TaskId last_attempt = -1;
    int32_t copies_running = 0;  // as Spark counts: a success keeps its copy
    int32_t failures = 0;
    int32_t attempts = 0;
    bool successful = false;
    int32_t running = 0;
  };
  struct Place {
    model::tasks::TaskLocation::Kind kind;
    ExecutorNumber executor;
    HostNumber host;
  };
  struct Found {
    int32_t index = -1;
    model::tasks::Level level = model::tasks::Level::kAny;
    bool speculative = false;
    bool for_load = false;
  };
  Task& task(int32_t index) { return state_[static_cast<size_t>(index)]; }
  const Task& task(int32_t index) const { return state_[static_cast<size_t>(index)]; }

  void InternPlaces(const std::vector<std::vector<model::tasks::TaskLocation>>& locations);
  void AddPending(int32_t index, bool resolve_racks, bool speculative);
  void AddInitialRacks();
  std::vector<model::tasks::Level> ValidLevels() const;
  base::Duration WaitOf(model::tasks::Level level) const;
  model::tasks::Level AllowedLevel();
  bool MoreTasksIn(StackMap& lists);
  bool MoreTasksAt(model::tasks::Level level);
  int32_t LevelIndex(model::tasks::Level level) const;
  std::optional<int32_t> TakeFrom(TaskStack* stack, ExecutorNumber executor, HostNumber host, bool speculative);
  std::optional<Found> Take(ExecutorNumber executor, HostNumber host, model::tasks::Level limit, bool speculative);
  std::optional<Found> TakeForLoad(ExecutorNumber executor, HostNumber host);
  bool Busier(const Place& place, int64_t load) const;
  bool HasAttemptOnHost(int32_t index, HostNumber host) const;
  bool Excluded(int32_t index, ExecutorNumber executor, HostNumber host) const {
    return exclusion_ && exclusion_->any() && exclusion_->TaskExcluded(executor, host, index);
  }
  model::tasks::TaskId StartAttempt(const Found& found, ExecutorNumber executor, HostNumber host);
  void MarkSuccessful(int32_t index);
  void Emit(model::tasks::TaskId task, const TaskInfo& info, model::tasks::EndKind kind);
  void MaybeFinish();
  void RequeueOutputs(ExecutorNumber executor);
  bool Speculate(double threshold_ms);
  void NoteTrouble(model::tasks::TaskId task, const TaskInfo& info, const std::string& reason);
  std::string Describe(model::tasks::TaskId task, const TaskInfo& info) const;

  SetContext& context_;
  const SetId id_;
  const model::tasks::JobId priority_;
  const std::string pool_name_;
  const std::string name_;
  const bool shuffle_map_;
  std::vector<int32_t> partitions_;
  std::vector<Place> places_;
  std::vector<uint32_t> places_from_;  // by index, one more; empty: no preferences at all

  std::vector<Task> state_;
  PendingLists pending_;
  PendingLists speculative_;
  IntHashSet speculatable_;
  TaskIdHashSet running_;
  std::vector<model::tasks::TaskId> attempts_;                          // all, in order
  std::map<int32_t, std::vector<model::tasks::TaskTrouble>> troubles_;  // by index; the last few of each
  RunningMedian durations_ms_;                                          // of successes, with speculation on
  std::optional<SetExclusion> exclusion_;

  std::vector<model::tasks::Level> levels_;
  int32_t level_index_ = 0;
  base::Instant last_reset_;

  int32_t successful_ = 0;
  int32_t waiting_for_ = 0;  // indices with a live attempt and no success
  int32_t failed_attempts_ = 0;
  int64_t launched_at_[5] = {};
  int64_t remote_read_ns_ = 0;
  int64_t remote_reads_ = 0;
};

}  // namespace fairlead::tasks

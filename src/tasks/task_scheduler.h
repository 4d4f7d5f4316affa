#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "tasks/config.h"
#include "tasks/pool.h"
#include "tasks/set_events.h"
#include "tasks/task_set.h"

namespace fairlead::tasks {

/// Half of the tasks core: task sets meet offers (Spark: TaskSchedulerImpl). Order of task sets by pools, delay
/// scheduling, speculation, retries, exclusion. It knows nothing of stages' lineage.
class TaskScheduler : private SetContext::Owner {
 public:
  explicit TaskScheduler(const Config& config);

  /// Applies `events` in order at `now` and appends the effects. An id that is unknown or stale changes nothing.
  /// Submitting a set twice is a programmer error.
  void Step(base::Instant now, std::span<const SetEvent> events, std::vector<SetEffect>& out);

  // The same for single events, without copies of names; for the composed core. Step() does nothing else.
  void Begin(base::Instant now, std::vector<SetEffect>& out);
  void Submit(SubmitSet submit);
  struct Slot {
    ExecutorNumber executor = 0;
    HostNumber host = 0;
    int32_t cores = 0;
  };
  /// `offers` is used up: on return `cores` is what is left of each.
  void OfferSlots(std::vector<Slot>& offers, bool all_free);
  void Started(model::tasks::TaskId task);
  void Succeeded(model::tasks::TaskId task);
  void Failed(const SetTaskFailed& failure);
  void ExecutorLost(const SetExecutorLost& loss);
  void Decommission(ExecutorNumber executor);
  void Cancel(model::tasks::StageId stage, const std::string& reason);
  void Kill(model::tasks::StageId stage, const std::string& reason);
  /// Launches nothing more of the stage's live attempts.
  void Stop(model::tasks::StageId stage);
  /// Ends sets that were overtaken by a later attempt with nothing running (Spark keeps them for ever), once
  /// `is_live(stage)` is false.
  template <class Predicate>
  void Reap(Predicate&& is_live) {
    std::vector<TaskSet*> dead;
    for (const auto& [id, set] : sets_) {
      if (set->zombie && set->running() == 0 && !is_live(id.stage)) dead.push_back(set.get());
    }
    for (TaskSet* set : dead) set->Stop();
  }
  void PartitionDone(model::tasks::StageId stage, int32_t partition);
  /// A task that ran away from its data spent this long in reading remote input.
  void NoteRemoteRead(model::tasks::TaskId task, int64_t ns);
  void CheckSpeculation();
  void CheckUnschedulable();

  Cluster& cluster() { return context_.cluster; }
  const Cluster& cluster() const { return context_.cluster; }
  const HealthTracker* health() const { return context_.health.get(); }

  /// Schedulable sets in scheduling order.
  std::vector<SetId> SchedulingOrder() const;
  /// The live set, or null.
  TaskSet* Find(SetId id);
  const TaskSet* Find(SetId id) const { return const_cast<TaskScheduler*>(this)->Find(id); }
  /// All live sets, by id.
  const std::map<SetId, std::unique_ptr<TaskSet>>& sets() const { return sets_; }
  /// Whether a set has gone to a weaker level since this was last asked.
  bool TakeLevelMoved() { return std::exchange(context_.level_moved, false); }
  /// The attempt, or null when its set is gone.
  const TaskInfo* Info(model::tasks::TaskId task) const;
  const TaskTable& tasks() const { return context_.tasks; }

  /// The earliest time at which a locality wait, an exclusion or the wait of an unschedulable set ends.
  base::Instant NextWaitEnd() const;
  base::Instant NextUnschedulable() const;
  std::string CheckInvariants() const;
  void HashInto(base::StateHasher& hasher) const;

 private:
  void Apply(const model::tasks::HostRack& event);
  void Apply(const SubmitSet& event) { Submit(event); }
  void Apply(const OfferRound& event);
  void Apply(const SetTaskStarted& event) { Started(event.task); }
  void Apply(const SetTaskSucceeded& event) { Succeeded(event.task); }
  void Apply(const SetTaskFailed& event) { Failed(event); }
  void Apply(const SetExecutorLost& event) { ExecutorLost(event); }
  void Apply(const SetExecutorDecommissioning& event);
  void Apply(const SpeculationCheck&) { CheckSpeculation(); }
  void Apply(const CancelSets& event) { Cancel(event.stage, event.reason); }
  void Apply(const KillSets& event) { Kill(event.stage, event.reason); }
  void Apply(const SetPartitionDone& event) { PartitionDone(event.stage, event.partition); }
  void Apply(const UnschedulableCheck&) { CheckUnschedulable(); }

  void SetFinished(TaskSet& set) override;
  bool OfferToSet(TaskSet& set, std::vector<Slot>& offers, bool all_free);
  void HandleUnlaunched(TaskSet& set);
  /// The attempt whose status means something: its set or executor is not gone.
  TaskInfo* Tracked(model::tasks::TaskId task);
  void Untrack(TaskInfo& info);
  std::vector<TaskSet*> AttemptsOf(model::tasks::StageId stage);
  std::vector<TaskSet*> QueueOrder() const;

  const Config& config_;
  SetContext context_;
  PoolTree pools_;
  std::map<SetId, std::unique_ptr<TaskSet>> sets_;
  std::map<model::tasks::StageId, std::vector<int32_t>> attempts_;  // live attempts by stage, in order of arrival
  std::vector<std::unique_ptr<TaskSet>> finished_;                  // destroyed when no method of theirs runs
  std::map<SetId, base::Instant> unschedulable_until_;
};

}  // namespace fairlead::tasks

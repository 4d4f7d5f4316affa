#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "model/tasks.h"

// Events and effects of the task-set half of the core (tasks/task_scheduler.h). Executors and hosts are named as in
// TaskLocation. In the composed core these travel between the halves inside one Step and are not journalled.

namespace fairlead::tasks {

/// A task set is one attempt of a stage (Spark: TaskSet; its name is "stage.attempt").
struct SetId {
  model::tasks::StageId stage = -1;
  int32_t attempt = 0;
  FL_FIELDS(stage, attempt)
  friend auto operator<=>(const SetId&, const SetId&) = default;
};
std::string ToString(const SetId& id);

// ---- events --------------------------------------------------------------------------------------------------------

struct SubmitSet {
  static constexpr std::string_view kName = "submit_set";
  SetId set;
  model::tasks::JobId priority = 0;  // smaller first under FIFO
  std::string pool;                  // empty: default
  bool shuffle_map = false;          // outputs go with their executor unless a shuffle service keeps them
  std::vector<int32_t> partitions;   // by task index
  /// Preferred locations by task index; empty: none for any.
  std::vector<std::vector<model::tasks::TaskLocation>> locations;
  FL_FIELDS(set, priority, pool, shuffle_map, partitions, locations)
};
struct Offer {
  std::string executor;
  std::string host;
  int32_t cores = 0;
  FL_FIELDS(executor, host, cores)
};
/// One round of offers, in this order. `all_free` says that these are all free resources there are.
struct OfferRound {
  static constexpr std::string_view kName = "offer_round";
  bool all_free = false;
  std::vector<Offer> offers;
  FL_FIELDS(all_free, offers)
};
struct SetTaskStarted {
  static constexpr std::string_view kName = "set_task_started";
  model::tasks::TaskId task = -1;
  FL_FIELDS(task)
};
struct SetTaskSucceeded {
  static constexpr std::string_view kName = "set_task_succeeded";
  model::tasks::TaskId task = -1;
  FL_FIELDS(task)
};
struct SetTaskFailed {
  static constexpr std::string_view kName = "set_task_failed";
  model::tasks::TaskId task = -1;
  model::tasks::FailureKind kind = model::tasks::FailureKind::kException;
  bool state_killed = false;  // the executor reported KILLED, not FAILED
  std::string message;
  FL_FIELDS(task, kind, state_killed, message)
};
struct SetExecutorLost {
  static constexpr std::string_view kName = "set_executor_lost";
  std::string executor;
  model::tasks::LossKind kind = model::tasks::LossKind::kProcessLost;
  bool host_lost = false;  // also what a shuffle service keeps is gone
  std::string message;
  bool files_lost = false;  // its own outputs are gone, whatever a shuffle service keeps
  FL_FIELDS(executor, kind, host_lost, message, files_lost)
};
struct SetExecutorDecommissioning {
  static constexpr std::string_view kName = "set_executor_decommissioning";
  std::string executor;
  FL_FIELDS(executor)
};
/// Looks for tasks that run too long (Spark: checkSpeculatableTasks, every 100 ms).
struct SpeculationCheck {
  static constexpr std::string_view kName = "speculation_check";
  FL_NO_FIELDS()
};
/// Kills and fails every attempt of the stage.
struct CancelSets {
  static constexpr std::string_view kName = "cancel_sets";
  model::tasks::StageId stage = -1;
  std::string reason;
  FL_FIELDS(stage, reason)
};
/// Kills what still runs of a stage that is done.
struct KillSets {
  static constexpr std::string_view kName = "kill_sets";
  model::tasks::StageId stage = -1;
  std::string reason;
  FL_FIELDS(stage, reason)
};
/// The partition was computed by another attempt of the stage: the live attempt need not.
struct SetPartitionDone {
  static constexpr std::string_view kName = "set_partition_done";
  model::tasks::StageId stage = -1;
  int32_t partition = 0;
  FL_FIELDS(stage, partition)
};
/// Fails sets that could run nowhere for longer than unschedulable_timeout.
struct UnschedulableCheck {
  static constexpr std::string_view kName = "unschedulable_check";
  FL_NO_FIELDS()
};

using SetEvent = std::variant<model::tasks::HostRack, SubmitSet, OfferRound, SetTaskStarted, SetTaskSucceeded,
                              SetTaskFailed, SetExecutorLost, SetExecutorDecommissioning, SpeculationCheck, CancelSets,
                              KillSets, SetPartitionDone, UnschedulableCheck>;

// ---- effects -------------------------------------------------------------------------------------------------------

/// Names inside the core: dense numbers in order of first mention (TaskScheduler::ExecutorName, HostName).
using ExecutorNumber = uint32_t;
using HostNumber = uint32_t;

struct SetLaunched {
  static constexpr std::string_view kName = "set_launched";
  model::tasks::TaskId task = -1;
  SetId set;
  int32_t index = 0;
  int32_t partition = 0;
  int32_t attempt = 0;
  ExecutorNumber executor = 0;
  model::tasks::Level level = model::tasks::Level::kAny;
  bool speculative = false;
  bool for_load = false;
  FL_FIELDS(task, set, index, partition, attempt, executor, level, speculative, for_load)
};
struct SetTaskEnded {
  static constexpr std::string_view kName = "set_task_ended";
  model::tasks::TaskId task = -1;
  SetId set;
  int32_t index = 0;
  int32_t partition = 0;
  int32_t attempt = 0;
  ExecutorNumber executor = 0;
  model::tasks::EndKind kind = model::tasks::EndKind::kSuccess;
  FL_FIELDS(task, set, index, partition, attempt, executor, kind)
};
struct SetSpeculatable {
  static constexpr std::string_view kName = "set_speculatable";
  SetId set;
  int32_t index = 0;
  FL_FIELDS(set, index)
};
enum class SetFailureKind : uint8_t { kMaxFailures, kExcludedEverywhere, kCancelled };
std::string_view EnumName(SetFailureKind kind);
struct SetFailed {
  static constexpr std::string_view kName = "set_failed";
  SetId set;
  SetFailureKind kind = SetFailureKind::kMaxFailures;
  int32_t index = -1;  // the task to blame
  int32_t partition = -1;
  std::string reason;
  std::vector<model::tasks::TaskTrouble> troubles;  // failed attempts of that task, oldest first
  FL_FIELDS(set, kind, index, partition, reason, troubles)
};
struct SetKill {
  static constexpr std::string_view kName = "set_kill";
  model::tasks::TaskId task = -1;
  ExecutorNumber executor = 0;
  std::string reason;
  FL_FIELDS(task, executor, reason)
};
/// The set has nothing running and nothing to run.
struct SetRemoved {
  static constexpr std::string_view kName = "set_removed";
  SetId set;
  FL_FIELDS(set)
};
struct SetExecutorJoined {
  static constexpr std::string_view kName = "set_executor_joined";
  ExecutorNumber executor = 0;
  HostNumber host = 0;
  FL_FIELDS(executor, host)
};
struct SetExecutorGone {
  static constexpr std::string_view kName = "set_executor_gone";
  ExecutorNumber executor = 0;
  FL_FIELDS(executor)
};
/// An executor (or a whole host, `executor` = UINT32_MAX) is excluded; stage -1: for the application.
struct SetExcluded {
  static constexpr std::string_view kName = "set_excluded";
  ExecutorNumber executor = UINT32_MAX;
  HostNumber host = 0;
  SetId set;
  base::Instant until = base::Instant::Max();
  FL_FIELDS(executor, host, set, until)
};
/// Something became launchable: a round of all free resources is due.
struct SetRevive {
  static constexpr std::string_view kName = "set_revive";
  FL_NO_FIELDS()
};

using SetEffect = std::variant<SetLaunched, SetTaskEnded, SetSpeculatable, SetFailed, SetKill, SetRemoved,
                               SetExecutorJoined, SetExecutorGone, SetExcluded, SetRevive>;

}  // namespace fairlead::tasks

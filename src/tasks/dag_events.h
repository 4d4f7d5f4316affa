#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "model/tasks.h"
#include "tasks/set_events.h"

// Events and effects of the stage half of the core (tasks/dag_scheduler.h). In the composed core these travel between
// the halves inside one Step and are not journalled.

namespace fairlead::tasks {

// ---- events --------------------------------------------------------------------------------------------------------

/// Names an executor before anything else is said of it.
struct DagExecutorKnown {
  static constexpr std::string_view kName = "dag_executor_known";
  model::tasks::ExecutorIndex executor;
  std::string id;
  std::string host;
  FL_FIELDS(executor, id, host)
};
/// The executor serves again: earlier losses do not count against its new outputs.
struct DagExecutorAdded {
  static constexpr std::string_view kName = "dag_executor_added";
  model::tasks::ExecutorIndex executor;
  FL_FIELDS(executor)
};
struct DagExecutorLost {
  static constexpr std::string_view kName = "dag_executor_lost";
  model::tasks::ExecutorIndex executor;
  bool host_lost = false;   // all outputs on its host are gone
  bool files_lost = false;  // its own are, whatever a shuffle service keeps
  FL_FIELDS(executor, host_lost, files_lost)
};
struct DagTaskEnded {
  static constexpr std::string_view kName = "dag_task_ended";
  SetId set;
  int32_t partition = 0;  // of the stage's dataset
  model::tasks::TaskId task = -1;
  model::tasks::ExecutorIndex executor;
  model::tasks::EndKind kind = model::tasks::EndKind::kSuccess;
  std::vector<uint8_t> sizes;  // of a map output, coded
  std::string message;
  /// Of kFetchFailed: the output that could not be read.
  model::tasks::ShuffleId shuffle = -1;
  int32_t map_index = -1;
  model::tasks::ExecutorIndex source;
  FL_FIELDS(set, partition, task, executor, kind, sizes, message, shuffle, map_index, source)
};
struct DagSetFailed {
  static constexpr std::string_view kName = "dag_set_failed";
  SetFailed failure;
  FL_FIELDS(failure)
};
/// Time to try failed stages again (200 ms after the failure).
struct DagResubmitFailed {
  static constexpr std::string_view kName = "dag_resubmit_failed";
  FL_NO_FIELDS()
};

using DagEvent =
    std::variant<model::tasks::SubmitJob, model::tasks::CancelJob, model::tasks::CancelGroup, model::tasks::CancelStage,
                 DagExecutorKnown, DagExecutorAdded, DagExecutorLost, DagTaskEnded, DagSetFailed, DagResubmitFailed,
                 model::tasks::BlockCached, model::tasks::ForgetDatasets, model::tasks::MergePlaced>;

// ---- effects -------------------------------------------------------------------------------------------------------

struct DagSubmit {
  static constexpr std::string_view kName = "dag_submit";
  model::tasks::StageSubmitted stage;
  std::string pool;
  std::vector<std::vector<model::tasks::TaskLocation>> locations;  // by task index
  FL_FIELDS(stage, pool, locations)
};
struct DagCancel {
  static constexpr std::string_view kName = "dag_cancel";
  model::tasks::StageId stage = -1;
  std::string reason;
  FL_FIELDS(stage, reason)
};
/// What still runs of the stage is of no use any more.
struct DagKill {
  static constexpr std::string_view kName = "dag_kill";
  model::tasks::StageId stage = -1;
  std::string reason;
  bool stop = false;  // launch nothing more of it either
  FL_FIELDS(stage, reason, stop)
};
struct DagPartitionDone {
  static constexpr std::string_view kName = "dag_partition_done";
  model::tasks::StageId stage = -1;
  int32_t partition = 0;
  FL_FIELDS(stage, partition)
};
/// A stage has failed and is to be tried again after the resubmission delay.
struct DagResubmitWanted {
  static constexpr std::string_view kName = "dag_resubmit_wanted";
  FL_NO_FIELDS()
};

using DagEffect = std::variant<DagSubmit, DagCancel, DagKill, DagPartitionDone, DagResubmitWanted,
                               model::tasks::StageCompleted, model::tasks::ResultAccepted, model::tasks::JobEnded,
                               model::tasks::JobRejected, model::tasks::MapOutputsChanged>;

}  // namespace fairlead::tasks

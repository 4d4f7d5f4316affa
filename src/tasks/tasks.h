#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/tasks.h"
#include "tasks/config.h"
#include "tasks/map_outputs.h"
#include "tasks/stage_places.h"

namespace fairlead::tasks {

using EffectSink = std::vector<model::tasks::Effect>;

struct StageView {
  model::tasks::StageId stage = -1;
  int32_t attempt = 0;
  model::tasks::JobId job = -1;
  model::tasks::DatasetId dataset = -1;
  std::string dataset_name;
  model::tasks::ShuffleId shuffle = -1;  // -1: result stage
  std::string pool;
  std::vector<model::tasks::StageId> parents;
  enum class State : uint8_t { kWaiting, kRunning, kFailed, kDone };
  State state = State::kWaiting;
  int32_t tasks = 0;  // of the current attempt
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t failed_attempts = 0;                            // failed task attempts that count
  model::tasks::Level level = model::tasks::Level::kAny;  // allowed now
  int64_t launched_at[5] = {};                            // launches per Level, this attempt
};

struct ExecutorView {
  model::tasks::ExecutorIndex executor;
  std::string id;
  std::string host;
  int32_t slots = 0;
  int32_t running = 0;
  bool alive = true;
  bool decommissioning = false;
  bool excluded = false;
};

struct JobView {
  model::tasks::JobId job = -1;
  std::string group;
  std::string pool;
  std::string description;
  int32_t outputs = 0;
  int32_t outputs_done = 0;
  std::vector<model::tasks::StageId> stages;  // all it needs, ascending
};

struct View {
  std::vector<JobView> jobs;            // live ones, by id
  std::vector<StageView> stages;        // of live jobs, by id
  std::vector<ExecutorView> executors;  // by index
  int64_t pending_tasks = 0;
  int64_t running_tasks = 0;
};

/// The tasks core as the engine uses it: jobs as graphs of datasets in, launches of tasks out. A deterministic,
/// single-threaded state machine made of a DagScheduler (stages, Spark: DAGScheduler) and a TaskScheduler (task sets
/// and offers, Spark: TaskSchedulerImpl), which step each other inside one Step. Offers are driven by events: after the
/// events of a batch, freed and new slots are offered; an expiring locality wait is a deadline.
///
/// Ids from outside may be unknown or stale (a status of a lost executor's task): they are ignored. An id that the
/// engine itself must keep unique (ExecutorAdded of a known index) is a programmer error and checked.
class Tasks {
 public:
  explicit Tasks(Config config);
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  /// Applies `events` in order at `now` (constant during the step, never earlier than before) and appends the effects
  /// to `out`. Amortised O(1) per launch and per status, O(log) with speculation on.
  void Step(base::Instant now, std::span<const model::tasks::Event> events, EffectSink& out);

  /// When Step wants to be called again at the latest, even without events (a locality wait runs out, a failed stage is
  /// resubmitted, the next look for slow tasks, an exclusion ends); Instant::Max() for never.
  base::Instant NextDeadline() const;

  /// Recomputes every sum and list from scratch; empty when all agree, else what differs. O(state).
  std::string CheckInvariants() const;

  /// Equal states give equal hashes on every machine. O(state).
  uint64_t StateHash() const;

  View GetView() const;

  /// Outputs of the shuffle (places are ExecutorIndex values), or null when unknown. Valid until the next Step.
  const MapOutputTable* Outputs(model::tasks::ShuffleId shuffle) const;
  /// A stage of a live job writes or may read the shuffle.
  bool InUse(model::tasks::ShuffleId shuffle) const;
  /// Each time they are made the shuffle's outputs have the same rows, perhaps in another order.
  bool HasTheSameRowsAgain(model::tasks::ShuffleId shuffle) const;
  /// Grows with every loss of outputs (Spark: MapOutputTracker epoch).
  int64_t Epoch() const;

  /// Executors that keep the partition of a cached dataset, in order of their reports; an unknown dataset has none.
  std::vector<model::tasks::ExecutorIndex> CachedAt(model::tasks::DatasetId dataset, int32_t partition) const;
  /// Datasets with a kept partition, ascending.
  std::vector<model::tasks::DatasetId> DatasetsWithCached() const;

  /// Of a live attempt of the stage; of another, nothing. O(tasks).
  StagePlaces PlacesOf(model::tasks::StageId stage, int32_t attempt) const;
  /// Where one of its tasks would like to run.
  std::vector<model::tasks::TaskLocation> PlacesOf(model::tasks::StageId stage, int32_t attempt, int32_t index) const;
  const Config& config() const;

  /// Executors without running tasks that could go without loss to live jobs: with `retain_shuffle_executors` those
  /// that hold shuffle outputs a live or waiting stage may still read are left out; cached blocks always keep.
  /// Ascending.
  std::vector<model::tasks::ExecutorIndex> Removable() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::tasks

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "tasks/config.h"
#include "tasks/dag_events.h"
#include "tasks/hash_order.h"
#include "tasks/lineage.h"
#include "tasks/map_outputs.h"

namespace fairlead::tasks {

/// One stage: the tasks between two shuffles (Spark: Stage, ShuffleMapStage, ResultStage).
struct Stage {
  model::tasks::StageId id = -1;
  model::tasks::DatasetId dataset = -1;
  model::tasks::ShuffleId shuffle = -1;  // written; -1: a result stage
  std::vector<model::tasks::StageId> parents;
  model::tasks::JobId first_job = -1;
  std::set<model::tasks::JobId> jobs;  // that need it
  int32_t next_attempt = 0;
  int32_t latest_attempt = 0;         // of the attempt that was submitted last
  std::set<int32_t> failed_attempts;  // since it last succeeded
  /// Results of attempts below this one were computed from input that has changed since.
  int32_t first_valid_attempt = 0;
  std::vector<int64_t> epochs;  // by attempt: map-output epoch when its tasks were made

  // Map stage: partitions of the latest attempt that have not ended well.
  std::vector<bool> pending;
  int32_t pending_count = 0;

  // Result stage.
  model::tasks::JobId active_job = -1;
  std::vector<int32_t> partitions;     // of the dataset, by output
  std::map<int32_t, int32_t> outputs;  // partition -> output, when they are not the same

  bool is_map() const { return shuffle >= 0; }
  void SetPending(int32_t partition, bool value) {
    const auto at = static_cast<size_t>(partition);
    if (pending[at] != value) pending_count += value ? 1 : -1;
    pending[at] = value;
  }
};

/// A live action (Spark: ActiveJob).
struct Job {
  model::tasks::JobId id = -1;
  model::tasks::StageId final_stage = -1;
  std::string group;
  std::string pool;
  std::string description;
  std::vector<bool> finished;  // by output
  int32_t finished_count = 0;
  std::set<model::tasks::StageId> stages;
};

/// Half of the tasks core: jobs become stages, stages become task sets; lost outputs are made again (Spark:
/// DAGScheduler and MapOutputTrackerMaster). It knows nothing of slots and offers.
class DagScheduler {
 public:
  explicit DagScheduler(const Config& config) : config_(config) {}

  /// Applies `events` in order and appends the effects. Time plays no part.
  void Step(std::span<const DagEvent> events, std::vector<DagEffect>& out);
  void Apply(const DagEvent& event, std::vector<DagEffect>& out) { Step({&event, 1}, out); }
  /// The most frequent event without a copy into a variant.
  void TaskEnded(const DagTaskEnded& event, std::vector<DagEffect>& out);

  const MapOutputTable* Outputs(model::tasks::ShuffleId shuffle) const;
  int64_t epoch() const { return epoch_; }
  const Lineage& lineage() const { return lineage_; }
  const Stage* FindStage(model::tasks::StageId stage) const;
  const std::map<model::tasks::StageId, Stage>& stages() const { return stages_; }
  const std::map<model::tasks::JobId, Job>& jobs() const { return jobs_; }
  const IntHashSet& waiting() const { return waiting_; }
  const IntHashSet& running() const { return running_; }
  const IntHashSet& failed() const { return failed_; }
  bool IsIndeterminate(const Stage& stage) const;
  /// Each time they are made the outputs have the same rows, perhaps in another order.
  bool HasTheSameRowsAgain(model::tasks::ShuffleId shuffle) const;
  /// A live stage writes or reads the shuffle.
  bool InUse(model::tasks::ShuffleId shuffle) const { return map_stages_.contains(shuffle); }
  /// Executors that hold an output of a shuffle that a live stage writes or reads.
  std::set<uint32_t> HoldersOfLiveOutputs() const;

  std::string CheckInvariants() const;
  void HashInto(base::StateHasher& hasher) const;

 private:
  using ExecutorIndex = model::tasks::ExecutorIndex;
  struct Executor {
    std::string id;
    std::string host;
    /// Epochs at which it (or its files) was last seen to be lost; -1: not since it was added.
    int64_t failure_epoch = -1;
    int64_t files_lost_epoch = -1;
  };

  void Handle(const model::tasks::SubmitJob& event);
  void Handle(const model::tasks::CancelJob& event);
  void Handle(const model::tasks::CancelGroup& event);
  void Handle(const model::tasks::CancelStage& event);
  void Handle(const DagExecutorKnown& event);
  void Handle(const DagExecutorAdded& event);
  void Handle(const DagExecutorLost& event);
  void Handle(const DagTaskEnded& event);
  void Handle(const DagSetFailed& event);
  void Handle(const DagResubmitFailed& event);
  void Handle(const model::tasks::BlockCached& event);
  void Handle(const model::tasks::ForgetDatasets& event);
  void Handle(const model::tasks::MergePlaced& event);

  // Building stages.
  Stage& GetOrCreateMapStage(model::tasks::ShuffleId shuffle, model::tasks::JobId job);
  Stage& CreateMapStage(model::tasks::ShuffleId shuffle, model::tasks::JobId job);
  Stage& CreateResultStage(const model::tasks::SubmitJob& job);
  std::vector<model::tasks::StageId> GetOrCreateParents(model::tasks::DatasetId dataset, model::tasks::JobId job);
  std::vector<model::tasks::ShuffleId> MissingAncestors(model::tasks::DatasetId dataset) const;
  void RegisterWithJob(Stage& stage, model::tasks::JobId job);

  // Submitting them.
  void SubmitStage(Stage& stage);
  void SubmitMissingTasks(Stage& stage, model::tasks::JobId job);
  std::vector<model::tasks::StageId> MissingParents(const Stage& stage);
  std::vector<int32_t> MissingPartitions(const Stage& stage) const;
  std::vector<model::tasks::StageId> TakeWaitingChildren(const Stage& parent);
  void SubmitWaitingChildren(const Stage& parent);
  void ReleaseChildren(const Stage& parent);
  void SubmitByFirstJob(std::vector<model::tasks::StageId> stages);
  std::vector<model::tasks::TaskLocation> PreferredLocations(model::tasks::DatasetId dataset, int32_t partition) const;
  std::vector<model::tasks::TaskLocation> LargestInputs(const model::tasks::Dataset& dataset, int32_t partition) const;
  model::tasks::JobId ActiveJobOf(const Stage& stage) const;
  model::tasks::JobId OwnerOf(const Stage& stage) const;
  bool IsAvailable(const Stage& stage) const;

  // What comes of tasks.
  void ResultSucceeded(Stage& stage, const DagTaskEnded& event);
  void MapSucceeded(Stage& stage, const DagTaskEnded& event);
  void MapStageDone(Stage& stage);
  void FetchFailed(Stage& stage, const DagTaskEnded& event);
  void NoteFetchFailure(Stage& failed, Stage& map, const DagTaskEnded& event);
  void RollBack(const Stage& map);
  std::set<model::tasks::StageId> StagesAbove(const Stage& map) const;
  void MarkFinished(Stage& stage, const std::string& failure);
  void RemoveOutputs(ExecutorIndex executor, bool files_lost, bool host_lost, int64_t epoch);
  void UnregisterAll(model::tasks::ShuffleId shuffle);

  // Ends of jobs.
  void AbortStage(Stage& stage, const std::string& reason, const SetFailed* failure);
  bool DependsOn(const Stage& stage, const Stage& target);
  void FailJob(model::tasks::JobId job, model::tasks::JobEnded end);
  void CancelIndependentStages(const Job& job, const std::string& reason);
  void CleanUp(model::tasks::JobId job);
  void Cancel(model::tasks::JobId job, const std::string& reason);
  std::string Describe(const Stage& stage) const;

  Stage* Find(model::tasks::StageId stage);

  const Config& config_;
  std::vector<DagEffect>* out_ = nullptr;  // of the running Step
  Lineage lineage_;
  std::vector<Executor> executors_;  // by index
  std::map<model::tasks::StageId, Stage> stages_;
  std::map<model::tasks::ShuffleId, model::tasks::StageId> map_stages_;
  std::map<model::tasks::JobId, Job> jobs_;
  IdentityHashSet active_jobs_;
  IntHashSet waiting_;
  IntHashSet running_;
  IntHashSet failed_;
  std::map<model::tasks::ShuffleId, MapOutputTable> outputs_;  // stay when their stage is gone
  std::map<model::tasks::ShuffleId, std::vector<std::string>> merge_hosts_;
  int64_t epoch_ = 0;
  model::tasks::StageId next_stage_ = 0;
};

}  // namespace fairlead::tasks

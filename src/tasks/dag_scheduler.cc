#include "tasks/dag_scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tasks/merge_rule.h"

namespace fairlead::tasks {

using model::tasks::Dataset;
using model::tasks::DatasetId;
using model::tasks::Dependency;
using model::tasks::Determinism;
using model::tasks::EndKind;
using model::tasks::JobEnded;
using model::tasks::JobId;
using model::tasks::MapOutputsChanged;
using model::tasks::ResultAccepted;
using model::tasks::ShuffleId;
using model::tasks::StageCompleted;
using model::tasks::StageId;
using model::tasks::StageSubmitted;
using model::tasks::SubmitJob;
using model::tasks::TaskLocation;

namespace {

/// Spark: MapOutputTracker.SHUFFLE_PREF_MAP_THRESHOLD, SHUFFLE_PREF_REDUCE_THRESHOLD, REDUCER_PREF_LOCS_FRACTION.
constexpr int32_t kReduceLocalityMaps = 1000;
constexpr int32_t kReduceLocalityReduces = 1000;
constexpr double kReduceLocalityFraction = 0.2;

}  // namespace

// ---- entry ---------------------------------------------------------------------------------------------------------

void DagScheduler::Step(std::span<const DagEvent> events, std::vector<DagEffect>& out) {
  out_ = &out;
  for (const DagEvent& event : events) {
    std::visit([this](const auto& alternative) { Handle(alternative); }, event);
  }
}

void DagScheduler::TaskEnded(const DagTaskEnded& event, std::vector<DagEffect>& out) {
  out_ = &out;
  Handle(event);
}

void DagScheduler::Handle(const DagExecutorKnown& event) {
  if (event.executor.value >= executors_.size()) executors_.resize(event.executor.value + 1);
  Executor& executor = executors_[event.executor.value];
  executor.id = event.id;
  executor.host = event.host;
}

void DagScheduler::Handle(const DagExecutorAdded& event) {
  executors_[event.executor.value].failure_epoch = -1;
  executors_[event.executor.value].files_lost_epoch = -1;
}

void DagScheduler::Handle(const DagExecutorLost& event) {
  lineage_.DropCached(event.executor);
  const bool files_lost = event.host_lost || event.files_lost || !config_.external_shuffle_service;
  RemoveOutputs(event.executor, files_lost, event.host_lost, epoch_);
}

void DagScheduler::Handle(const model::tasks::BlockCached& event) {
  if (event.executor.value < executors_.size()) {
    lineage_.SetCached(event.dataset, event.partition, event.executor, event.present);
  }
}

void DagScheduler::Handle(const model::tasks::ForgetDatasets& event) {
  // What a live stage needs stays; it can be forgotten later.
  for (const ShuffleId shuffle : event.shuffles) {
    if (map_stages_.contains(shuffle)) continue;
    outputs_.erase(shuffle);
    merge_hosts_.erase(shuffle);
  }
  for (const DatasetId dataset : event.datasets) {
    const bool used = std::any_of(stages_.begin(), stages_.end(),
                                  [&](const auto& entry) { return lineage_.Reaches(entry.second.dataset, dataset); });
    if (!used) lineage_.Forget(dataset);
  }
}

void DagScheduler::Handle(const model::tasks::MergePlaced& event) {
  if (event.hosts.empty() || !outputs_.contains(event.shuffle)) {
    merge_hosts_.erase(event.shuffle);
  } else {
    merge_hosts_[event.shuffle] = event.hosts;
  }
}

Stage* DagScheduler::Find(StageId stage) {
  const auto it = stages_.find(stage);
  return it == stages_.end() ? nullptr : &it->second;
}

const Stage* DagScheduler::FindStage(StageId stage) const { return const_cast<DagScheduler*>(this)->Find(stage); }

const MapOutputTable* DagScheduler::Outputs(ShuffleId shuffle) const {
  const auto it = outputs_.find(shuffle);
  return it == outputs_.end() ? nullptr : &it->second;
}

bool DagScheduler::IsIndeterminate(const Stage& stage) const {
  return config_.beyond.whole_stage_when_indeterminate &&
         lineage_.DeterminismOf(stage.dataset) == Determinism::kIndeterminate;
}

bool DagScheduler::HasTheSameRowsAgain(ShuffleId shuffle) const {
  const Lineage::ShuffleUse* const use = lineage_.Shuffle(shuffle);
  return use != nullptr && lineage_.DeterminismOf(use->parent) != Determinism::kIndeterminate;
}

std::string DagScheduler::Describe(const Stage& stage) const {
  const std::string& name = lineage_.Get(stage.dataset).name;
  return (stage.is_map() ? "ShuffleMapStage " : "ResultStage ") + std::to_string(stage.id) +
         (name.empty() ? "" : " (" + name + ")");
}

// ---- building stages -----------------------------------------------------------------------------------------------

/// Shuffles above `dataset` that no stage writes yet, the furthest first.
std::vector<ShuffleId> DagScheduler::MissingAncestors(DatasetId dataset) const {
  std::vector<ShuffleId> ancestors;
  std::set<DatasetId> visited;
  std::vector<DatasetId> stack{dataset};
  while (!stack.empty()) {
    const DatasetId at = stack.back();
    stack.pop_back();
    if (!visited.insert(at).second) continue;
    lineage_.ShufflesRead(at).ForEach([&](ShuffleId shuffle) {
      if (map_stages_.contains(shuffle)) return;
      ancestors.push_back(shuffle);
      stack.push_back(lineage_.Shuffle(shuffle)->parent);
    });
  }
  std::reverse(ancestors.begin(), ancestors.end());
  return ancestors;
}

Stage& DagScheduler::GetOrCreateMapStage(ShuffleId shuffle, JobId job) {
  if (const auto it = map_stages_.find(shuffle); it != map_stages_.end()) return stages_.at(it->second);
  for (const ShuffleId ancestor : MissingAncestors(lineage_.Shuffle(shuffle)->parent)) {
    if (!map_stages_.contains(ancestor)) CreateMapStage(ancestor, job);
  }
  return CreateMapStage(shuffle, job);
}

std::vector<StageId> DagScheduler::GetOrCreateParents(DatasetId dataset, JobId job) {
  IntHashSet parents;  // Spark maps a hash set of dependencies to a hash set of stages
  lineage_.ShufflesRead(dataset).ForEach(
      [&](ShuffleId shuffle) { parents.Insert(GetOrCreateMapStage(shuffle, job).id); });
  return parents.Keys();
}

Stage& DagScheduler::CreateMapStage(ShuffleId shuffle, JobId job) {
  const Lineage::ShuffleUse use = *lineage_.Shuffle(shuffle);
  std::vector<StageId> parents = GetOrCreateParents(use.parent, job);
  const StageId id = next_stage_++;
  Stage& stage = stages_[id];
  stage.id = id;
  stage.dataset = use.parent;
  stage.shuffle = shuffle;
  stage.parents = std::move(parents);
  stage.first_job = job;
  const int32_t maps = lineage_.Get(use.parent).partitions;
  stage.pending.resize(static_cast<size_t>(maps));
  map_stages_[shuffle] = id;
  RegisterWithJob(stage, job);
  outputs_.try_emplace(shuffle, maps, use.reduces);  // outputs of an earlier stage may still be there
  return stage;
}

Stage& DagScheduler::CreateResultStage(const SubmitJob& job) {
  std::vector<StageId> parents = GetOrCreateParents(job.target, job.job);
  const StageId id = next_stage_++;
  Stage& stage = stages_[id];
  stage.id = id;
  stage.dataset = job.target;
  stage.parents = std::move(parents);
  stage.first_job = job.job;
  stage.partitions = job.partitions;
  for (size_t output = 0; output < job.partitions.size(); ++output) {
    const int32_t partition = job.partitions[output];
    if (partition != static_cast<int32_t>(output)) stage.outputs[partition] = static_cast<int32_t>(output);
  }
  RegisterWithJob(stage, job.job);
  return stage;
}

/// The job needs the stage and all its ancestors.
void DagScheduler::RegisterWithJob(Stage& stage, JobId job) {
  std::vector<StageId> stack{stage.id};
  while (!stack.empty()) {
    Stage& at = stages_.at(stack.back());
    stack.pop_back();
    at.jobs.insert(job);
    jobs_[job].stages.insert(at.id);
    for (const StageId parent : at.parents) {
      if (!stages_.at(parent).jobs.contains(job)) stack.push_back(parent);
    }
  }
}

void DagScheduler::Handle(const SubmitJob& event) {
  base::Status checked = lineage_.Check(event);
  if (checked.ok() && jobs_.contains(event.job)) checked = base::Error{"job id is taken"};
  if (!checked.ok()) {
    out_->push_back(model::tasks::JobRejected{.job = event.job, .error = checked.error().message});
    return;
  }
  lineage_.Define(event.datasets);
  if (event.partitions.empty()) {
    JobEnded end;
    end.job = event.job;
    end.succeeded = true;
    out_->push_back(std::move(end));
    return;
  }
  Stage& final_stage = CreateResultStage(event);
  final_stage.active_job = event.job;
  Job& job = jobs_[event.job];
  job.id = event.job;
  job.final_stage = final_stage.id;
  job.group = event.group;
  job.pool = event.pool;
  job.description = event.description;
  job.finished.resize(event.partitions.size());
  active_jobs_.Insert(event.job);
  SubmitStage(final_stage);
}

// ---- submitting stages ---------------------------------------------------------------------------------------------

bool DagScheduler::IsAvailable(const Stage& stage) const {
  const MapOutputTable& table = outputs_.at(stage.shuffle);
  return table.available() == table.maps();
}

/// The oldest live job that needs the stage, or -1.
JobId DagScheduler::ActiveJobOf(const Stage& stage) const {
  for (const JobId job : stage.jobs) {
    if (active_jobs_.Contains(job)) return job;
  }
  return -1;
}

/// The job new ancestors of the stage are made for: the one that made it, else the oldest live one.
JobId DagScheduler::OwnerOf(const Stage& stage) const {
  return jobs_.contains(stage.first_job) ? stage.first_job : ActiveJobOf(stage);
}

std::vector<StageId> DagScheduler::MissingParents(const Stage& stage) {
  std::set<StageId> missing;
  std::set<DatasetId> visited;
  std::vector<DatasetId> stack{stage.dataset};
  while (!stack.empty()) {
    const DatasetId at = stack.back();
    stack.pop_back();
    if (!visited.insert(at).second || lineage_.FullyCached(at)) continue;
    for (const Dependency& dependency : lineage_.Get(at).dependencies) {
      if (dependency.kind != Dependency::Kind::kShuffle) {
        stack.push_back(dependency.dataset);
        continue;
      }
      Stage& map = GetOrCreateMapStage(dependency.shuffle, OwnerOf(stage));
      if (!IsAvailable(map)) {
        missing.insert(map.id);
      } else if (map.next_attempt == 0) {
        map.next_attempt = 1;  // skipped: if it is ever run, that is a retry
      }
    }
  }
  return {missing.begin(), missing.end()};
}

/// Submits the stage, or first the parents whose outputs are missing. Depth is bounded by the chain of shuffles.
void DagScheduler::SubmitStage(Stage& stage) {
  const JobId job = ActiveJobOf(stage);
  if (job < 0) {
    AbortStage(stage, "No active job for stage " + std::to_string(stage.id), nullptr);
    return;
  }
  if (waiting_.Contains(stage.id) || running_.Contains(stage.id) || failed_.Contains(stage.id)) return;
  const std::vector<StageId> missing = MissingParents(stage);
  if (missing.empty()) {
    SubmitMissingTasks(stage, job);
    return;
  }
  const StageId id = stage.id;
  for (const StageId parent : missing) {
    if (Stage* found = Find(parent)) SubmitStage(*found);
  }
  if (Find(id) != nullptr) waiting_.Insert(id);
}

std::vector<int32_t> DagScheduler::MissingPartitions(const Stage& stage) const {
  std::vector<int32_t> missing;
  if (stage.is_map()) {
    const MapOutputTable& table = outputs_.at(stage.shuffle);
    for (int32_t map = 0; map < table.maps(); ++map) {
      if (table.place(map) == MapOutputTable::kMissing) missing.push_back(map);
    }
    return missing;
  }
  const auto job = jobs_.find(stage.active_job);
  for (size_t output = 0; output < stage.partitions.size(); ++output) {
    if (job == jobs_.end() || !job->second.finished[output]) missing.push_back(stage.partitions[output]);
  }
  return missing;
}

void DagScheduler::SubmitMissingTasks(Stage& stage, JobId job) {
  // Outputs that may differ when made again cannot be mixed with what is left of the old ones.
  if (stage.is_map() && IsIndeterminate(stage) && !IsAvailable(stage)) UnregisterAll(stage.shuffle);
  std::vector<int32_t> partitions = MissingPartitions(stage);
  running_.Insert(stage.id);
  stage.latest_attempt = stage.next_attempt++;
  stage.epochs.resize(static_cast<size_t>(stage.next_attempt), epoch_);
  stage.epochs.back() = epoch_;
  if (stage.is_map()) {
    std::fill(stage.pending.begin(), stage.pending.end(), false);
    stage.pending_count = 0;
    for (const int32_t partition : partitions) stage.SetPending(partition, true);
  }
  if (partitions.empty()) {
    if (stage.is_map()) {
      MapStageDone(stage);
    } else {
      MarkFinished(stage, {});
    }
    return;
  }
  DagSubmit submit;
  submit.pool = jobs_.at(job).pool;
  for (size_t index = 0; index < partitions.size(); ++index) {
    std::vector<TaskLocation> places = PreferredLocations(stage.dataset, partitions[index]);
    if (places.empty()) continue;
    submit.locations.resize(partitions.size());
    submit.locations[index] = std::move(places);
  }
  submit.stage = {.stage = stage.id,
                  .attempt = stage.latest_attempt,
                  .job = job,
                  .dataset = stage.dataset,
                  .shuffle = stage.shuffle,
                  .reduce_partitions = stage.is_map() ? outputs_.at(stage.shuffle).reduces() : 0,
                  .parents = stage.parents,
                  .partitions = std::move(partitions),
                  .reads = lineage_.ShufflesRead(stage.dataset).Keys(),
                  .epoch = epoch_};
  out_->push_back(std::move(submit));
}

std::vector<TaskLocation> DagScheduler::PreferredLocations(DatasetId dataset, int32_t partition) const {
  std::vector<TaskLocation> places;
  lineage_.WalkNarrow(dataset, partition, [&](const Dataset& at, int32_t part) {
    for (const model::tasks::ExecutorIndex executor : lineage_.CachedAt(at.id, part)) {
      const Executor& known = executors_[executor.value];
      places.push_back({.kind = TaskLocation::Kind::kExecutor, .host = known.host, .executor = known.id});
    }
    if (places.empty() && !at.preferred.empty()) places = at.preferred[static_cast<size_t>(part)];
    if (places.empty() && config_.reduce_locality) places = LargestInputs(at, part);
    return !places.empty();
  });
  return places;
}

/// Where the partition's input is merged; else hosts of executors that hold a fifth or more of a small shuffle's.
std::vector<TaskLocation> DagScheduler::LargestInputs(const Dataset& dataset, int32_t partition) const {
  if (dataset.dependencies.size() != 1 || dataset.dependencies[0].kind != Dependency::Kind::kShuffle) return {};
  const MapOutputTable* table = Outputs(dataset.dependencies[0].shuffle);
  if (const auto merge = merge_hosts_.find(dataset.dependencies[0].shuffle);
      table != nullptr && merge != merge_hosts_.end()) {
    const size_t at = MergerOf(partition, table->reduces(), merge->second.size());
    return {{.kind = TaskLocation::Kind::kHost, .host = merge->second[at], .executor = {}}};
  }
  if (table == nullptr || table->maps() >= kReduceLocalityMaps || table->reduces() >= kReduceLocalityReduces) {
    return {};
  }
  std::map<uint32_t, int64_t> bytes;
  int64_t total = 0;
  for (const MapOutputTable::Block& block : table->BlocksOf(partition)) {
    bytes[block.place] += block.bytes;
    total += block.bytes;
  }
  std::vector<TaskLocation> places;
  for (const auto& [executor, sum] : bytes) {
    if (static_cast<double>(sum) / static_cast<double>(total) < kReduceLocalityFraction) continue;
    places.push_back({.kind = TaskLocation::Kind::kHost, .host = executors_[executor].host, .executor = {}});
  }
  return places;
}

/// Older jobs first; stages of one job in the order of Spark's hash set, in which they come.
void DagScheduler::SubmitByFirstJob(std::vector<StageId> stages) {
  std::stable_sort(stages.begin(), stages.end(),
                   [&](StageId a, StageId b) { return stages_.at(a).first_job < stages_.at(b).first_job; });
  for (const StageId id : stages) {
    if (Stage* stage = Find(id)) SubmitStage(*stage);
  }
}

std::vector<StageId> DagScheduler::TakeWaitingChildren(const Stage& parent) {
  IntHashSet children;
  waiting_.ForEach([&](StageId id) {
    const std::vector<StageId>& parents = stages_.at(id).parents;
    if (std::find(parents.begin(), parents.end(), parent.id) != parents.end()) children.Insert(id);
  });
  std::vector<StageId> taken = children.Keys();
  for (const StageId id : taken) waiting_.Erase(id);
  return taken;
}

void DagScheduler::SubmitWaitingChildren(const Stage& parent) { SubmitByFirstJob(TakeWaitingChildren(parent)); }

/// Nobody depends on the stage, so it will not run again: what waits for it has its outputs already (older attempts
/// made them meanwhile) and its children go on, or is not needed either. Spark leaves both waiting.
void DagScheduler::ReleaseChildren(const Stage& parent) {
  for (const StageId id : TakeWaitingChildren(parent)) {
    const Stage* child = Find(id);
    if (child == nullptr) continue;
    if (child->is_map() && IsAvailable(*child)) {
      SubmitWaitingChildren(*child);
    } else {
      ReleaseChildren(*child);
    }
  }
}

void DagScheduler::Handle(const DagResubmitFailed&) {
  std::vector<StageId> again = failed_.Keys();
  failed_.Clear();
  SubmitByFirstJob(std::move(again));
}

// ---- what comes of tasks -------------------------------------------------------------------------------------------

void DagScheduler::Handle(const DagTaskEnded& event) {
  Stage* stage = Find(event.set.stage);
  if (stage == nullptr) return;
  switch (event.kind) {
    case EndKind::kSuccess:
      if (!IsIndeterminate(*stage) && event.set.attempt < stage->latest_attempt) {
        out_->push_back(DagPartitionDone{.stage = stage->id, .partition = event.partition});
      }
      if (stage->is_map()) {
        MapSucceeded(*stage, event);
      } else {
        ResultSucceeded(*stage, event);
      }
      break;
    case EndKind::kFetchFailed:
      FetchFailed(*stage, event);
      break;
    case EndKind::kResubmitted:
      if (stage->is_map()) stage->SetPending(event.partition, true);
      break;
    default:
      break;  // the task scheduler tries again or fails the set
  }
}

void DagScheduler::ResultSucceeded(Stage& stage, const DagTaskEnded& event) {
  if (stage.active_job < 0 || event.set.attempt < stage.first_valid_attempt) return;
  Job& job = jobs_.at(stage.active_job);
  const auto moved = stage.outputs.find(event.partition);
  const int32_t output = moved == stage.outputs.end() ? event.partition : moved->second;
  if (job.finished[static_cast<size_t>(output)]) return;
  job.finished[static_cast<size_t>(output)] = true;
  ++job.finished_count;
  out_->push_back(ResultAccepted{.job = job.id, .output = output, .task = event.task});
  if (job.finished_count < static_cast<int32_t>(job.finished.size())) return;
  JobEnded end;
  end.job = job.id;
  end.succeeded = true;
  const StageId id = stage.id;
  MarkFinished(stage, {});
  CancelIndependentStages(job, "Job " + std::to_string(job.id) + " is finished.");
  CleanUp(job.id);
  out_->push_back(DagKill{.stage = id, .reason = "Stage finished", .stop = false});
  out_->push_back(std::move(end));
}

void DagScheduler::MapSucceeded(Stage& stage, const DagTaskEnded& event) {
  const int32_t attempt = event.set.attempt;
  const bool stale = IsIndeterminate(stage) && (attempt < stage.latest_attempt || attempt < stage.first_valid_attempt);
  if (!stale) {
    stage.SetPending(event.partition, false);
    const int64_t lost_at = executors_[event.executor.value].failure_epoch;
    const int64_t made_at = stage.epochs[static_cast<size_t>(attempt)];
    // A task that began before its executor was lost may report an output that is gone.
    if (lost_at < 0 || made_at > lost_at) {
      MapOutputTable& table = outputs_.at(stage.shuffle);
      std::vector<uint8_t> padded;
      std::span<const uint8_t> sizes = event.sizes;
      if (static_cast<int32_t>(sizes.size()) != table.reduces()) {  // said by an executor: do not trust it
        padded = event.sizes;
        padded.resize(static_cast<size_t>(table.reduces()));
        sizes = padded;
      }
      table.Set(event.partition, event.executor.value, event.task, sizes);
    }
  }
  if (running_.Contains(stage.id) && stage.pending_count == 0) MapStageDone(stage);
}

void DagScheduler::MapStageDone(Stage& stage) {
  MarkFinished(stage, {});
  ++epoch_;
  out_->push_back(MapOutputsChanged{.shuffle = stage.shuffle, .epoch = epoch_});
  if (IsAvailable(stage)) {
    SubmitWaitingChildren(stage);
  } else {
    SubmitStage(stage);  // outputs were lost meanwhile
  }
}

void DagScheduler::FetchFailed(Stage& stage, const DagTaskEnded& event) {
  const auto map = map_stages_.find(event.shuffle);
  if (map == map_stages_.end() || stage.latest_attempt != event.set.attempt) return;
  const int64_t epoch = stage.epochs[static_cast<size_t>(event.set.attempt)];
  NoteFetchFailure(stage, stages_.at(map->second), event);
  if (event.source.value < executors_.size()) RemoveOutputs(event.source, true, false, epoch);
}

void DagScheduler::NoteFetchFailure(Stage& failed, Stage& map, const DagTaskEnded& event) {
  failed.failed_attempts.insert(event.set.attempt);
  if (running_.Contains(failed.id)) MarkFinished(failed, "fetch failure: " + event.message);
  MapOutputTable& table = outputs_.at(event.shuffle);
  if (event.map_index >= 0 && event.map_index < table.maps()) {
    if (table.place(event.map_index) == event.source.value) table.Remove(event.map_index);
    ++epoch_;
    out_->push_back(MapOutputsChanged{.shuffle = event.shuffle, .epoch = epoch_});
  }
  if (static_cast<int32_t>(failed.failed_attempts.size()) >= config_.stage_max_consecutive_attempts) {
    AbortStage(failed,
               Describe(failed) + " has failed the maximum allowable number of times: " +
                   std::to_string(config_.stage_max_consecutive_attempts) +
                   ". Most recent failure reason: " + event.message,
               nullptr);
    return;
  }
  const bool first = failed_.Insert(failed.id);
  failed_.Insert(map.id);
  if (!first) return;  // a resubmission is on its way
  if (IsIndeterminate(map)) RollBack(map);
  out_->push_back(DagResubmitWanted{});
}

/// Stages of live jobs that read outputs of `map`, directly or through others, and `map` itself.
std::set<StageId> DagScheduler::StagesAbove(const Stage& map) const {
  // Parents have smaller numbers than their children, so one ascending pass sees every chain.
  std::set<StageId> above{map.id};
  for (const auto& [id, stage] : stages_) {
    if (std::any_of(stage.parents.begin(), stage.parents.end(), [&](StageId p) { return above.contains(p); })) {
      above.insert(id);
    }
  }
  return above;
}

/// A stage whose rows may differ is made again: everything that was computed from it goes, and a job that already
/// holds results of it fails. Spark leaves finished map stages above it as they are; here they go too.
void DagScheduler::RollBack(const Stage& map) {
  const std::string cause = Describe(map);
  for (const StageId id : StagesAbove(map)) {
    Stage* stage = Find(id);
    if (stage == nullptr) continue;
    if (!stage->is_map() && stage->active_job >= 0 && jobs_.at(stage->active_job).finished_count > 0) {
      AbortStage(*stage,
                 "An output of " + cause +
                     " was lost, whose rows depend on the order of its input and may differ when " +
                     "it is computed again; " + Describe(*stage) +
                     " already has results of the old rows and cannot be rolled back. Sort the input, or save it " +
                     "before repartitioning or sampling it",
                 nullptr);
      continue;
    }
    stage->first_valid_attempt = stage->next_attempt;
    if (stage->is_map()) UnregisterAll(stage->shuffle);
    if (running_.Contains(id)) {
      MarkFinished(*stage, "input of it is computed again: " + cause);
      out_->push_back(DagKill{.stage = id, .reason = "its input is computed again", .stop = true});
      failed_.Insert(id);
    }
  }
}

void DagScheduler::UnregisterAll(ShuffleId shuffle) {
  MapOutputTable& table = outputs_.at(shuffle);
  for (int32_t map = 0; map < table.maps(); ++map) table.Remove(map);
  ++epoch_;
  out_->push_back(MapOutputsChanged{.shuffle = shuffle, .epoch = epoch_});
}

void DagScheduler::MarkFinished(Stage& stage, const std::string& failure) {
  if (failure.empty()) stage.failed_attempts.clear();
  out_->push_back(StageCompleted{.stage = stage.id, .attempt = stage.latest_attempt, .failure = failure});
  running_.Erase(stage.id);
}

/// `epoch` is that at which the loss was caught; a loss that is known already changes nothing.
void DagScheduler::RemoveOutputs(ExecutorIndex index, bool files_lost, bool host_lost, int64_t epoch) {
  Executor& executor = executors_[index.value];
  if (executor.failure_epoch < epoch) executor.failure_epoch = epoch;
  if (!files_lost || executor.files_lost_epoch >= epoch) return;
  executor.files_lost_epoch = epoch;
  ++epoch_;
  for (auto& [shuffle, table] : outputs_) {
    bool removed = false;
    for (int32_t map = 0; map < table.maps(); ++map) {
      const uint32_t place = table.place(map);
      if (place == MapOutputTable::kMissing) continue;
      if (place == index.value || (host_lost && executors_[place].host == executor.host)) {
        removed = table.Remove(map) || removed;
      }
    }
    if (removed) out_->push_back(MapOutputsChanged{.shuffle = shuffle, .epoch = epoch_});
  }
}

// ---- ends of jobs --------------------------------------------------------------------------------------------------

void DagScheduler::Handle(const DagSetFailed& event) {
  const SetId set = event.failure.set;
  Stage* stage = Find(set.stage);
  if (stage == nullptr) return;
  AbortStage(*stage, event.failure.reason, &event.failure);
  // No job depends on it when an older attempt has made all its outputs meanwhile, or when what it feeds is cached.
  stage = Find(set.stage);
  if (stage == nullptr || stage->latest_attempt != set.attempt || !running_.Contains(set.stage)) return;
  if (stage->is_map() && IsAvailable(*stage)) {
    MapStageDone(*stage);
  } else {
    MarkFinished(*stage, event.failure.reason);
    ReleaseChildren(*stage);
  }
}

/// Whether `target` must be computed for `stage`: walks lineage through outputs that are missing.
bool DagScheduler::DependsOn(const Stage& stage, const Stage& target) {
  if (stage.id == target.id) return true;
  std::set<DatasetId> visited;
  std::vector<DatasetId> stack{stage.dataset};
  while (!stack.empty()) {
    const DatasetId at = stack.back();
    stack.pop_back();
    if (!visited.insert(at).second) continue;
    for (const Dependency& dependency : lineage_.Get(at).dependencies) {
      if (dependency.kind != Dependency::Kind::kShuffle) {
        stack.push_back(dependency.dataset);
      } else if (const Stage& map = GetOrCreateMapStage(dependency.shuffle, OwnerOf(stage)); !IsAvailable(map)) {
        stack.push_back(map.dataset);
      }
    }
  }
  return visited.contains(target.dataset);
}

/// Fails every live job that needs the stage.
void DagScheduler::AbortStage(Stage& stage, const std::string& reason, const SetFailed* failure) {
  if (Find(stage.id) == nullptr) return;
  JobEnded end;
  end.failed_stage = stage.id;
  end.failed_dataset = lineage_.Get(stage.dataset).name;
  end.error = "Job aborted due to failure of " + Describe(stage) + ": " + reason;
  if (failure != nullptr) {
    end.troubles = failure->troubles;
    end.failed_partition = failure->partition;
  }
  IdentityHashSet dependent;
  for (const JobId job : active_jobs_.Keys()) {
    if (DependsOn(stages_.at(jobs_.at(job).final_stage), stage)) dependent.Insert(job);
  }
  for (const JobId job : dependent.Keys()) FailJob(job, end);
}

void DagScheduler::FailJob(JobId job, JobEnded end) {
  CancelIndependentStages(jobs_.at(job), end.error);
  CleanUp(job);
  end.job = job;
  out_->push_back(std::move(end));
}

/// Running stages that only this job needs are cancelled.
void DagScheduler::CancelIndependentStages(const Job& job, const std::string& reason) {
  for (const StageId id : job.stages) {
    Stage* stage = Find(id);
    if (stage == nullptr || stage->jobs.size() != 1 || !stage->jobs.contains(job.id)) continue;
    if (!running_.Contains(id)) continue;
    out_->push_back(DagCancel{.stage = id, .reason = reason});
    MarkFinished(*stage, reason);
  }
}

void DagScheduler::CleanUp(JobId job) {
  for (const StageId id : jobs_.at(job).stages) {
    Stage* stage = Find(id);
    if (stage == nullptr) continue;
    stage->jobs.erase(job);
    if (stage->active_job == job) stage->active_job = -1;
    if (!stage->jobs.empty()) continue;
    running_.Erase(id);
    waiting_.Erase(id);
    failed_.Erase(id);
    if (stage->is_map()) map_stages_.erase(stage->shuffle);
    stages_.erase(id);
  }
  active_jobs_.Erase(job);
  jobs_.erase(job);
}

void DagScheduler::Cancel(JobId job, const std::string& reason) {
  if (!active_jobs_.Contains(job)) return;
  JobEnded end;
  end.cancelled = true;
  end.error = "Job " + std::to_string(job) + " cancelled" + (reason.empty() ? "" : ": " + reason);
  FailJob(job, std::move(end));
}

void DagScheduler::Handle(const model::tasks::CancelJob& event) { Cancel(event.job, event.reason); }

void DagScheduler::Handle(const model::tasks::CancelGroup& event) {
  for (const JobId job : active_jobs_.Keys()) {
    if (jobs_.at(job).group != event.group) continue;
    Cancel(job, event.reason.empty() ? "part of cancelled job group " + event.group : event.reason);
  }
}

void DagScheduler::Handle(const model::tasks::CancelStage& event) {
  const Stage* stage = Find(event.stage);
  if (stage == nullptr) return;
  const std::set<JobId> jobs = stage->jobs;
  for (const JobId job : jobs) {
    Cancel(job,
           event.reason.empty() ? "because Stage " + std::to_string(event.stage) + " was cancelled" : event.reason);
  }
}

// ---- for readers ---------------------------------------------------------------------------------------------------

std::set<uint32_t> DagScheduler::HoldersOfLiveOutputs() const {
  std::set<uint32_t> holders;
  for (const auto& [shuffle, stage] : map_stages_) {
    const MapOutputTable& table = outputs_.at(shuffle);
    for (int32_t map = 0; map < table.maps(); ++map) {
      if (table.place(map) != MapOutputTable::kMissing) holders.insert(table.place(map));
    }
  }
  return holders;
}

std::string DagScheduler::CheckInvariants() const {
  for (const auto& [id, stage] : stages_) {
    const std::string where = "stage " + std::to_string(id) + ": ";
    if (stage.jobs.empty()) return where + "no job needs it";
    for (const JobId job : stage.jobs) {
      const auto it = jobs_.find(job);
      if (it == jobs_.end() || !it->second.stages.contains(id)) return where + "its job does not know it";
    }
    for (const StageId parent : stage.parents) {
      const auto it = stages_.find(parent);
      if (it == stages_.end() ||
          !std::includes(it->second.jobs.begin(), it->second.jobs.end(), stage.jobs.begin(), stage.jobs.end())) {
        return where + "a job needs it but not its parent " + std::to_string(parent);
      }
    }
    const int states = running_.Contains(id) + waiting_.Contains(id);
    if (states > 1) return where + "waits and runs";
    if (!stage.is_map()) continue;
    if (std::count(stage.pending.begin(), stage.pending.end(), true) != stage.pending_count) {
      return where + "count of pending partitions";
    }
    if (const auto it = map_stages_.find(stage.shuffle); it == map_stages_.end() || it->second != id) {
      return where + "another stage writes its shuffle";
    }
  }
  for (const IntHashSet* set : {&running_, &waiting_, &failed_}) {
    for (const StageId id : set->Keys()) {
      if (!stages_.contains(id)) return "stage " + std::to_string(id) + " is gone but has a state";
    }
  }
  for (const auto& [id, job] : jobs_) {
    if (std::count(job.finished.begin(), job.finished.end(), true) != job.finished_count) {
      return "job " + std::to_string(id) + ": count of finished outputs";
    }
    if (active_jobs_.Contains(id) && !stages_.contains(job.final_stage)) {
      return "job " + std::to_string(id) + ": its last stage is gone";
    }
  }
  for (const auto& [shuffle, table] : outputs_) {
    int32_t available = 0;
    for (int32_t map = 0; map < table.maps(); ++map) available += table.place(map) != MapOutputTable::kMissing;
    if (available != table.available()) return "shuffle " + std::to_string(shuffle) + ": count of outputs";
  }
  return {};
}

void DagScheduler::HashInto(base::StateHasher& hasher) const {
  const auto mix = [&](int64_t value) { hasher.Mix(static_cast<uint64_t>(value)); };
  mix(epoch_);
  mix(next_stage_);
  for (const auto& [id, stage] : stages_) {
    mix(id);
    mix(stage.latest_attempt);
    mix(stage.next_attempt);
    mix(stage.pending_count);
    mix(running_.Contains(id) | waiting_.Contains(id) << 1 | failed_.Contains(id) << 2);
    for (const int32_t attempt : stage.failed_attempts) mix(attempt);
  }
  for (const auto& [id, job] : jobs_) {
    mix(id);
    for (const bool finished : job.finished) mix(finished);
  }
  for (const auto& [shuffle, table] : outputs_) {
    mix(shuffle);
    for (int32_t map = 0; map < table.maps(); ++map) {
      mix(table.place(map));
      mix(table.task(map));
    }
  }
  for (const auto& [shuffle, hosts] : merge_hosts_) {
    mix(shuffle);
    for (const std::string& host : hosts) hasher.Mix(host);
  }
}

}  // namespace fairlead::tasks

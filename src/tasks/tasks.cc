#include "tasks/tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "tasks/commit_book.h"
#include "tasks/dag_scheduler.h"
#include "tasks/run_ahead.h"
#include "tasks/task_scheduler.h"

namespace fairlead::tasks {

using base::Instant;
using model::tasks::EndKind;
using model::tasks::ExecutorIndex;
using model::tasks::FailureKind;
using model::tasks::LaunchBatch;
using model::tasks::LaunchTask;
using model::tasks::StageId;
using model::tasks::TaskId;

namespace {

bool IsFailure(EndKind kind) { return kind != EndKind::kSuccess; }

}  // namespace

/// Carries what one half says to the other until both are silent, and decides when whom to offer.
class Tasks::Impl {
 public:
  explicit Impl(Config config)
      : config_(std::move(config)), sets_(config_), dag_(config_), run_ahead_(config_.beyond.run_ahead.ns > 0) {}

  void Step(Instant now, std::span<const model::tasks::Event> events, EffectSink& out) {
    FL_CHECK(now >= now_, "time does not go back");
    now_ = now;
    out_ = &out;
    sets_.Begin(now, set_effects_);
    for (const model::tasks::Event& event : events) {
      current_ = &event;
      std::visit([this](const auto& alternative) { Apply(alternative); }, event);
      Drain();
    }
    current_ = nullptr;
    RunTimers();
    Offers();
    FlushLaunches();
    TellDemand();
    out_ = nullptr;
  }

  Instant NextDeadline() const {
    Instant next = resubmit_at_;
    if (config_.speculation.enabled && HasRunning()) {
      next = std::min(next, last_speculation_check_ + config_.speculation.interval);
    }
    next = std::min({next, sets_.NextUnschedulable(), NextStall()});
    if (HasPending() && FreeSlots() > 0) {
      const Instant revive = last_round_ + config_.revive_interval;
      Instant wait = sets_.NextWaitEnd();
      // A wait that is over but was not acted upon (its executors are excluded, ...) is looked at with the revival.
      if (wait <= now_) wait = revive;
      next = std::min({next, wait, revive});
    }
    return next;
  }

  std::string CheckInvariants() const;
  uint64_t StateHash() const;
  View GetView() const;

  const MapOutputTable* Outputs(model::tasks::ShuffleId shuffle) const { return dag_.Outputs(shuffle); }
  int64_t Epoch() const { return dag_.epoch(); }
  bool HasTheSameRowsAgain(model::tasks::ShuffleId shuffle) const { return dag_.HasTheSameRowsAgain(shuffle); }
  std::vector<ExecutorIndex> CachedAt(model::tasks::DatasetId dataset, int32_t partition) const {
    if (!dag_.lineage().IsCachedPartition(dataset, partition)) return {};
    return dag_.lineage().CachedAt(dataset, partition);
  }
  std::vector<model::tasks::DatasetId> DatasetsWithCached() const { return dag_.lineage().WithCached(); }

  StagePlaces PlacesOf(model::tasks::StageId stage, int32_t attempt) const {
    const TaskSet* const set = sets_.Find({.stage = stage, .attempt = attempt});
    return set == nullptr ? StagePlaces{} : set->Places();
  }

  std::vector<model::tasks::TaskLocation> PlacesOf(model::tasks::StageId stage, int32_t attempt, int32_t index) const {
    const TaskSet* const set = sets_.Find({.stage = stage, .attempt = attempt});
    return set == nullptr ? std::vector<model::tasks::TaskLocation>{} : set->PlacesOf(index);
  }
  const Config& config() const { return config_; }

  bool InUse(model::tasks::ShuffleId shuffle) const { return dag_.InUse(shuffle); }
  std::vector<ExecutorIndex> Removable() const {
    std::set<uint32_t> holders;
    const bool any_serves = std::any_of(executors_.begin(), executors_.end(), [this](const Executor& executor) {
      return executor.alive && FilesGoWith(executor);
    });
    if (config_.beyond.retain_shuffle_executors && any_serves) holders = dag_.HoldersOfLiveOutputs();
    std::vector<ExecutorIndex> removable;
    for (uint32_t index = 0; index < executors_.size(); ++index) {
      const Executor& executor = executors_[index];
      if (!executor.alive || sets_.cluster().executor(executor.number).running > 0) continue;
      if (FilesGoWith(executor) && holders.contains(index)) continue;
      if (dag_.lineage().HasCached({index})) continue;
      removable.push_back({index});
    }
    return removable;
  }

 private:
  struct Executor {
    std::string id;
    std::string host;
    ExecutorNumber number = 0;
    HostNumber host_number = 0;
    int32_t slots = 0;
    bool alive = false;
    bool decommissioning = false;
    bool in_freed = false;
    bool serves_own_files = false;
    RunAhead ahead;
  };
  bool FilesGoWith(const Executor& executor) const {
    return executor.serves_own_files || !config_.external_shuffle_service;
  }

  // ---- events from outside ----
  void Apply(const model::tasks::SubmitJob& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::CancelJob& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::CancelGroup& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::CancelStage& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::BlockCached& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::ForgetDatasets& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::MergePlaced& event) { dag_.Apply(event, dag_effects_); }
  void Apply(const model::tasks::TaskStarted& event) { sets_.Started(event.task); }

  void Apply(const model::tasks::HostRack& event) {
    sets_.cluster().SetRack(sets_.cluster().InternHost(event.host), event.rack);
  }

  void Apply(const model::tasks::ExecutorAdded& event) {
    const uint32_t index = event.executor.value;
    if (index >= executors_.size()) executors_.resize(index + 1);
    Executor& executor = executors_[index];
    FL_CHECK(executor.id.empty() && !event.id.empty(), "an executor's index is used once");
    Cluster& cluster = sets_.cluster();
    executor.id = event.id;
    executor.host = event.host;
    executor.number = cluster.InternExecutor(event.id);
    executor.host_number = cluster.InternHost(event.host);
    executor.slots = std::max(event.slots, 1);
    executor.alive = true;
    executor.serves_own_files = event.serves_own_files;
    if (!event.rack.empty()) cluster.SetRack(executor.host_number, event.rack);
    cluster.executor(executor.number).slots = executor.slots;
    if (executor.number >= index_of_.size()) index_of_.resize(executor.number + 1);
    FL_CHECK(!IndexOf(executor.number).valid() || !executors_[IndexOf(executor.number).value].alive,
             "an executor's id is unique");
    index_of_[executor.number] = event.executor;
    dag_.Apply(DagExecutorKnown{.executor = event.executor, .id = event.id, .host = event.host}, dag_effects_);
    Freed(index);
  }

  void Apply(const model::tasks::ExecutorLost& event) {
    if (!Known(event.executor) || !executors_[event.executor.value].alive) return;
    Executor& executor = executors_[event.executor.value];
    executor.alive = false;
    // Until no job is left: which task is guilty shall be seen by who dies with it.
    if (event.kind == model::tasks::LossKind::kExitedByApp || event.kind == model::tasks::LossKind::kProcessLost) {
      run_ahead_ = false;
    }
    sets_.ExecutorLost({.executor = executor.id,
                        .kind = event.kind,
                        .host_lost = event.host_lost,
                        .message = event.message,
                        .files_lost = executor.serves_own_files});
  }

  void Apply(const model::tasks::ExecutorDecommissioning& event) {
    if (!Known(event.executor) || !executors_[event.executor.value].alive) return;
    executors_[event.executor.value].decommissioning = true;
    sets_.Decommission(executors_[event.executor.value].number);
  }

  void Apply(const model::tasks::ExecutorLoad& event) {
    if (!Known(event.executor)) return;
    sets_.cluster().executor(executors_[event.executor.value].number).outside_milli_slots =
        std::max(event.milli_slots, 0);
    if (config_.beyond.load_weight_milli > 0) revive_ = true;
  }

  void Apply(const model::tasks::TaskSucceeded& event) {
    if (event.remote_read_ns > 0) sets_.NoteRemoteRead(event.task, event.remote_read_ns);
    NoteFreed(event.task);
    NoteEnd(event.task, event.run_ns);
    sets_.Succeeded(event.task);
  }

  void Apply(const model::tasks::TaskFailed& event) {
    NoteFreed(event.task);
    SetTaskFailed failure{.task = event.task, .kind = event.kind, .state_killed = false, .message = event.message};
    if (event.kind == FailureKind::kFetchFailed && !ReadsShuffle(event.task, event.shuffle)) {
      failure.kind = FailureKind::kException;
      failure.message = "fetch failure of a shuffle that the task does not read: " + event.message;
    }
    sets_.Failed(failure);
  }

  void Apply(const model::tasks::AskCommit& event) {
    const TaskInfo* info = sets_.Info(event.task);
    const bool granted = info != nullptr && info->tracked && dag_.FindStage(info->set->id().stage) != nullptr &&
                         !info->set->SomeAttemptSucceeded(info->index) &&
                         commits_.Ask(info->set->id().stage, info->set->partition(info->index), event.task);
    out_->push_back(model::tasks::CommitAnswered{.task = event.task, .token = event.token, .granted = granted});
  }

  bool Known(ExecutorIndex executor) const {
    return executor.value < executors_.size() && !executors_[executor.value].id.empty();
  }
  /// Invalid for a name that is no executor of ours (a location of somebody else's cache).
  ExecutorIndex IndexOf(ExecutorNumber number) const {
    return number < index_of_.size() ? index_of_[number] : ExecutorIndex{};
  }
  void NoteFreed(TaskId task) {
    const TaskInfo* info = sets_.Info(task);
    if (info != nullptr && info->tracked) Freed(IndexOf(info->executor).value);
  }
  void NoteEnd(TaskId task, int64_t run_ns) {
    const TaskInfo* info = sets_.Info(task);
    if (run_ahead_ && info != nullptr && info->tracked) {
      executors_[IndexOf(info->executor).value].ahead.Ended(run_ns, now_);
    }
  }
  void Freed(uint32_t executor) {
    if (executors_[executor].in_freed) return;
    executors_[executor].in_freed = true;
    freed_.push_back(executor);
  }
  bool ReadsShuffle(TaskId task, model::tasks::ShuffleId shuffle) const {
    const TaskInfo* info = sets_.Info(task);
    if (info == nullptr) return true;  // means nothing any more
    const Stage* stage = dag_.FindStage(info->set->id().stage);
    return stage == nullptr || dag_.lineage().ShufflesRead(stage->dataset).Contains(shuffle);
  }

  // ---- between the halves ----
  void Drain() {
    while (!set_effects_.empty() || !dag_effects_.empty()) {
      std::swap(set_effects_, set_batch_);
      for (const SetEffect& effect : set_batch_) {
        std::visit([this](const auto& alternative) { FromSets(alternative); }, effect);
      }
      set_batch_.clear();
      std::swap(dag_effects_, dag_batch_);
      for (DagEffect& effect : dag_batch_) {
        std::visit([this](auto& alternative) { FromDag(alternative); }, effect);
      }
      dag_batch_.clear();
    }
  }

  void FromSets(const SetLaunched& launched) {
    const LaunchTask launch{.task = launched.task,
                            .executor = IndexOf(launched.executor),
                            .stage = launched.set.stage,
                            .stage_attempt = launched.set.attempt,
                            .index = launched.index,
                            .partition = launched.partition,
                            .attempt = launched.attempt,
                            .level = launched.level,
                            .speculative = launched.speculative,
                            .for_load = launched.for_load};
    if (config_.beyond.templates) {
      launches_.push_back(launch);
    } else {
      out_->push_back(launch);
    }
  }

  void FromSets(const SetTaskEnded& ended) {
    out_->push_back(model::tasks::TaskEnded{.task = ended.task,
                                            .stage = ended.set.stage,
                                            .stage_attempt = ended.set.attempt,
                                            .index = ended.index,
                                            .executor = IndexOf(ended.executor),
                                            .kind = ended.kind});
    if (IsFailure(ended.kind)) commits_.Failed(ended.set.stage, ended.partition, ended.task);
    ended_.set = ended.set;
    ended_.partition = ended.partition;
    ended_.task = ended.task;
    ended_.executor = IndexOf(ended.executor);
    ended_.kind = ended.kind;
    ended_.sizes.clear();
    if (const auto* success = CurrentIf<model::tasks::TaskSucceeded>(); success && success->task == ended.task) {
      ended_.sizes.assign(success->sizes.begin(), success->sizes.end());
    }
    if (const auto* failure = CurrentIf<model::tasks::TaskFailed>(); failure && failure->task == ended.task) {
      ended_.message = failure->message;
      ended_.shuffle = failure->shuffle;
      ended_.map_index = failure->map_index;
      ended_.source = failure->source;
    }
    dag_.TaskEnded(ended_, dag_effects_);
  }

  void FromSets(const SetFailed& failed) { dag_.Apply(DagSetFailed{.failure = failed}, dag_effects_); }
  void FromSets(const SetKill& kill) {
    FlushLaunches();
    out_->push_back(
        model::tasks::KillTask{.task = kill.task, .executor = IndexOf(kill.executor), .reason = kill.reason});
  }
  void FromSets(const SetExecutorJoined& joined) {
    dag_.Apply(DagExecutorAdded{.executor = IndexOf(joined.executor)}, dag_effects_);
  }
  void FromSets(const SetExecutorGone& gone) {
    const auto* loss = CurrentIf<model::tasks::ExecutorLost>();
    const ExecutorIndex executor = IndexOf(gone.executor);
    dag_.Apply(DagExecutorLost{.executor = executor,
                               .host_lost = loss && loss->host_lost,
                               .files_lost = executors_[executor.value].serves_own_files},
               dag_effects_);
  }
  void FromSets(const SetExcluded& excluded) {
    const bool whole_host = excluded.executor == Cluster::kNone;
    out_->push_back(
        model::tasks::ExecutorExcluded{.executor = whole_host ? ExecutorIndex{} : IndexOf(excluded.executor),
                                       .host = sets_.cluster().host_names.Text(excluded.host),
                                       .stage = excluded.set.stage,
                                       .stage_attempt = excluded.set.attempt,
                                       .until = excluded.until});
  }
  void FromSets(const SetRevive&) { revive_ = true; }
  void FromSets(const SetSpeculatable&) {}
  void FromSets(const SetRemoved&) {}

  void FromDag(DagSubmit& submit) {
    for (Executor& executor : executors_) executor.ahead.Reset();
    out_->push_back(submit.stage);
    sets_.Submit({.set = {.stage = submit.stage.stage, .attempt = submit.stage.attempt},
                  .priority = submit.stage.job,
                  .pool = std::move(submit.pool),
                  .shuffle_map = submit.stage.shuffle >= 0,
                  .partitions = std::move(submit.stage.partitions),
                  .locations = std::move(submit.locations)});
  }
  void FromDag(DagCancel& cancel) { sets_.Cancel(cancel.stage, cancel.reason); }
  void FromDag(DagKill& kill) {
    sets_.Kill(kill.stage, kill.reason);
    if (kill.stop) sets_.Stop(kill.stage);
  }
  void FromDag(DagPartitionDone& done) { sets_.PartitionDone(done.stage, done.partition); }
  void FromDag(DagResubmitWanted&) { resubmit_at_ = std::min(resubmit_at_, now_ + config_.resubmit_delay); }
  void FromDag(model::tasks::JobEnded& ended) {
    const auto is_live = [&](StageId stage) { return dag_.FindStage(stage) != nullptr; };
    commits_.Prune(is_live);
    sets_.Reap(is_live);
    if (dag_.jobs().empty()) run_ahead_ = config_.beyond.run_ahead.ns > 0;
    out_->push_back(std::move(ended));
  }
  template <class Effect>
    requires std::is_constructible_v<model::tasks::Effect, Effect>
  void FromDag(Effect& effect) {
    out_->push_back(std::move(effect));
  }

  template <class Event>
  const Event* CurrentIf() const {
    return current_ == nullptr ? nullptr : std::get_if<Event>(current_);
  }

  // ---- time and offers ----
  void RunTimers() {
    if (resubmit_at_ <= now_) {
      resubmit_at_ = Instant::Max();
      dag_.Apply(DagResubmitFailed{}, dag_effects_);
    }
    if (config_.speculation.enabled && now_ - last_speculation_check_ >= config_.speculation.interval) {
      last_speculation_check_ = now_;
      sets_.CheckSpeculation();
    }
    if (sets_.NextUnschedulable() <= now_) sets_.CheckUnschedulable();
    Drain();
    if (NextStall() <= now_) CallBackStalled();
    if (!revive_ && (sets_.NextWaitEnd() <= now_ || now_ - last_round_ >= config_.revive_interval)) revive_ = true;
  }

  /// Offers what became free, or all that is free when more than that has changed. Ends because a round that launches
  /// nothing asks for no other.
  void Offers() {
    if (!revive_ && freed_.empty()) return;
    for (int rounds = 0; (revive_ || !freed_.empty()) && rounds < kMaxRounds; ++rounds) {
      const bool all = revive_;
      CollectOffers(all);
      revive_ = false;
      sets_.TakeLevelMoved();
      if (!offers_.empty()) sets_.OfferSlots(offers_, all);
      if (all) last_round_ = now_;
      Drain();
      // Executors that were turned away before may do at the weaker level.
      if (!all && sets_.TakeLevelMoved() && FreeSlots() > 0) revive_ = true;
    }
  }

  /// Executors in turn, starting behind the one the last round began with, so that none is always first (Spark
  /// shuffles).
  void CollectOffers(bool all) {
    offers_.clear();
    for (const uint32_t index : freed_) executors_[index].in_freed = false;
    if (all) {
      const size_t n = executors_.size();
      rotation_ = n == 0 ? 0 : (rotation_ + 1) % n;
      for (size_t i = 0; i < n; ++i) AddOffer(static_cast<uint32_t>((rotation_ + i) % n));
    } else {
      for (const uint32_t index : freed_) AddOffer(index);
    }
    freed_.clear();
  }
  void AddOffer(uint32_t index) {
    Executor& executor = executors_[index];
    if (!executor.alive || executor.decommissioning) return;
    int32_t free = executor.slots - Running(executor);
    if (run_ahead_) {
      if (free >= 0) executor.ahead.Begin(now_);
      free += static_cast<int32_t>(
          executor.ahead.Extra(config_.beyond.run_ahead, executor.slots, Demand().pending, LiveSlots()));
    }
    if (free > 0) {
      offers_.push_back({.executor = executor.number, .host = executor.host_number, .cores = free});
    }
  }
  int32_t Running(const Executor& executor) const { return sets_.cluster().executor(executor.number).running; }
  int64_t LiveSlots() const {
    int64_t slots = 0;
    for (const Executor& executor : executors_) slots += executor.alive ? executor.slots : 0;
    return slots;
  }

  // ---- tasks sent ahead of their slots ----
  Instant NextStall() const {
    Instant next = Instant::Max();
    if (!run_ahead_) return next;
    for (const Executor& executor : executors_) {
      if (executor.alive && Running(executor) > executor.slots) {
        next = std::min(next, executor.ahead.StallsAt(config_.beyond.run_ahead_stall));
      }
    }
    return next;
  }
  /// An executor runs its tasks in the order of their launches: those behind its slots have not begun.
  void CallBackStalled() {
    std::map<ExecutorNumber, std::vector<TaskId>> tasks;
    for (Executor& executor : executors_) {
      if (!executor.alive || Running(executor) <= executor.slots) continue;
      if (executor.ahead.StallsAt(config_.beyond.run_ahead_stall) > now_) continue;
      executor.ahead.CalledBack();
      tasks[executor.number];
    }
    for (const auto& [id, set] : sets_.sets()) {
      set->running_tasks().ForEach([&](TaskId task) {
        const TaskInfo* info = sets_.Info(task);
        if (const auto found = tasks.find(info->executor); found != tasks.end() && info->tracked) {
          found->second.push_back(task);
        }
      });
    }
    for (auto& [number, running] : tasks) {
      std::sort(running.begin(), running.end());
      const auto slots = static_cast<size_t>(executors_[IndexOf(number).value].slots);
      for (size_t i = slots; i < running.size(); ++i) {
        out_->push_back(model::tasks::KillTask{
            .task = running[i], .executor = IndexOf(number), .reason = "waits behind a task that takes long"});
      }
    }
  }
  int64_t FreeSlots() const {
    int64_t free = 0;
    for (const Executor& executor : executors_) {
      if (!executor.alive || executor.decommissioning) continue;
      free += std::max(executor.slots - Running(executor), 0);
    }
    return free;
  }

  bool HasRunning() const {
    return std::any_of(sets_.sets().begin(), sets_.sets().end(),
                       [](const auto& entry) { return !entry.second->zombie && entry.second->running() > 0; });
  }
  bool HasPending() const {
    return std::any_of(sets_.sets().begin(), sets_.sets().end(),
                       [](const auto& entry) { return entry.second->waiting(); });
  }

  /// With templates, launches of one set on one executor travel together, in the order of the first of them.
  void FlushLaunches() {
    std::map<std::pair<uint32_t, SetId>, size_t> batch_of;
    std::vector<LaunchBatch> batches;
    for (LaunchTask& launch : launches_) {
      const SetId set{.stage = launch.stage, .attempt = launch.stage_attempt};
      const auto [it, is_new] = batch_of.try_emplace({launch.executor.value, set}, batches.size());
      if (is_new) {
        batches.push_back(
            {.executor = launch.executor, .stage = launch.stage, .stage_attempt = launch.stage_attempt, .tasks = {}});
      }
      batches[it->second].tasks.push_back(launch);
    }
    launches_.clear();
    for (LaunchBatch& batch : batches) {
      if (batch.tasks.size() == 1) {
        out_->push_back(batch.tasks.front());
      } else {
        out_->push_back(std::move(batch));
      }
    }
  }

  model::tasks::DemandChanged Demand() const {
    model::tasks::DemandChanged demand;
    for (const auto& [id, set] : sets_.sets()) {
      demand.running += set->running();
      if (set->zombie) continue;
      demand.pending += set->pending_count();
      demand.speculative += static_cast<int64_t>(set->speculatable().size());
    }
    return demand;
  }
  void TellDemand() {
    const model::tasks::DemandChanged demand = Demand();
    if (demand.pending == demand_.pending && demand.running == demand_.running &&
        demand.speculative == demand_.speculative) {
      return;
    }
    demand_ = demand;
    out_->push_back(demand);
  }

  static constexpr int kMaxRounds = 1000;

  const Config config_;
  TaskScheduler sets_;
  DagScheduler dag_;
  CommitBook commits_;
  std::vector<Executor> executors_;
  std::vector<ExecutorIndex> index_of_;  // by ExecutorNumber
  Instant now_;
  Instant resubmit_at_ = Instant::Max();
  Instant last_speculation_check_;
  Instant last_round_;  // of all free slots
  size_t rotation_ = 0;
  bool run_ahead_;
  model::tasks::DemandChanged demand_;

  // Of the running Step.
  EffectSink* out_ = nullptr;
  const model::tasks::Event* current_ = nullptr;
  std::vector<SetEffect> set_effects_;
  std::vector<SetEffect> set_batch_;
  std::vector<DagEffect> dag_effects_;
  std::vector<DagEffect> dag_batch_;
  std::vector<TaskScheduler::Slot> offers_;
  std::vector<uint32_t> freed_;
  std::vector<LaunchTask> launches_;
  DagTaskEnded ended_;
  bool revive_ = false;
};

std::string Tasks::Impl::CheckInvariants() const {
  if (std::string error = sets_.CheckInvariants(); !error.empty()) return error;
  if (std::string error = dag_.CheckInvariants(); !error.empty()) return error;
  for (const Executor& executor : executors_) {
    if (!executor.alive) continue;
    const int64_t ahead = config_.beyond.run_ahead.ns > 0 ? RunAhead::kTasksMax : 0;
    if (Running(executor) < 0 || Running(executor) > executor.slots + ahead)
      return "executor " + executor.id + ": more tasks than slots";
  }
  for (const StageId stage : dag_.running().Keys()) {
    const Stage* found = dag_.FindStage(stage);
    if (sets_.Find({.stage = stage, .attempt = found->latest_attempt}) == nullptr) {
      return "stage " + std::to_string(stage) + " runs without a task set";
    }
  }
  return {};
}

uint64_t Tasks::Impl::StateHash() const {
  base::StateHasher hasher;
  sets_.HashInto(hasher);
  dag_.HashInto(hasher);
  for (const Executor& executor : executors_) {
    hasher.Mix(executor.id);
    hasher.Mix(executor.alive);
    hasher.Mix(executor.serves_own_files);
    executor.ahead.HashInto(hasher);
  }
  for (const auto& [key, task] : commits_.holders()) {
    hasher.Mix(static_cast<uint64_t>(key.first) << 32 | static_cast<uint32_t>(key.second));
    hasher.Mix(static_cast<uint64_t>(task));
  }
  hasher.Mix(static_cast<uint64_t>(resubmit_at_.ns));
  hasher.Mix(static_cast<uint64_t>(last_round_.ns));
  hasher.Mix(rotation_);
  hasher.Mix(run_ahead_);
  return hasher.value();
}

View Tasks::Impl::GetView() const {
  View view;
  for (const auto& [id, job] : dag_.jobs()) {
    view.jobs.push_back({.job = id,
                         .group = job.group,
                         .pool = job.pool,
                         .description = job.description,
                         .outputs = static_cast<int32_t>(job.finished.size()),
                         .outputs_done = job.finished_count,
                         .stages = {job.stages.begin(), job.stages.end()}});
  }
  for (const auto& [id, stage] : dag_.stages()) {
    StageView& row = view.stages.emplace_back();
    row.stage = id;
    row.attempt = stage.latest_attempt;
    row.job = stage.first_job;
    row.dataset = stage.dataset;
    row.dataset_name = dag_.lineage().Get(stage.dataset).name;
    row.shuffle = stage.shuffle;
    row.parents = stage.parents;
    row.state = dag_.running().Contains(id)   ? StageView::State::kRunning
                : dag_.failed().Contains(id)  ? StageView::State::kFailed
                : dag_.waiting().Contains(id) ? StageView::State::kWaiting
                                              : StageView::State::kDone;
    const TaskSet* set = sets_.Find({.stage = id, .attempt = stage.latest_attempt});
    if (set == nullptr) continue;
    row.pool = set->pool_name();
    row.tasks = set->size();
    row.running = set->running();
    row.succeeded = set->successful();
    row.failed_attempts = set->failed_attempts();
    row.level = set->level();
    std::copy_n(set->launched_at(), 5, row.launched_at);
  }
  for (uint32_t index = 0; index < executors_.size(); ++index) {
    const Executor& executor = executors_[index];
    const HealthTracker* health = sets_.health();
    view.executors.push_back({.executor = {index},
                              .id = executor.id,
                              .host = executor.host,
                              .slots = executor.slots,
                              .running = executor.alive ? Running(executor) : 0,
                              .alive = executor.alive,
                              .decommissioning = executor.decommissioning,
                              .excluded = health != nullptr && (health->ExecutorExcluded(executor.number) ||
                                                                health->HostExcluded(executor.host_number))});
  }
  const model::tasks::DemandChanged demand = Demand();
  view.pending_tasks = demand.pending;
  view.running_tasks = demand.running;
  return view;
}

Tasks::Tasks(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Tasks::~Tasks() = default;
void Tasks::Step(Instant now, std::span<const model::tasks::Event> events, EffectSink& out) {
  impl_->Step(now, events, out);
}
Instant Tasks::NextDeadline() const { return impl_->NextDeadline(); }
std::string Tasks::CheckInvariants() const { return impl_->CheckInvariants(); }
uint64_t Tasks::StateHash() const { return impl_->StateHash(); }
View Tasks::GetView() const { return impl_->GetView(); }
const MapOutputTable* Tasks::Outputs(model::tasks::ShuffleId shuffle) const { return impl_->Outputs(shuffle); }
bool Tasks::InUse(model::tasks::ShuffleId shuffle) const { return impl_->InUse(shuffle); }
int64_t Tasks::Epoch() const { return impl_->Epoch(); }
bool Tasks::HasTheSameRowsAgain(model::tasks::ShuffleId shuffle) const { return impl_->HasTheSameRowsAgain(shuffle); }
std::vector<ExecutorIndex> Tasks::CachedAt(model::tasks::DatasetId dataset, int32_t partition) const {
  return impl_->CachedAt(dataset, partition);
}
std::vector<model::tasks::DatasetId> Tasks::DatasetsWithCached() const { return impl_->DatasetsWithCached(); }
StagePlaces Tasks::PlacesOf(model::tasks::StageId stage, int32_t attempt) const {
  return impl_->PlacesOf(stage, attempt);
}
std::vector<model::tasks::TaskLocation> Tasks::PlacesOf(model::tasks::StageId stage, int32_t attempt,
                                                        int32_t index) const {
  return impl_->PlacesOf(stage, attempt, index);
}
const Config& Tasks::config() const { return impl_->config(); }
std::vector<ExecutorIndex> Tasks::Removable() const { return impl_->Removable(); }

}  // namespace fairlead::tasks

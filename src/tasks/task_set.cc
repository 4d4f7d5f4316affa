#include "tasks/task_set.h"

#include <algorithm>

#include "base/check.h"
#include "tasks/pool.h"

namespace fairlead::tasks {

using model::tasks::EndKind;
using model::tasks::Level;
using model::tasks::LossKind;
using model::tasks::TaskId;
using model::tasks::TaskLocation;
using model::tasks::TaskTrouble;

namespace {

/// Bad ends kept per task for the story of its failure.
constexpr size_t kMaxTroubles = 16;
/// Tasks looked at when an idle executor asks for one whose own place is busy.
constexpr size_t kLoadLookBehind = 8;

bool Counts(EndKind kind) {
  return kind == EndKind::kException || kind == EndKind::kResultLost || kind == EndKind::kExecutorLostByApp;
}

double Millis(base::Duration duration) { return static_cast<double>(duration.ns) / 1e6; }

}  // namespace

TaskSet::TaskSet(SetContext& context, SubmitSet submit)
    : context_(context),
      id_(submit.set),
      priority_(submit.priority),
      pool_name_(std::move(submit.pool)),
      name_("TaskSet_" + ToString(submit.set)),
      shuffle_map_(submit.shuffle_map),
      partitions_(std::move(submit.partitions)),
      state_(partitions_.size()),
      last_reset_(context.now) {
  if (context.health) exclusion_.emplace(context.config.exclusion);
  InternPlaces(submit.locations);
  pending_.all.reserve(partitions_.size());
  for (int32_t index = size(); index-- > 0;) AddPending(index, false, false);
  AddInitialRacks();
  levels_ = ValidLevels();
}

void TaskSet::InternPlaces(const std::vector<std::vector<TaskLocation>>& locations) {
  if (locations.empty()) return;
  places_from_.reserve(partitions_.size() + 1);
  for (size_t index = 0; index < partitions_.size(); ++index) {
    places_from_.push_back(static_cast<uint32_t>(places_.size()));
    if (index >= locations.size()) continue;
    for (const TaskLocation& location : locations[index]) {
      const bool in_executor = location.kind == TaskLocation::Kind::kExecutor;
      places_.push_back({.kind = location.kind,
                         .executor = in_executor ? context_.cluster.InternExecutor(location.executor) : Cluster::kNone,
                         .host = context_.cluster.InternHost(location.host)});
    }
  }
  places_from_.push_back(static_cast<uint32_t>(places_.size()));
}

StagePlaces TaskSet::Places() const {
  StagePlaces places;
  for (size_t index = 0; index + 1 < places_from_.size(); ++index) {
    if (places_from_[index] != places_from_[index + 1]) ++places.tasks;
  }
  for (const Place& place : places_) ++places.hosts[context_.cluster.host_names.Text(place.host)];
  return places;
}

std::vector<TaskLocation> TaskSet::PlacesOf(int32_t index) const {
  std::vector<TaskLocation> locations;
  const auto i = static_cast<size_t>(index);
  if (i + 1 >= places_from_.size()) return locations;
  for (uint32_t at = places_from_[i]; at < places_from_[i + 1]; ++at) {
    const Place& place = places_[at];
    const bool in_executor = place.kind == TaskLocation::Kind::kExecutor;
    locations.push_back({.kind = place.kind,
                         .host = context_.cluster.host_names.Text(place.host),
                         .executor = in_executor ? context_.cluster.executor_names.Text(place.executor) : ""});
  }
  return locations;
}

void TaskSet::AddPending(int32_t index, bool resolve_racks, bool speculative) {
  if (zombie) return;
  PendingLists& lists = speculative ? speculative_ : pending_;
  Cluster& cluster = context_.cluster;
  const auto i = static_cast<size_t>(index);
  const uint32_t from = places_from_.empty() ? 0 : places_from_[i];
  const uint32_t to = places_from_.empty() ? 0 : places_from_[i + 1];
  for (uint32_t p = from; p < to; ++p) {
    const Place& place = places_[p];
    const auto push_for = [&](ExecutorNumber executor) {
      lists.by_executor.Make(executor, cluster.executor_names.Hash(executor)).push_back(index);
    };
    if (place.kind == TaskLocation::Kind::kExecutor) {
      push_for(place.executor);
    } else if (place.kind == TaskLocation::Kind::kHdfsCache) {
      cluster.host(place.host).executors.ForEach([&](const NamedKey& key) {
        if (cluster.IsAlive(key.id)) push_for(key.id);
      });
    }
    lists.by_host.Make(place.host, cluster.host_names.Hash(place.host)).push_back(index);
    const uint32_t rack = cluster.RackOf(place.host);
    if (resolve_racks && rack != Cluster::kNone) {
      lists.by_rack.Make(rack, cluster.rack_names.Hash(rack)).push_back(index);
    }
  }
  if (from == to) lists.no_preference.push_back(index);
  lists.all.push_back(index);
}

/// A rack's list is the lists of its hosts one after the other, in the order of the map of hosts.
void TaskSet::AddInitialRacks() {
  const Cluster& cluster = context_.cluster;
  pending_.by_host.Any([&](HostNumber host, const TaskStack& tasks) {
    const uint32_t rack = cluster.RackOf(host);
    if (rack == Cluster::kNone) return false;
    TaskStack& of_rack = pending_.by_rack.Make(rack, cluster.rack_names.Hash(rack));
    of_rack.insert(of_rack.end(), tasks.begin(), tasks.end());
    return false;
  });
}

std::vector<Level> TaskSet::ValidLevels() const {
  const Cluster& cluster = context_.cluster;
  std::vector<Level> levels;
  if (pending_.by_executor.AnyName([&](uint32_t executor) { return cluster.IsAlive(executor); })) {
    levels.push_back(Level::kProcessLocal);
  }
  if (pending_.by_host.AnyName([&](uint32_t host) { return cluster.HasAliveOnHost(host); })) {
    levels.push_back(Level::kNodeLocal);
  }
  if (!pending_.no_preference.empty()) levels.push_back(Level::kNoPref);
  if (pending_.by_rack.AnyName([&](uint32_t rack) { return cluster.HasHostOnRack(rack); })) {
    levels.push_back(Level::kRackLocal);
  }
  levels.push_back(Level::kAny);
  return levels;
}

base::Duration TaskSet::WaitOf(Level level) const {
  const LocalityConfig& waits = context_.config.locality;
  base::Duration wait{};
  switch (level) {
    case Level::kProcessLocal:
      wait = waits.wait_process;
      break;
    case Level::kNodeLocal:
      wait = waits.wait_node;
      break;
    case Level::kRackLocal:
      wait = waits.wait_rack;
      break;
    case Level::kNoPref:
    case Level::kAny:
      return {};
  }
  if (!context_.config.beyond.adaptive_delay) return wait;
  // Waiting pays only as long as the remote read that it avoids.
  base::Duration gain = context_.config.beyond.adaptive_first_wait;
  if (remote_reads_ > 0) {
    gain = base::Duration::Nanos(remote_read_ns_ / remote_reads_);
  } else if (context_.remote_reads > 0) {
    gain = base::Duration::Nanos(context_.remote_read_ns / context_.remote_reads);
  }
  return std::min(wait, gain);
}

void TaskSet::NoteRemoteRead(int64_t ns) {
  remote_read_ns_ += ns;
  ++remote_reads_;
  context_.remote_read_ns += ns;
  ++context_.remote_reads;
}

/// Drops stale entries from the ends, and names whose stack is empty, until a task that waits is found.
bool TaskSet::MoreTasksIn(StackMap& lists) {
  std::vector<uint32_t> empty;
  const bool more = lists.Any([&](uint32_t key, TaskStack& stack) {
    while (!stack.empty()) {
      const Task& last = task(stack.back());
      if (last.copies_running == 0 && !last.successful) return true;
      stack.pop_back();
    }
    empty.push_back(key);
    return false;
  });
  for (const uint32_t key : empty) lists.Drop(key);
  return more;
}

bool TaskSet::MoreTasksAt(Level level) {
  switch (level) {
    case Level::kProcessLocal:
      return MoreTasksIn(pending_.by_executor);
    case Level::kNodeLocal:
      return MoreTasksIn(pending_.by_host);
    case Level::kNoPref:
      return !pending_.no_preference.empty();
    case Level::kRackLocal:
      return MoreTasksIn(pending_.by_rack);
    case Level::kAny:
      break;
  }
  return false;
}

Level TaskSet::AllowedLevel() {
  const auto last = static_cast<int32_t>(levels_.size()) - 1;
  while (level_index_ < last) {
    if (!MoreTasksAt(level())) {
      last_reset_ = context_.now;
    } else if (const base::Duration wait = WaitOf(level()); context_.now - last_reset_ >= wait) {
      last_reset_ = last_reset_ + wait;  // the next wait starts where this one ended
    } else {
      break;
    }
    ++level_index_;
    context_.level_moved = true;
  }
  return level();
}

base::Instant TaskSet::WaitEnds() const {
  if (zombie || level_index_ + 1 >= static_cast<int32_t>(levels_.size())) return base::Instant::Max();
  return last_reset_ + WaitOf(level());
}

/// The index of `level`, or of the next weaker level that is valid.
int32_t TaskSet::LevelIndex(Level level) const {
  int32_t index = 0;
  while (level > levels_[static_cast<size_t>(index)]) ++index;
  return index;
}

void TaskSet::RecomputeLocality() {
  if (zombie) return;
  const int32_t previous_index = level_index_;
  const Level previous_level = level();
  const std::vector<Level> previous = std::exchange(levels_, ValidLevels());
  level_index_ = LevelIndex(previous_level);
  if (level_index_ <= previous_index) return;
  // Stricter levels have appeared: go to the strictest of them (SPARK-31837).
  for (const Level level : levels_) {
    if (std::find(previous.begin(), previous.end(), level) == previous.end()) {
      level_index_ = LevelIndex(level);
      return;
    }
  }
}

void TaskSet::ResetDelay(std::optional<Level> level) {
  last_reset_ = context_.now;
  if (level) level_index_ = LevelIndex(*level);
}

bool TaskSet::HasAttemptOnHost(int32_t index, HostNumber host) const {
  for (TaskId attempt = task(index).last_attempt; attempt >= 0; attempt = context_.tasks.Get(attempt).previous) {
    if (context_.tasks.Get(attempt).host == host) return true;
  }
  return false;
}

/// The last entry that may run here now. Entries that run or are done are dropped on the way; those that may not run
/// here are passed over and stay.
std::optional<int32_t> TaskSet::TakeFrom(TaskStack* stack, ExecutorNumber executor, HostNumber host, bool speculative) {
  if (stack == nullptr) return std::nullopt;
  for (size_t at = stack->size(); at-- > 0;) {
    const int32_t index = (*stack)[at];
    if (Excluded(index, executor, host) || (speculative && HasAttemptOnHost(index, host))) continue;
    if (at + 1 == stack->size()) {
      stack->pop_back();
    } else {
      stack->erase(stack->begin() + static_cast<ptrdiff_t>(at));
    }
    const Task& found = task(index);
    if (found.successful) continue;
    if (found.copies_running == 0 || (speculative && found.copies_running == 1)) return index;
  }
  return std::nullopt;
}

std::optional<TaskSet::Found> TaskSet::Take(ExecutorNumber executor, HostNumber host, Level limit, bool speculative) {
  if (speculative && speculatable_.empty()) return std::nullopt;
  PendingLists& lists = speculative ? speculative_ : pending_;
  const auto take = [&](TaskStack* stack, Level level) -> std::optional<Found> {
    const std::optional<int32_t> index = TakeFrom(stack, executor, host, speculative);
    if (!index) return std::nullopt;
    if (speculative) speculatable_.Erase(*index);
    return Found{.index = *index, .level = level, .speculative = speculative};
  };
  if (auto found = take(lists.by_executor.Find(executor), Level::kProcessLocal)) return found;
  if (limit >= Level::kNodeLocal) {
    if (auto found = take(lists.by_host.Find(host), Level::kNodeLocal)) return found;
  }
  if (limit >= Level::kNoPref) {
    if (auto found = take(&lists.no_preference, Level::kProcessLocal)) return found;
  }
  const uint32_t rack = context_.cluster.RackOf(host);
  if (limit >= Level::kRackLocal && rack != Cluster::kNone) {
    if (auto found = take(lists.by_rack.Find(rack), Level::kRackLocal)) return found;
  }
  if (limit >= Level::kAny) {
    if (auto found = take(&lists.all, Level::kAny)) return found;
  }
  return std::nullopt;
}

/// Whether everything alive at the place has more load than `load`, in thousandths of a slot per slot.
bool TaskSet::Busier(const Place& place, int64_t load) const {
  const Cluster& cluster = context_.cluster;
  if (place.kind == TaskLocation::Kind::kExecutor && cluster.IsAlive(place.executor)) {
    return cluster.Load(place.executor) > load;
  }
  bool busier = true;
  cluster.host(place.host).executors.ForEach([&](const NamedKey& key) {
    if (cluster.IsAlive(key.id) && cluster.Load(key.id) <= load) busier = false;
  });
  return busier;
}

/// Beyond Spark (load_weight_milli): a waiting task whose own places are all busier than this executor by the
/// configured weight.
std::optional<TaskSet::Found> TaskSet::TakeForLoad(ExecutorNumber executor, HostNumber host) {
  const int64_t load = context_.cluster.Load(executor) + context_.config.beyond.load_weight_milli;
  size_t looked = 0;
  for (size_t at = pending_.all.size(); at-- > 0 && looked < kLoadLookBehind; ++looked) {
    const int32_t index = pending_.all[at];
    const Task& candidate = task(index);
    if (candidate.successful || candidate.copies_running > 0) {
      if (at + 1 == pending_.all.size()) pending_.all.pop_back();
      continue;
    }
    if (Excluded(index, executor, host)) continue;
    const auto i = static_cast<size_t>(index);
    const uint32_t from = places_from_.empty() ? 0 : places_from_[i];
    const uint32_t to = places_from_.empty() ? 0 : places_from_[i + 1];
    const bool all_busier = std::all_of(places_.begin() + from, places_.begin() + to,
                                        [&](const Place& place) { return Busier(place, load); });
    if (!all_busier) continue;
    pending_.all.erase(pending_.all.begin() + static_cast<ptrdiff_t>(at));
    return Found{.index = index, .level = Level::kAny, .speculative = false, .for_load = true};
  }
  return std::nullopt;
}

TaskSet::Answer TaskSet::Offer(ExecutorNumber executor, HostNumber host, Level limit) {
  if (zombie) return {};
  if (exclusion_ && exclusion_->any() && (exclusion_->HostExcluded(host) || exclusion_->ExecutorExcluded(executor))) {
    return {};
  }
  Level allowed = limit;
  if (limit != Level::kNoPref) allowed = std::min(AllowedLevel(), limit);
  std::optional<Found> found = Take(executor, host, allowed, false);
  if (!found) found = Take(executor, host, allowed, true);
  if (!found && limit == Level::kAny && context_.config.beyond.load_weight_milli > 0) {
    found = TakeForLoad(executor, host);
  }
  Answer answer;
  if (found) {
    answer.launch =
        Launch{.task = StartAttempt(*found, executor, host), .level = found->level, .for_load = found->for_load};
    if (context_.config.locality.legacy_reset && limit != Level::kNoPref && !found->for_load) ResetDelay(found->level);
  } else {
    answer.rejected = limit == Level::kAny && (!pending_.all.empty() || !speculative_.all.empty());
  }
  return answer;
}

TaskId TaskSet::StartAttempt(const Found& found, ExecutorNumber executor, HostNumber host) {
  Task& state = task(found.index);
  const TaskId id = context_.tasks.next();
  TaskInfo& info = context_.tasks.Add();
  info.set = this;
  info.index = found.index;
  info.attempt = state.attempts++;
  info.executor = executor;
  info.host = host;
  info.launched = context_.now;
  info.previous = state.last_attempt;
  info.level = found.level;
  info.speculative = found.speculative;
  ++state.copies_running;
  if (state.running++ == 0 && !state.successful) ++waiting_for_;
  state.last_attempt = id;
  attempts_.push_back(id);
  ++launched_at_[static_cast<size_t>(found.level)];
  running_.Insert(id);
  if (pool != nullptr) ++pool->running;
  context_.out->push_back(SetLaunched{.task = id,
                                      .set = id_,
                                      .index = found.index,
                                      .partition = partition(found.index),
                                      .attempt = info.attempt,
                                      .executor = executor,
                                      .level = found.level,
                                      .speculative = found.speculative,
                                      .for_load = found.for_load});
  return id;
}

void TaskSet::RemoveRunning(TaskId id) {
  if (!running_.Erase(id)) return;
  if (pool != nullptr) --pool->running;
  Task& state = task(context_.tasks.Get(id).index);
  if (--state.running == 0 && !state.successful) --waiting_for_;
}

void TaskSet::MarkSuccessful(int32_t index) {
  Task& state = task(index);
  state.successful = true;
  ++successful_;
  if (state.running > 0) --waiting_for_;
}

void TaskSet::Emit(TaskId id, const TaskInfo& info, EndKind kind) {
  context_.out->push_back(SetTaskEnded{.task = id,
                                       .set = id_,
                                       .index = info.index,
                                       .partition = partition(info.index),
                                       .attempt = info.attempt,
                                       .executor = info.executor,
                                       .kind = kind});
}

void TaskSet::MaybeFinish() {
  if (!zombie || !running_.empty() || finished) return;
  finished = true;
  context_.owner->SetFinished(*this);
  if (successful_ == size() && context_.health) {
    context_.health->SetSucceeded(context_.now, id_, exclusion_->failures(), *context_.out);
  }
}

void TaskSet::Succeeded(TaskId id) {
  TaskInfo& info = context_.tasks.Get(id);
  if (task(info.index).successful && info.killed_by_other) {
    Failed(id, EndKind::kKilled, "Finish but did not commit due to another attempt succeeded");
    return;
  }
  RemoveRunning(id);
  info.finished = true;
  info.ended = context_.now;
  if (context_.config.speculation.enabled) durations_ms_.Insert(Millis(info.ended - info.launched));
  for (TaskId other = task(info.index).last_attempt; other >= 0; other = context_.tasks.Get(other).previous) {
    TaskInfo& rival = context_.tasks.Get(other);
    if (!rival.running()) continue;
    rival.killed_by_other = true;
    context_.out->push_back(SetKill{.task = other, .executor = rival.executor, .reason = "another attempt succeeded"});
  }
  if (!task(info.index).successful) {
    MarkSuccessful(info.index);
    task(info.index).failures = 0;  // should its output be lost, it starts afresh
    if (successful_ == size()) zombie = true;
  }
  Emit(id, info, EndKind::kSuccess);
  MaybeFinish();
}

std::string TaskSet::Describe(TaskId id, const TaskInfo& info) const {
  return "task " + std::to_string(info.index) + "." + std::to_string(info.attempt) + " in stage " + ToString(id_) +
         " (TID " + std::to_string(id) + ")";
}

void TaskSet::NoteTrouble(TaskId id, const TaskInfo& info, const std::string& reason) {
  std::vector<TaskTrouble>& troubles = troubles_[info.index];
  if (troubles.size() == kMaxTroubles) troubles.erase(troubles.begin());
  troubles.push_back({.task = id,
                      .attempt = info.attempt,
                      .executor = context_.cluster.executor_names.Text(info.executor),
                      .host = context_.cluster.host_names.Text(info.host),
                      .reason = reason});
}

void TaskSet::Failed(TaskId id, EndKind kind, const std::string& message) {
  TaskInfo& info = context_.tasks.Get(id);
  if (info.finished) return;
  RemoveRunning(id);
  info.finished = true;
  info.failed = true;
  info.ended = context_.now;
  const int32_t index = info.index;
  --task(index).copies_running;
  if (kind == EndKind::kFetchFailed) {
    // The input has to be made again first: this set has done what it could.
    if (!task(index).successful) MarkSuccessful(index);
    zombie = true;
  }
  if (kind != EndKind::kKilled) NoteTrouble(id, info, message);
  Emit(id, info, kind);
  if (!zombie && Counts(kind)) {
    const std::string reason = "Lost " + Describe(id, info) + " (" + context_.cluster.host_names.Text(info.host) +
                               " executor " + context_.cluster.executor_names.Text(info.executor) + "): " + message;
    ++failed_attempts_;
    if (exclusion_) exclusion_->Fail(context_.now, info.host, info.executor, index, reason, id_, *context_.out);
    if (++task(index).failures >= context_.config.task_max_failures) {
      Abort(SetFailureKind::kMaxFailures, index,
            "Task " + std::to_string(index) + " in stage " + ToString(id_) + " failed " +
                std::to_string(context_.config.task_max_failures) + " times, most recent failure: " + reason);
      return;
    }
  }
  if (!task(index).successful) AddPending(index, true, false);
  MaybeFinish();
}

void TaskSet::PartitionDone(int32_t partition) {
  // Partitions are ascending in a map stage; a result stage lists them as its job does.
  const auto at = std::find(partitions_.begin(), partitions_.end(), partition);
  if (at == partitions_.end()) return;
  const auto index = static_cast<int32_t>(at - partitions_.begin());
  if (task(index).successful) return;
  MarkSuccessful(index);
  task(index).failures = 0;
  if (successful_ == size()) zombie = true;
  MaybeFinish();
}

void TaskSet::Stop() {
  zombie = true;
  MaybeFinish();
}

void TaskSet::Abort(SetFailureKind kind, int32_t index, const std::string& reason) {
  SetFailed failed;
  failed.set = id_;
  failed.kind = kind;
  failed.index = index;
  failed.partition = index < 0 ? -1 : partition(index);
  failed.reason = reason;
  if (const auto it = troubles_.find(index); it != troubles_.end()) failed.troubles = it->second;
  context_.out->push_back(std::move(failed));
  zombie = true;
  MaybeFinish();
}

/// Outputs of finished map tasks went with the executor: they run again (in the order of Spark's map of attempts).
void TaskSet::RequeueOutputs(ExecutorNumber executor) {
  HashMapOrder order;
  for (size_t i = 0; i < attempts_.size(); ++i) order.Insert(static_cast<uint32_t>(i), LongHash(attempts_[i]));
  order.Any([&](uint32_t i) {
    const TaskId id = attempts_[i];
    const TaskInfo& info = context_.tasks.Get(id);
    Task& state = task(info.index);
    if (info.executor != executor || !state.successful || info.running() || info.killed_by_other) return false;
    state.successful = false;
    --state.copies_running;
    --successful_;
    if (state.running > 0) ++waiting_for_;
    AddPending(info.index, true, false);
    Emit(id, info, EndKind::kResubmitted);
    return false;
  });
}

void TaskSet::ExecutorLost(ExecutorNumber executor, const SetExecutorLost& loss) {
  const bool outputs_lost =
      shuffle_map_ && (loss.host_lost || loss.files_lost || !context_.config.external_shuffle_service);
  const auto here = [&](TaskId id) { return context_.tasks.Get(id).executor == executor; };
  if (outputs_lost && !zombie && std::any_of(attempts_.begin(), attempts_.end(), here)) RequeueOutputs(executor);
  std::vector<TaskId> running;
  const auto runs_here = [&](TaskId id) { return here(id) && context_.tasks.Get(id).running(); };
  if (std::any_of(attempts_.begin(), attempts_.end(), runs_here)) {
    HashMapOrder order;
    for (size_t i = 0; i < attempts_.size(); ++i) order.Insert(static_cast<uint32_t>(i), LongHash(attempts_[i]));
    order.Any([&](uint32_t i) {
      if (runs_here(attempts_[i])) running.push_back(attempts_[i]);
      return false;
    });
  }
  const bool guilty = loss.kind == LossKind::kExitedByApp || loss.kind == LossKind::kProcessLost;
  for (const TaskId id : running) {
    const bool counts = guilty && !context_.tasks.Get(id).launching;
    Failed(id, counts ? EndKind::kExecutorLostByApp : EndKind::kExecutorLost,
           "executor " + context_.cluster.executor_names.Text(executor) +
               " lost: " + (loss.message.empty() ? std::string(EnumName(loss.kind)) : loss.message));
  }
  RecomputeLocality();
}

bool TaskSet::Speculate(double threshold_ms) {
  bool found = false;
  running_.ForEach([&](TaskId id) {
    const TaskInfo& info = context_.tasks.Get(id);
    const Task& state = task(info.index);
    if (state.successful || state.copies_running != 1 || speculatable_.Contains(info.index)) return;
    if (Millis(context_.now - info.launched) <= threshold_ms) return;
    AddPending(info.index, true, true);
    speculatable_.Insert(info.index);
    context_.out->push_back(SetSpeculatable{.set = id_, .index = info.index});
    found = true;
  });
  return found;
}

bool TaskSet::CheckSpeculation() {
  const SpeculationConfig& config = context_.config.speculation;
  const bool threshold_given = config.task_duration_threshold.ns >= 0;
  if (zombie || (size() == 1 && !threshold_given)) return false;
  const auto enough = static_cast<size_t>(std::max(static_cast<int32_t>(config.quantile * size()), 1));
  if (durations_ms_.size() >= enough) {
    return Speculate(std::max(config.multiplier * durations_ms_.Median(), Millis(config.min_task_runtime)));
  }
  if (threshold_given && size() <= std::max(config.executor_slots, 1)) {
    return Speculate(Millis(config.task_duration_threshold));
  }
  return false;
}

std::optional<int32_t> TaskSet::ExcludedEverywhere() const {
  // Nothing waits: no need to look through the stale entries.
  if (!exclusion_ || context_.cluster.hosts_in_use() == 0 || pending_count() == 0) return std::nullopt;
  const auto waits = [&](int32_t index) { return task(index).copies_running == 0 && !task(index).successful; };
  const auto last = std::find_if(pending_.all.rbegin(), pending_.all.rend(), waits);
  if (last == pending_.all.rend()) return std::nullopt;
  const int32_t index = *last;
  const HealthTracker& health = *context_.health;
  for (ExecutorNumber executor = 0; executor < context_.cluster.executors(); ++executor) {
    const Cluster::Executor& entry = context_.cluster.executor(executor);
    if (!entry.alive) continue;
    const bool excluded = health.HostExcluded(entry.host) || exclusion_->HostExcluded(entry.host) ||
                          health.ExecutorExcluded(executor) || exclusion_->ExecutorExcluded(executor) ||
                          exclusion_->TaskExcluded(executor, entry.host, index);
    if (!excluded) return std::nullopt;
  }
  return index;
}

void TaskSet::AbortExcludedEverywhere(int32_t index) {
  Abort(SetFailureKind::kExcludedEverywhere, index,
        "Aborting " + name_ + " because task " + std::to_string(index) + " (partition " +
            std::to_string(partition(index)) +
            ") cannot run anywhere due to node and executor excludeOnFailure. Most recent failure: " +
            exclusion_->latest_reason());
}

std::string TaskSet::CheckInvariants() const {
  const std::string where = name_ + ": ";
  int32_t running = 0;
  std::vector<int32_t> running_of(state_.size());
  for (const TaskId id : attempts_) {
    const TaskInfo& info = context_.tasks.Get(id);
    if (info.set != this) return where + "attempt " + std::to_string(id) + " belongs to another set";
    if (!running_.Contains(id)) continue;
    ++running;
    ++running_of[static_cast<size_t>(info.index)];
  }
  if (running != this->running()) return where + "running tasks that are no attempts";
  int32_t successful = 0;
  int32_t waiting_for = 0;
  std::vector<bool> listed(state_.size());
  for (const int32_t index : pending_.all) listed[static_cast<size_t>(index)] = true;
  for (size_t i = 0; i < state_.size(); ++i) {
    const Task& state = state_[i];
    successful += state.successful ? 1 : 0;
    if (state.running != running_of[i]) return where + "running attempts of task " + std::to_string(i);
    if (state.running > 0 && !state.successful) ++waiting_for;
    const bool waits = state.copies_running == 0 && !state.successful;
    if (!zombie && waits && !listed[i]) return where + "task " + std::to_string(i) + " waits but is in no list";
  }
  if (successful != successful_) return where + "count of successful tasks";
  if (waiting_for != waiting_for_) return where + "count of tasks with a live attempt";
  if (level_index_ < 0 || static_cast<size_t>(level_index_) >= levels_.size()) return where + "level out of range";
  return {};
}

void TaskSet::HashInto(base::StateHasher& hasher) const {
  hasher.Mix(static_cast<uint64_t>(id_.stage));
  hasher.Mix(static_cast<uint64_t>(id_.attempt));
  hasher.Mix(zombie);
  hasher.Mix(no_rejects_since_reset);
  hasher.Mix(static_cast<uint64_t>(level_index_));
  hasher.Mix(static_cast<uint64_t>(last_reset_.ns));
  for (const Level level : levels_) hasher.Mix(static_cast<uint64_t>(level));
  for (const Task& state : state_) {
    hasher.Mix(static_cast<uint64_t>(state.last_attempt));
    hasher.Mix(static_cast<uint64_t>(state.copies_running) << 33 | static_cast<uint64_t>(state.failures) << 1 |
               static_cast<uint64_t>(state.successful));
  }
  const auto mix_stack = [&](const TaskStack& stack) {
    hasher.Mix(stack.size());
    for (const int32_t index : stack) hasher.Mix(static_cast<uint64_t>(index));
  };
  for (const PendingLists* lists : {&pending_, &speculative_}) {
    for (const StackMap* map : {&lists->by_executor, &lists->by_host, &lists->by_rack}) {
      for (const uint32_t name : map->Names()) {
        hasher.Mix(name);
        mix_stack(*map->Find(name));
      }
    }
    mix_stack(lists->no_preference);
    mix_stack(lists->all);
  }
  running_.ForEach([&](TaskId id) { hasher.Mix(static_cast<uint64_t>(id)); });
  speculatable_.ForEach([&](int32_t index) { hasher.Mix(static_cast<uint64_t>(index)); });
}

}  // namespace fairlead::tasks

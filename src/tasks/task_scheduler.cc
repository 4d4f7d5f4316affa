#include "tasks/task_scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace fairlead::tasks {

using model::tasks::EndKind;
using model::tasks::FailureKind;
using model::tasks::Level;
using model::tasks::StageId;
using model::tasks::TaskId;

namespace {

EndKind EndOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::kException:
      return EndKind::kException;
    case FailureKind::kKilled:
      return EndKind::kKilled;
    case FailureKind::kCommitDenied:
      return EndKind::kCommitDenied;
    case FailureKind::kResultLost:
      return EndKind::kResultLost;
    case FailureKind::kFetchFailed:
      return EndKind::kFetchFailed;
  }
  return EndKind::kException;
}

}  // namespace

std::string ToString(const SetId& id) { return std::to_string(id.stage) + "." + std::to_string(id.attempt); }

std::string_view EnumName(SetFailureKind kind) {
  switch (kind) {
    case SetFailureKind::kMaxFailures:
      return "max_failures";
    case SetFailureKind::kExcludedEverywhere:
      return "excluded_everywhere";
    case SetFailureKind::kCancelled:
      return "cancelled";
  }
  return "?";
}

TaskScheduler::TaskScheduler(const Config& config)
    : config_(config),
      context_{.config = config_,
               .cluster = {},
               .tasks = {},
               .health = config.exclusion.enabled ? std::make_unique<HealthTracker>(config_.exclusion) : nullptr,
               .now = {},
               .out = nullptr,
               .remote_read_ns = 0,
               .remote_reads = 0,
               .level_moved = false,
               .owner = this},
      pools_(config) {}

void TaskScheduler::Step(base::Instant now, std::span<const SetEvent> events, std::vector<SetEffect>& out) {
  Begin(now, out);
  for (const SetEvent& event : events) {
    std::visit([this](const auto& alternative) { Apply(alternative); }, event);
    finished_.clear();
  }
}

void TaskScheduler::Begin(base::Instant now, std::vector<SetEffect>& out) {
  context_.now = now;
  context_.out = &out;
  finished_.clear();
}

void TaskScheduler::Apply(const model::tasks::HostRack& event) {
  context_.cluster.SetRack(context_.cluster.InternHost(event.host), event.rack);
}

void TaskScheduler::Apply(const OfferRound& event) {
  std::vector<Slot> offers;
  offers.reserve(event.offers.size());
  for (const Offer& offer : event.offers) {
    offers.push_back({.executor = context_.cluster.InternExecutor(offer.executor),
                      .host = context_.cluster.InternHost(offer.host),
                      .cores = offer.cores});
  }
  OfferSlots(offers, event.all_free);
}

void TaskScheduler::Apply(const SetExecutorDecommissioning& event) {
  Decommission(context_.cluster.InternExecutor(event.executor));
}

void TaskScheduler::Submit(SubmitSet submit) {
  const SetId id = submit.set;
  FL_CHECK(!sets_.contains(id), "a task set is submitted once");
  auto set = std::make_unique<TaskSet>(context_, std::move(submit));
  // A stage has one live attempt: what the older ones still run may finish, nothing more is launched.
  for (TaskSet* older : AttemptsOf(id.stage)) older->zombie = true;
  attempts_[id.stage].push_back(id.attempt);
  pools_.PoolFor(set->pool_name()).Add(set.get());
  sets_[id] = std::move(set);
  context_.out->push_back(SetRevive{});
}

TaskSet* TaskScheduler::Find(SetId id) {
  const auto it = sets_.find(id);
  return it == sets_.end() ? nullptr : it->second.get();
}

std::vector<TaskSet*> TaskScheduler::AttemptsOf(StageId stage) {
  std::vector<TaskSet*> sets;
  const auto it = attempts_.find(stage);
  if (it == attempts_.end()) return sets;
  HashMapOrder order;  // Spark keeps them in a hash map by attempt
  for (const int32_t attempt : it->second) order.Insert(static_cast<uint32_t>(attempt), attempt);
  for (const uint32_t attempt : order.Keys()) sets.push_back(Find({stage, static_cast<int32_t>(attempt)}));
  return sets;
}

std::vector<TaskSet*> TaskScheduler::QueueOrder() const {
  std::vector<TaskSet*> sets;
  for (const auto& pool : pools_.pools()) sets.insert(sets.end(), pool->sets().begin(), pool->sets().end());
  return sets;
}

std::vector<SetId> TaskScheduler::SchedulingOrder() const {
  std::vector<SetId> ids;
  for (const TaskSet* set : pools_.Sorted()) ids.push_back(set->id());
  return ids;
}

void TaskScheduler::SetFinished(TaskSet& set) {
  const auto it = sets_.find(set.id());
  std::vector<int32_t>& attempts = attempts_[set.id().stage];
  std::erase(attempts, set.id().attempt);
  if (attempts.empty()) attempts_.erase(set.id().stage);
  set.pool->Remove(&set);
  unschedulable_until_.erase(set.id());
  for (const TaskId task : set.attempts()) context_.tasks.Release(task);
  context_.out->push_back(SetRemoved{.set = set.id()});
  finished_.push_back(std::move(it->second));
  sets_.erase(it);
}

const TaskInfo* TaskScheduler::Info(TaskId task) const {
  const TaskInfo* info = context_.tasks.Find(task);
  return info != nullptr && info->set != nullptr ? info : nullptr;
}

TaskInfo* TaskScheduler::Tracked(TaskId task) {
  TaskInfo* info = context_.tasks.Find(task);
  return info != nullptr && info->set != nullptr && info->tracked ? info : nullptr;
}

void TaskScheduler::Untrack(TaskInfo& info) {
  info.tracked = false;
  --context_.cluster.executor(info.executor).running;
}

void TaskScheduler::Started(TaskId task) {
  if (TaskInfo* info = Tracked(task)) info->launching = false;
}

void TaskScheduler::Succeeded(TaskId task) {
  TaskInfo* info = Tracked(task);
  if (info == nullptr) return;
  TaskSet& set = *info->set;
  Untrack(*info);
  set.RemoveRunning(task);
  set.Succeeded(task);
}

void TaskScheduler::Failed(const SetTaskFailed& failure) {
  TaskInfo* info = Tracked(failure.task);
  if (info == nullptr) return;
  TaskSet& set = *info->set;
  const int32_t index = info->index;
  Untrack(*info);
  set.RemoveRunning(failure.task);
  set.Failed(failure.task, EndOf(failure.kind), failure.message);
  if (!set.zombie && !set.SomeAttemptSucceeded(index)) context_.out->push_back(SetRevive{});
}

void TaskScheduler::ExecutorLost(const SetExecutorLost& loss) {
  Cluster& cluster = context_.cluster;
  const ExecutorNumber executor = cluster.executor_names.Find(loss.executor);
  if (executor == Names::kNone || !cluster.executor(executor).alive) return;
  const std::vector<TaskSet*> sets = QueueOrder();
  for (const TaskSet* set : sets) {
    set->running_tasks().ForEach([&](TaskId task) {
      TaskInfo& info = context_.tasks.Get(task);
      if (info.executor == executor) info.tracked = false;
    });
  }
  cluster.Lose(executor);
  for (TaskSet* set : sets) set->ExecutorLost(executor, loss);
  if (context_.health) context_.health->ExecutorRemoved(executor);
  context_.out->push_back(SetExecutorGone{.executor = executor});
  context_.out->push_back(SetRevive{});
}

void TaskScheduler::Decommission(ExecutorNumber executor) {
  if (context_.cluster.executor(executor).alive) context_.cluster.executor(executor).decommissioning = true;
  for (TaskSet* set : QueueOrder()) set->RecomputeLocality();
}

void TaskScheduler::Kill(StageId stage, const std::string& reason) {
  for (const TaskSet* set : AttemptsOf(stage)) {
    set->running_tasks().ForEach([&](TaskId task) {
      const TaskInfo& info = context_.tasks.Get(task);
      if (info.tracked) context_.out->push_back(SetKill{.task = task, .executor = info.executor, .reason = reason});
    });
  }
}

void TaskScheduler::Cancel(StageId stage, const std::string& reason) {
  Kill(stage, "Stage cancelled: " + reason);
  for (TaskSet* set : AttemptsOf(stage)) {
    set->Abort(SetFailureKind::kCancelled, -1, "Stage " + std::to_string(stage) + " cancelled");
  }
}

void TaskScheduler::Stop(StageId stage) {
  for (TaskSet* set : AttemptsOf(stage)) set->Stop();
}

void TaskScheduler::NoteRemoteRead(TaskId task, int64_t ns) {
  TaskInfo* info = Tracked(task);
  if (info != nullptr && info->level > Level::kNodeLocal) info->set->NoteRemoteRead(ns);
}

void TaskScheduler::PartitionDone(StageId stage, int32_t partition) {
  for (TaskSet* set : AttemptsOf(stage)) {
    if (!set->zombie) set->PartitionDone(partition);
  }
}

void TaskScheduler::CheckSpeculation() {
  bool found = false;
  for (TaskSet* set : QueueOrder()) found = set->CheckSpeculation() || found;
  if (found) context_.out->push_back(SetRevive{});
}

void TaskScheduler::OfferSlots(std::vector<Slot>& offers, bool all_free) {
  Cluster& cluster = context_.cluster;
  bool new_executor = false;
  for (const Slot& offer : offers) {
    if (!cluster.Meet(offer.executor, offer.host)) continue;
    new_executor = true;
    context_.out->push_back(SetExecutorJoined{.executor = offer.executor, .host = offer.host});
  }
  for (const Slot& offer : offers) cluster.MeetHost(offer.host);
  if (context_.health) {
    context_.health->Expire(context_.now);
    std::erase_if(offers, [&](const Slot& offer) {
      return context_.health->HostExcluded(offer.host) || context_.health->ExecutorExcluded(offer.executor);
    });
  }
  const std::vector<TaskSet*> sets = pools_.Sorted();
  if (new_executor) {
    for (TaskSet* set : sets) set->RecomputeLocality();
  }
  for (TaskSet* set : sets) {
    if (OfferToSet(*set, offers, all_free)) {
      unschedulable_until_.clear();
    } else {
      HandleUnlaunched(*set);
    }
  }
}

/// All offers to one set, level by level, a turn again while something is launched in it. True when something was.
bool TaskScheduler::OfferToSet(TaskSet& set, std::vector<Slot>& offers, bool all_free) {
  bool launched_any = false;
  bool rejected = false;
  std::optional<Level> strictest;
  const std::vector<Level> levels = set.levels();
  for (const Level limit : levels) {
    bool launched = true;
    while (launched) {
      launched = false;
      for (Slot& offer : offers) {
        if (offer.cores < 1) continue;
        const TaskSet::Answer answer = set.Offer(offer.executor, offer.host, limit);
        rejected = rejected || answer.rejected;
        if (!answer.launch) continue;
        launched = true;
        --offer.cores;
        ++context_.cluster.executor(offer.executor).running;
        // Where a busy host loses a task, no wait was over: the others go on waiting for their places.
        if (!answer.launch->for_load) strictest = std::min(strictest.value_or(Level::kAny), answer.launch->level);
      }
      launched_any = launched_any || launched;
    }
  }
  if (!config_.locality.legacy_reset) {
    if (rejected) {
      set.no_rejects_since_reset = false;
    } else if (launched_any && (all_free || set.no_rejects_since_reset)) {
      set.ResetDelay(strictest);
      set.no_rejects_since_reset = true;
    }
  }
  return launched_any;
}

/// A set that failures have shut out of every executor waits for an idle one to be replaced, or fails.
void TaskScheduler::HandleUnlaunched(TaskSet& set) {
  const std::optional<int32_t> index = set.ExcludedEverywhere();
  if (!index) return;
  bool idle_executor = false;
  for (ExecutorNumber executor = 0; executor < context_.cluster.executors(); ++executor) {
    const Cluster::Executor& entry = context_.cluster.executor(executor);
    idle_executor = idle_executor || (entry.alive && entry.running == 0);
  }
  if (!idle_executor && !config_.exclusion.dynamic_allocation) {
    set.AbortExcludedEverywhere(*index);
    return;
  }
  unschedulable_until_.try_emplace(set.id(), context_.now + config_.exclusion.unschedulable_timeout);
}

void TaskScheduler::CheckUnschedulable() {
  const std::map<SetId, base::Instant> waiting = unschedulable_until_;
  for (const auto& [id, until] : waiting) {
    if (until > context_.now) continue;
    unschedulable_until_.erase(id);
    TaskSet* set = Find(id);
    if (set == nullptr) continue;
    if (const std::optional<int32_t> index = set->ExcludedEverywhere()) set->AbortExcludedEverywhere(*index);
  }
}

base::Instant TaskScheduler::NextWaitEnd() const {
  base::Instant next = context_.health ? context_.health->next_expiry() : base::Instant::Max();
  for (const auto& [id, set] : sets_) {
    if (set->waiting()) next = std::min(next, set->WaitEnds());
  }
  return next;
}

base::Instant TaskScheduler::NextUnschedulable() const {
  base::Instant next = base::Instant::Max();
  for (const auto& [id, until] : unschedulable_until_) next = std::min(next, until);
  return next;
}

std::string TaskScheduler::CheckInvariants() const {
  std::vector<int32_t> running(context_.cluster.executors());
  for (const auto& [id, set] : sets_) {
    if (std::string error = set->CheckInvariants(); !error.empty()) return error;
    set->running_tasks().ForEach([&](TaskId task) { ++running[context_.tasks.Get(task).executor]; });
  }
  for (ExecutorNumber executor = 0; executor < running.size(); ++executor) {
    const Cluster::Executor& entry = context_.cluster.executor(executor);
    if (entry.running != running[executor]) {
      return "executor " + context_.cluster.executor_names.Text(executor) + ": count of running tasks";
    }
  }
  for (const auto& pool : pools_.pools()) {
    int32_t sum = 0;
    for (const TaskSet* set : pool->sets()) sum += set->running();
    if (sum != pool->running) return "pool " + pool->config().name + ": count of running tasks";
  }
  return {};
}

void TaskScheduler::HashInto(base::StateHasher& hasher) const {
  hasher.Mix(static_cast<uint64_t>(context_.tasks.next()));
  for (const auto& [id, set] : sets_) set->HashInto(hasher);
  for (ExecutorNumber executor = 0; executor < context_.cluster.executors(); ++executor) {
    const Cluster::Executor& entry = context_.cluster.executor(executor);
    hasher.Mix(static_cast<uint64_t>(entry.alive) | static_cast<uint64_t>(entry.decommissioning) << 1);
    hasher.Mix(static_cast<uint64_t>(entry.running));
  }
  for (const auto& [id, until] : unschedulable_until_) hasher.Mix(static_cast<uint64_t>(until.ns));
}

}  // namespace fairlead::tasks

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Applications and attempts coming, going and moving: FairScheduler.addApplication, addApplicationAttempt,
// removeApplicationAttempt, moveApplication; FSLeafQueue.addApp, removeApp.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;
using model::Refusal;

namespace {

/// Decimal digits left-justified in nibbles (digit + 1), so that numbers compare as their texts do.
uint64_t AsTextKey(uint64_t number, int least_digits) {
  uint64_t key = 0;
  int digits = 0;
  uint64_t nibbles[20];
  do {
    nibbles[digits++] = number % 10 + 1;
    number /= 10;
  } while (number != 0 || digits < least_digits);
  for (int i = 0; i < 16; ++i) key = key << 4 | (i < digits ? nibbles[digits - 1 - i] : 0);
  return key;
}

}  // namespace

/// application_<timestamp>_<number, at least four digits> as text; or, with that quirk off, by its numbers.
NameKey Core::NameOf(const model::ApplicationId& id) const {
  const auto timestamp = static_cast<uint64_t>(id.cluster_timestamp);
  const auto number = static_cast<uint64_t>(static_cast<uint32_t>(id.number));
  if (!config_.quirks.names_as_text) return {timestamp, number};
  return {AsTextKey(timestamp, 1), AsTextKey(number, 4)};
}

void Core::Apply(const ms::AppAdded& event) {
  const std::string name = model::ToString(event.id);
  std::string queue_name = event.queue;
  if (event.place && !event.recovering) {
    Placed placed = Place(event.queue, event.user, event.groups);
    if (placed.refused) return Emit(ms::CallRefused{event.token, std::move(placed.refused)});
    if (!placed.queue) return Refuse(event.token, Refusal::kNotPlaced);
    queue_name = *placed.queue;
  }
  QueueLookup found = GetLeaf(queue_name, true, event.app);
  if (!found.invalid_name.empty()) return Refuse(event.token, Refusal::kBadQueueName, {queue_name, found.invalid_name});
  if (!found.id.valid() && event.recovering) found = GetLeaf("root.recovery", true, event.app);
  if (!found.id.valid()) return Refuse(event.token, Refusal::kNotALeaf, {queue_name});
  Queue& queue = queues_[found.id];
  if (!event.recovering) {
    const std::string zero = ZeroTypeAsked(event.master_asks, found.id);
    const bool may = MaySubmit(queue.name, event.user, event.groups);
    if (!may || !zero.empty()) {
      queue.assigned.erase(event.app);
      return may ? Refuse(event.token, Refusal::kQueueLacksType, {name, queue.name, zero})
                 : Refuse(event.token, Refusal::kUserAccess, {event.user, name, queue.name});
    }
  }
  apps_.Add(event.app, {true, event.unmanaged, event.id, event.user, event.groups, found.id, {}});
  Emit(ms::AppAccepted{event.app, queue.name, CanRun(found.id, event.user), event.token});
}

AttemptId Core::NewAttempt(AppIndex app, int32_t number, QueueId queue) {
  const AttemptId id = attempts_.Add();
  if (attempt_keys_.size() < attempts_.size()) attempt_keys_.emplace_back();
  Attempt& attempt = attempts_[id];
  attempt.app = app;
  attempt.number = number;
  attempt.queue = queue;
  attempt.master = hadoop::Master(apps_[app].unmanaged);
  attempt.start_ms = now_ms_;
  attempt.numbers = hadoop::Numbers(config_.epoch << 40);
  attempt.last_at_fair_share = now_ms_;
  attempt.name = NameOf(apps_[app].id);
  if (config_.size_based_weight) attempt.weight = 0.0F;  // log2(1 + demand), which is not known yet
  const auto own = config_.am_preemption_of.find(queues_[queue].name);
  attempt.am_preemptable = own != config_.am_preemption_of.end()         ? own->second
                           : config_.quirks.am_preemption_per_queue_only ? true
                                                                         : config_.am_preemption;
  return id;
}

void Core::Apply(const ms::AttemptAdded& event) {
  if (!apps_.Alive(event.app)) return;
  const App& app = apps_[event.app];
  const AttemptId before = app.current;
  const AttemptId id = NewAttempt(event.app, event.attempt, app.queue);
  if (event.transfer_containers && before.valid()) TakeOver(before, id);
  if (before.valid()) FreeIfUnpinned(before);
  apps_.SetCurrent(event.app, id);
  const bool runnable = CanRun(app.queue, app.user);
  AddToLeaf(id, runnable);
  if (runnable) {
    TrackRunnable(id);
  } else {
    user_waiting_[app.user].push_back(id);
  }
}

/// SchedulerApplicationAttempt.transferStateFromPreviousAttempt: containers, usage and blacklist.
void Core::TakeOver(AttemptId from_id, AttemptId to_id) {
  Attempt& from = attempts_[from_id];
  Attempt& to = attempts_[to_id];
  to.used = from.used;
  to.blacklist.TakeOver(from.blacklist);
  containers_.Move(from.live, to.live, to_id);
  for (const ContainerSlot slot : containers_.OfAttempt(to.live)) to.numbers.AddKnown(containers_[slot].id.value, slot);
}

/// FSLeafQueue.addApp.
void Core::AddToLeaf(AttemptId id, bool runnable, bool charge) {
  Attempt& attempt = attempts_[id];
  Queue& queue = queues_[attempt.queue];
  (runnable ? queue.runnable : queue.waiting).push_back(id);
  queue.assigned.erase(attempt.app);
  if (runnable) queue.own_shares.push_back(id);
  CountDemand(queue, {}, attempt.demand);
  DemandChanged(id);
  attempt.runnable = runnable;
  ForEachUp(attempt.queue, [](Queue& q) { q.shares_dirty = true; });
  if (charge) ChargeQueues(attempt.queue, attempt.used, 1);
  Touch(id);
}

/// FSLeafQueue.removeApp: whether it was runnable.
bool Core::RemoveFromLeaf(AttemptId id) {
  Attempt& attempt = attempts_[id];
  Queue& queue = queues_[attempt.queue];
  std::vector<AttemptId>& list = attempt.runnable ? queue.runnable : queue.waiting;
  const bool was_runnable = attempt.runnable;
  const auto it = std::find(list.begin(), list.end(), id);
  if (it != list.end()) list.erase(it);
  CountDemand(queue, attempt.demand, {});
  if (attempt.demand_changed) std::erase(queue.demand_changed, id);
  attempt.demand_changed = false;
  queue.demand_dirty = true;
  if (attempt.alike) {
    attempt.fair_share = queue.app_share;
    attempt.alike = false;
  } else {
    std::erase(queue.own_shares, id);
  }
  if (was_runnable && attempt.master.running()) {
    queue.am_used -= attempt.master.size();
    Unbound(attempt.queue);
  }
  ChargeQueues(attempt.queue, attempt.used, -1);
  attempt.runnable = false;
  ForEachUp(attempt.queue, [](Queue& q) { q.shares_dirty = true; });
  SetOfferable(id, false);
  Detach(id);
  return was_runnable;
}

void Core::Apply(const ms::AttemptRemoved& event) {
  const AttemptId id = apps_.Current(event.app);
  if (!id.valid() || attempts_[id].stopped) return;
  for (const ContainerSlot slot : containers_.OfAttempt(attempts_[id].live)) {
    if (event.keep_containers && containers_[slot].state == ContainerState::kRunning) continue;
    Complete(slot, {End::kKilled, model::kExitAborted, "Container of a completed application"});
  }
  const std::vector<NodeIndex> reserved = attempts_[id].reserved_nodes;
  for (const NodeIndex node : reserved) Unreserve(id, node, false);
  attempts_[id].stopped = true;
  attempts_[id].asks.Clear(names_);
  const QueueId queue = attempts_[id].queue;
  if (RemoveFromLeaf(id)) {
    UntrackRunnable(id);
    StartWaitingAfterRemoval(id, queue);
  } else {
    UntrackWaiting(id);
  }
}

void Core::Apply(const ms::AppRemoved& event) {
  if (!apps_.Alive(event.app)) return;
  const App& app = apps_[event.app];
  if (app.current.valid() && !attempts_[app.current].stopped) {
    Apply(ms::AttemptRemoved{event.app, attempts_[app.current].number, false});
  }
  queues_[app.queue].assigned.erase(event.app);
  apps_.Remove(event.app);
  if (app.current.valid()) FreeIfUnpinned(app.current);
}

void Core::Unpin(AttemptId id) {
  --attempts_[id].pins;
  FreeIfUnpinned(id);
}

/// A stopped attempt may still stand in the queue of the starved or hold a promise of space.
void Core::FreeIfUnpinned(AttemptId id) {
  Attempt& attempt = attempts_[id];
  const bool current = apps_.Current(attempt.app) == id;
  if (!attempt.in_use || !attempt.stopped || attempt.pins > 0 || current || attempt.live.count() > 0) return;
  attempt.blacklist.Clear(names_);
  attempts_.Remove(id);
}

void Core::Apply(const ms::AppMoved& event) {
  if (model::Refused refused = MoveApp(event.app, event.queue)) {
    return Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  Emit(ms::MoveAnswered{event.app, event.token, queues_[apps_[event.app].queue].name});
}

/// FairScheduler.moveApplication: nothing, or why not.
model::Refused Core::MoveApp(AppIndex index, const std::string& queue) {
  if (!apps_.Alive(index)) return {Refusal::kMoveUnknownApplication, {}, {}, {}};
  const App& app = apps_[index];
  if (!app.current.valid() || attempts_[app.current].stopped) {
    return {Refusal::kMoveStopped, {model::ToString(app.id)}, {}, {}};
  }
  const QueueId to = GetLeaf(queue, false, {}).id;
  if (!to.valid()) return {Refusal::kMoveToNoLeaf, {queue}, {}, {}};
  if (to == app.queue) return {};
  const Attempt& attempt = attempts_[app.current];
  if (attempt.runnable) {
    if (model::Refused refused = MoveViolates(attempt, app.queue, to)) return refused;
    // executeMove asks once more, with the user's limit.
    if (!CanRun(to, app.user)) return {Refusal::kMoveNotRunnable, {model::ToString(app.id)}, {}, {}};
  }
  ExecuteMove(index, to);
  return {};
}

/// verifyMoveDoesNotViolateConstraints: every queue below the common ancestor needs a free slot and room.
model::Refused Core::MoveViolates(const Attempt& attempt, QueueId from, QueueId to) const {
  const QueueId common = CommonAncestor(from, to);
  const std::string& target = queues_[to].name;
  for (QueueId at = to; at != common && at.valid(); at = queues_[at].parent) {
    const Queue& queue = queues_[at];
    if (queue.NumRunnable() == queue.max_running) {
      return {Refusal::kMoveQueueFull, {target, queue.name}, {}, {}};
    }
    if (!(queue.used + attempt.used).FitsIn(queue.max_share)) {
      return {Refusal::kMoveQueueMaximum, {target, queue.name}, {}, {}};
    }
  }
  return {};
}

QueueId Core::CommonAncestor(QueueId a, QueueId b) const {
  std::vector<QueueId> above;
  for (QueueId at = queues_[a].parent; at.valid(); at = queues_[at].parent) above.push_back(at);
  for (QueueId at = queues_[b].parent; at.valid(); at = queues_[at].parent) {
    if (std::find(above.begin(), above.end(), at) != above.end()) return at;
  }
  return kRoot;
}

/// FairScheduler.executeMove.
void Core::ExecuteMove(AppIndex index, QueueId to) {
  const App& app = apps_[index];
  const AttemptId id = app.current;
  const QueueId from = app.queue;
  const bool was_runnable = attempts_[id].runnable;
  const bool now_runnable = CanRun(to, app.user);
  RemoveFromLeaf(id);
  if (was_runnable) {
    UntrackRunnable(id);
  } else if (now_runnable) {
    UntrackWaiting(id);
  }
  Attempt& attempt = attempts_[id];
  attempt.queue = to;
  apps_.SetQueue(index, to);
  AddToLeaf(id, now_runnable);
  if (!config_.quirks.move_forgets_master_usage && now_runnable && attempt.master.running()) {
    queues_[to].am_used += attempt.master.size();
  }
  if (now_runnable) TrackRunnable(id);
  if (was_runnable) StartWaitingAfterRemoval(id, from);
}

}  // namespace fairlead::scheduler::yarn_fair

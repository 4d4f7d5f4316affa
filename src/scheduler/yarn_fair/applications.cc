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

Attempt* Core::CurrentAttempt(uint32_t app) {
  return AppAlive(app) && apps_[app].current != kNone ? &attempts_[apps_[app].current] : nullptr;
}
const Attempt* Core::CurrentAttempt(uint32_t app) const {
  return AppAlive(app) && apps_[app].current != kNone ? &attempts_[apps_[app].current] : nullptr;
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
  QueueLookup found = GetLeaf(queue_name, true, event.app.value);
  if (!found.invalid_name.empty()) return Refuse(event.token, Refusal::kBadQueueName, {queue_name, found.invalid_name});
  if (found.id == kNone && event.recovering) found = GetLeaf("root.recovery", true, event.app.value);
  if (found.id == kNone) return Refuse(event.token, Refusal::kNotALeaf, {queue_name});
  Queue& queue = queues_[found.id];
  if (!event.recovering) {
    const std::string zero = ZeroTypeAsked(event.master_asks, found.id);
    const bool may = MaySubmit(queue.name, event.user, event.groups);
    if (!may || !zero.empty()) {
      queue.assigned.erase(event.app.value);
      return may ? Refuse(event.token, Refusal::kQueueLacksType, {name, queue.name, zero})
                 : Refuse(event.token, Refusal::kUserAccess, {event.user, name, queue.name});
    }
  }
  if (apps_.size() <= event.app.value) apps_.resize(event.app.value + size_t{1});
  App& app = apps_[event.app.value];
  app = {true, event.id, event.user, event.groups, found.id, event.unmanaged, kNone};
  app_ids_[event.id] = event.app.value;
  Emit(ms::AppAccepted{event.app, queue.name, CanRun(found.id, event.user), event.token});
}

AttemptId Core::NewAttempt(uint32_t app, int32_t number, QueueId queue) {
  AttemptId id = static_cast<AttemptId>(attempts_.size());
  if (free_attempts_.empty()) {
    attempts_.emplace_back();
    attempt_keys_.emplace_back();
  } else {
    id = free_attempts_.back();
    free_attempts_.pop_back();
  }
  Attempt& attempt = attempts_[id];
  attempt = Attempt{};
  attempt.in_use = true;
  attempt.app = app;
  attempt.number = number;
  attempt.queue = queue;
  attempt.unmanaged = apps_[app].unmanaged;
  attempt.start_ms = now_ms_;
  attempt.number_base = config_.epoch << 40;
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
  if (!AppAlive(event.app.value)) return;
  App& app = apps_[event.app.value];
  const AttemptId id = NewAttempt(event.app.value, event.attempt, app.queue);
  if (event.transfer_containers && app.current != kNone) TakeOver(app.current, id);
  if (app.current != kNone) FreeIfUnpinned(app.current);
  app.current = id;
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
  to.first_live = from.first_live;
  to.last_live = from.last_live;
  to.live_count = from.live_count;
  to.used = from.used;
  to.blacklist.TakeOver(from.blacklist);
  for (ContainerSlot slot = to.first_live; slot != kNone; slot = containers_[slot].next_live) {
    Container& container = containers_[slot];
    container.attempt = to_id;
    to.recovered[container.value] = slot;  // numbers of the new attempt start anew
  }
  from.first_live = from.last_live = kNone;
  from.live_count = 0;
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
  if (was_runnable && attempt.am_running) {
    queue.am_used -= attempt.am_resource;
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
  Attempt* attempt = CurrentAttempt(event.app.value);
  if (attempt == nullptr || attempt->stopped) return;
  const AttemptId id = apps_[event.app.value].current;
  std::vector<ContainerSlot> live;
  for (ContainerSlot slot = attempt->first_live; slot != kNone; slot = containers_[slot].next_live)
    live.push_back(slot);
  for (const ContainerSlot slot : live) {
    if (event.keep_containers && containers_[slot].state == ContainerState::kRunning) continue;
    Complete(slot, {End::kKilled, model::kExitAborted, "Container of a completed application"});
  }
  const std::vector<uint32_t> reserved = attempts_[id].reserved_nodes;
  for (const uint32_t node : reserved) Unreserve(id, node, false);
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
  if (!AppAlive(event.app.value)) return;
  App& app = apps_[event.app.value];
  if (app.current != kNone && !attempts_[app.current].stopped) {
    const int32_t number = attempts_[app.current].number;
    Apply(ms::AttemptRemoved{event.app, number, false});
  }
  queues_[app.queue].assigned.erase(event.app.value);
  app.alive = false;
  app.user.clear();
  app.groups.clear();
  const auto it = app_ids_.find(app.id);
  if (it != app_ids_.end() && it->second == event.app.value) app_ids_.erase(it);
  if (app.current != kNone) FreeIfUnpinned(app.current);
}

/// A stopped attempt may still stand in the queue of the starved or hold a promise of space.
void Core::FreeIfUnpinned(AttemptId id) {
  Attempt& attempt = attempts_[id];
  const bool current = AppAlive(attempt.app) && apps_[attempt.app].current == id;
  if (!attempt.in_use || !attempt.stopped || attempt.pins > 0 || current || attempt.live_count > 0) return;
  attempt.blacklist.Clear(names_);
  attempt = Attempt{};
  free_attempts_.push_back(id);
}

void Core::Apply(const ms::AppMoved& event) {
  if (model::Refused refused = MoveApp(event.app.value, event.queue)) {
    return Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  Emit(ms::MoveAnswered{event.app, event.token, queues_[apps_[event.app.value].queue].name});
}

/// FairScheduler.moveApplication: nothing, or why not.
model::Refused Core::MoveApp(uint32_t app_index, const std::string& queue) {
  if (!AppAlive(app_index)) return {Refusal::kMoveUnknownApplication, {}, {}, {}};
  App& app = apps_[app_index];
  if (app.current == kNone || attempts_[app.current].stopped) {
    return {Refusal::kMoveStopped, {model::ToString(app.id)}, {}, {}};
  }
  const QueueId to = GetLeaf(queue, false, kNone).id;
  if (to == kNone) return {Refusal::kMoveToNoLeaf, {queue}, {}, {}};
  if (to == app.queue) return {};
  const Attempt& attempt = attempts_[app.current];
  if (attempt.runnable) {
    if (model::Refused refused = MoveViolates(attempt, app.queue, to)) return refused;
    // executeMove asks once more, with the user's limit.
    if (!CanRun(to, app.user)) return {Refusal::kMoveNotRunnable, {model::ToString(app.id)}, {}, {}};
  }
  ExecuteMove(app, to);
  return {};
}

/// verifyMoveDoesNotViolateConstraints: every queue below the common ancestor needs a free slot and room.
model::Refused Core::MoveViolates(const Attempt& attempt, QueueId from, QueueId to) const {
  const QueueId common = CommonAncestor(from, to);
  const std::string& target = queues_[to].name;
  for (QueueId at = to; at != common && at != kNone; at = queues_[at].parent) {
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
  for (QueueId at = queues_[a].parent; at != kNone; at = queues_[at].parent) above.push_back(at);
  for (QueueId at = queues_[b].parent; at != kNone; at = queues_[at].parent) {
    if (std::find(above.begin(), above.end(), at) != above.end()) return at;
  }
  return 0;
}

/// FairScheduler.executeMove.
void Core::ExecuteMove(App& app, QueueId to) {
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
  app.queue = to;
  AddToLeaf(id, now_runnable);
  if (!config_.quirks.move_forgets_master_usage && now_runnable && attempt.am_running) {
    queues_[to].am_used += attempt.am_resource;
  }
  if (now_runnable) TrackRunnable(id);
  if (was_runnable) StartWaitingAfterRemoval(id, from);
}

}  // namespace fairlead::scheduler::yarn_fair

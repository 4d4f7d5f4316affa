#include "scheduler/yarn_fair/applications.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/shared/most_queues.h"
#include "scheduler/yarn_fair/allocate.h"
#include "scheduler/yarn_fair/bounds.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/placement.h"
#include "scheduler/yarn_fair/queues.h"
#include "scheduler/yarn_fair/reserve.h"
#include "scheduler/yarn_fair/runnability.h"
#include "scheduler/yarn_fair/update.h"

// Applications and attempts coming, going and moving: FairScheduler.addApplication, addApplicationAttempt,
// removeApplicationAttempt, moveApplication; FSLeafQueue.addApp, removeApp.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;
using model::Refusal;

namespace {

constexpr int kDeepest = 100;  // as in a file

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

static bool RemoveFromLeaf(Books& books, AttemptId id);
static AttemptId NewAttempt(Books& books, AppIndex app, int32_t number, QueueId queue);
static void TakeOver(Books& books, AttemptId from, AttemptId to);
static model::Refused MoveApp(Books& books, AppIndex app, const std::string& queue);
static model::Refused MoveViolates(const Books& books, const Attempt& attempt, QueueId from, QueueId to);
static void ExecuteMove(Books& books, AppIndex app, QueueId to);
static QueueId CommonAncestor(const Books& books, QueueId a, QueueId b);
static NameKey NameOf(const Books& books, const model::ApplicationId& id);
static std::string CannotBeMade(const Books& books, const std::string& queue);

/// application_<timestamp>_<number, at least four digits> as text; or, with that quirk off, by its numbers.
NameKey NameOf(const Books& books, const model::ApplicationId& id) {
  const auto timestamp = static_cast<uint64_t>(id.cluster_timestamp);
  const auto number = static_cast<uint64_t>(static_cast<uint32_t>(id.number));
  if (!books.config.quirks.names_as_text) return {timestamp, number};
  return {AsTextKey(timestamp, 1), AsTextKey(number, 4)};
}

/// Why no application makes that queue, which Hadoop would make whatever it costs; "": it is there, or is not refused.
std::string CannotBeMade(const Books& books, const std::string& queue) {
  if (FindQueue(books, queue).valid()) return "";
  if (std::ranges::count(queue, '.') >= kDeepest)
    return "a queue is at most " + std::to_string(kDeepest) + " levels deep";
  return books.tree.ids.size() < kMostQueues ? "" : kTooManyQueues;
}

void Apply(Books& books, const ms::AppAdded& event) {
  const std::string name = model::ToString(event.id);
  std::string queue_name = event.queue;
  if (event.place && !event.recovering) {
    Placed placed = Place(books, event.queue, event.user, event.groups);
    if (placed.refused) return books.Emit(ms::CallRefused{event.token, std::move(placed.refused)});
    if (!placed.queue) return Refuse(books, event.token, Refusal::kNotPlaced);
    queue_name = *placed.queue;
  }
  if (const std::string why = CannotBeMade(books, queue_name); !why.empty() && !event.recovering) {
    return Refuse(books, event.token, Refusal::kBadQueueName, {queue_name, why});
  }
  QueueLookup found = GetLeaf(books, queue_name, true, event.app);
  if (!found.invalid_name.empty())
    return Refuse(books, event.token, Refusal::kBadQueueName, {queue_name, found.invalid_name});
  if (!found.id.valid() && event.recovering) found = GetLeaf(books, "root.recovery", true, event.app);
  if (!found.id.valid()) return Refuse(books, event.token, Refusal::kNotALeaf, {queue_name});
  Queue& queue = books.queues[found.id];
  if (!event.recovering) {
    const std::string zero = ZeroTypeAsked(books, event.master_asks, found.id);
    const bool may = MaySubmit(books, queue.name, event.user, event.groups);
    if (!may || !zero.empty()) {
      queue.assigned.erase(event.app);
      return may ? Refuse(books, event.token, Refusal::kQueueLacksType, {name, queue.name, zero})
                 : Refuse(books, event.token, Refusal::kUserAccess, {event.user, name, queue.name});
    }
  }
  books.apps.Add(event.app, {true, event.unmanaged, event.id, event.user, event.groups, found.id, {}});
  books.Emit(ms::AppAccepted{event.app, queue.name, CanRun(books, found.id, event.user), event.token});
}

AttemptId NewAttempt(Books& books, AppIndex app, int32_t number, QueueId queue) {
  const AttemptId id = books.attempts.Add();
  if (books.keys.attempts.size() < books.attempts.size()) books.keys.attempts.emplace_back();
  Attempt& attempt = books.attempts[id];
  attempt.app = app;
  attempt.number = number;
  attempt.queue = queue;
  attempt.master = hadoop::Master(books.apps[app].unmanaged);
  attempt.start_ms = books.now_ms;
  attempt.numbers = hadoop::Numbers(books.config.epoch << 40);
  attempt.last_at_fair_share = books.now_ms;
  attempt.name = NameOf(books, books.apps[app].id);
  if (books.config.size_based_weight) attempt.weight = 0.0F;  // log2(1 + demand), which is not known yet
  const auto own = books.config.am_preemption_of.find(books.queues[queue].name);
  attempt.am_preemptable = own != books.config.am_preemption_of.end()         ? own->second
                           : books.config.quirks.am_preemption_per_queue_only ? true
                                                                              : books.config.am_preemption;
  return id;
}

void Apply(Books& books, const ms::AttemptAdded& event) {
  if (!books.apps.Alive(event.app)) return;
  const App& app = books.apps[event.app];
  const AttemptId before = app.current;
  const AttemptId id = NewAttempt(books, event.app, event.attempt, app.queue);
  if (event.transfer_containers && before.valid()) TakeOver(books, before, id);
  if (before.valid()) FreeIfUnpinned(books, before);
  books.apps.SetCurrent(event.app, id);
  const bool runnable = CanRun(books, app.queue, app.user);
  AddToLeaf(books, id, runnable);
  if (runnable) {
    TrackRunnable(books, id);
  } else {
    books.users.Wait(app.user, id);
  }
}

/// SchedulerApplicationAttempt.transferStateFromPreviousAttempt: containers, usage and blacklist.
void TakeOver(Books& books, AttemptId from_id, AttemptId to_id) {
  Attempt& from = books.attempts[from_id];
  Attempt& to = books.attempts[to_id];
  to.used = from.used;
  to.blacklist.TakeOver(from.blacklist);
  books.containers.Move(from.live, to.live, to_id);
  for (const ContainerSlot slot : books.containers.OfAttempt(to.live))
    to.numbers.AddKnown(books.containers[slot].id.value, slot);
}

void AddToLeaf(Books& books, AttemptId id, bool runnable, bool charge) {
  Attempt& attempt = books.attempts[id];
  Queue& queue = books.queues[attempt.queue];
  (runnable ? queue.runnable : queue.waiting).push_back(id);
  queue.assigned.erase(attempt.app);
  if (runnable) queue.own_shares.push_back(id);
  CountDemand(books, queue, {}, attempt.demand);
  DemandChanged(books, id);
  attempt.runnable = runnable;
  books.ForEachUp(attempt.queue, [](Queue& q) { q.shares_dirty = true; });
  if (charge) ChargeQueues(books, attempt.queue, attempt.used, 1);
  Touch(books, id);
}

/// FSLeafQueue.removeApp: whether it was runnable.
bool RemoveFromLeaf(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  Queue& queue = books.queues[attempt.queue];
  std::vector<AttemptId>& list = attempt.runnable ? queue.runnable : queue.waiting;
  const bool was_runnable = attempt.runnable;
  const auto it = std::find(list.begin(), list.end(), id);
  if (it != list.end()) list.erase(it);
  CountDemand(books, queue, attempt.demand, {});
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
    Unbound(books, attempt.queue);
  }
  ChargeQueues(books, attempt.queue, attempt.used, -1);
  attempt.runnable = false;
  books.ForEachUp(attempt.queue, [](Queue& q) { q.shares_dirty = true; });
  SetOfferable(books, id, false);
  Detach(books, id);
  return was_runnable;
}

void Apply(Books& books, const ms::AttemptRemoved& event) {
  const AttemptId id = books.apps.Current(event.app);
  if (!id.valid() || books.attempts[id].stopped) return;
  for (const ContainerSlot slot : books.containers.OfAttempt(books.attempts[id].live)) {
    if (event.keep_containers && books.containers[slot].state == ContainerState::kRunning) continue;
    Complete(books, slot, {End::kKilled, model::kExitAborted, "Container of a completed application"});
  }
  const std::vector<NodeIndex> reserved = books.attempts[id].reserved_nodes;
  for (const NodeIndex node : reserved) Unreserve(books, id, node, false);
  books.attempts[id].stopped = true;
  books.attempts[id].asks.Clear(books.names);
  const QueueId queue = books.attempts[id].queue;
  if (RemoveFromLeaf(books, id)) {
    UntrackRunnable(books, id);
    StartWaitingAfterRemoval(books, id, queue);
  } else {
    UntrackWaiting(books, id);
  }
}

void Apply(Books& books, const ms::AppRemoved& event) {
  if (!books.apps.Alive(event.app)) return;
  const App& app = books.apps[event.app];
  if (app.current.valid() && !books.attempts[app.current].stopped) {
    Apply(books, ms::AttemptRemoved{event.app, books.attempts[app.current].number, false});
  }
  books.queues[app.queue].assigned.erase(event.app);
  books.apps.Remove(event.app);
  if (app.current.valid()) FreeIfUnpinned(books, app.current);
}

void Unpin(Books& books, AttemptId id) {
  --books.attempts[id].pins;
  FreeIfUnpinned(books, id);
}

void FreeIfUnpinned(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  const bool current = books.apps.Current(attempt.app) == id;
  if (!attempt.in_use || !attempt.stopped || attempt.pins > 0 || current || attempt.live.count() > 0) return;
  attempt.blacklist.Clear(books.names);
  books.attempts.Remove(id);
}

void Apply(Books& books, const ms::AppMoved& event) {
  if (model::Refused refused = MoveApp(books, event.app, event.queue)) {
    return books.Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  books.Emit(ms::MoveAnswered{event.app, event.token, books.queues[books.apps[event.app].queue].name});
}

/// FairScheduler.moveApplication: nothing, or why not.
model::Refused MoveApp(Books& books, AppIndex index, const std::string& queue) {
  if (!books.apps.Alive(index)) return {Refusal::kMoveUnknownApplication, {}, {}, {}};
  const App& app = books.apps[index];
  if (!app.current.valid() || books.attempts[app.current].stopped) {
    return {Refusal::kMoveStopped, {model::ToString(app.id)}, {}, {}};
  }
  const QueueId to = GetLeaf(books, queue, false, {}).id;
  if (!to.valid()) return {Refusal::kMoveToNoLeaf, {queue}, {}, {}};
  if (to == app.queue) return {};
  const Attempt& attempt = books.attempts[app.current];
  if (attempt.runnable) {
    if (model::Refused refused = MoveViolates(books, attempt, app.queue, to)) return refused;
    // executeMove asks once more, with the user's limit.
    if (!CanRun(books, to, app.user)) return {Refusal::kMoveNotRunnable, {model::ToString(app.id)}, {}, {}};
  }
  ExecuteMove(books, index, to);
  return {};
}

/// verifyMoveDoesNotViolateConstraints: every queue below the common ancestor needs a free slot and room.
model::Refused MoveViolates(const Books& books, const Attempt& attempt, QueueId from, QueueId to) {
  const QueueId common = CommonAncestor(books, from, to);
  const std::string& target = books.queues[to].name;
  for (QueueId at = to; at != common && at.valid(); at = books.queues[at].parent) {
    const Queue& queue = books.queues[at];
    if (queue.NumRunnable() == queue.max_running) {
      return {Refusal::kMoveQueueFull, {target, queue.name}, {}, {}};
    }
    if (!(queue.used + attempt.used).FitsIn(queue.max_share)) {
      return {Refusal::kMoveQueueMaximum, {target, queue.name}, {}, {}};
    }
  }
  return {};
}

QueueId CommonAncestor(const Books& books, QueueId a, QueueId b) {
  std::vector<QueueId> above;
  for (QueueId at = books.queues[a].parent; at.valid(); at = books.queues[at].parent) above.push_back(at);
  for (QueueId at = books.queues[b].parent; at.valid(); at = books.queues[at].parent) {
    if (std::find(above.begin(), above.end(), at) != above.end()) return at;
  }
  return kRoot;
}

/// FairScheduler.executeMove.
void ExecuteMove(Books& books, AppIndex index, QueueId to) {
  const App& app = books.apps[index];
  const AttemptId id = app.current;
  const QueueId from = app.queue;
  const bool was_runnable = books.attempts[id].runnable;
  const bool now_runnable = CanRun(books, to, app.user);
  RemoveFromLeaf(books, id);
  if (was_runnable) {
    UntrackRunnable(books, id);
  } else if (now_runnable) {
    UntrackWaiting(books, id);
  }
  Attempt& attempt = books.attempts[id];
  attempt.queue = to;
  books.apps.SetQueue(index, to);
  AddToLeaf(books, id, now_runnable);
  if (!books.config.quirks.move_forgets_master_usage && now_runnable && attempt.master.running()) {
    books.queues[to].am_used += attempt.master.size();
  }
  if (now_runnable) TrackRunnable(books, id);
  if (was_runnable) StartWaitingAfterRemoval(books, id, from);
}

}  // namespace fairlead::scheduler::yarn_fair

#include "scheduler/fairlead/order.h"

#include <algorithm>

namespace fairlead::scheduler::native {
namespace {

/// Inline and in scalars, so that a key goes from its computation into the order's table in registers: a copy through
/// memory, written in small pieces and read in large ones, makes the processor wait until the pieces have reached the
/// cache (a tenth of all the time of a grant).
inline OrderKey ShareKey(const Share& share, int64_t weight) {
  OrderKey key;
  key.num = share.used;
  key.den = static_cast<unsigned __int128>(share.of) * static_cast<uint64_t>(weight);
  return key;
}

/// A queue with policy fifo keeps the order of submission, whatever is wished for.
inline bool SmallJobsFirst(const Books& books, QueueId leaf) {
  return books.queues.tree().wishes.small_jobs && books.queues[leaf].policy != model::OrderPolicy::kFifo;
}

/// Who comes last comes after all siblings, whatever their priority.
constexpr int32_t kLastTiers = 1 << 28;

/// With wish queue-priority siblings are ordered by priority; each priority has two tiers: below its minimum share,
/// then above.
int32_t TierOf(const Books& books, QueueId queue, bool last) {
  return (books.queues.tree().wishes.queue_priority ? -2 * books.queues[queue].priority : 0) + (last ? kLastTiers : 0);
}

}  // namespace

inline OrderKey FairOrder::KeyOf(const Books& books, AppSlot slot) const {
  const App& app = books.apps[slot];
  if (SmallJobsFirst(books, app.leaf)) {
    return {-app.priority, app.index.value, small_jobs_.TurnOf(slot), 1};
  }
  OrderKey key = ShareKey(books.queues.ShareOf(books.queues[app.leaf].policy, app.used), kWeightOne);
  key.tier = -app.priority;
  key.tie = app.index.value;
  return key;
}

inline OrderKey FairOrder::KeyOf(const Books& books, const Queue& queue, QueueId id) const {
  const Share low = queue.has_low ? books.queues.ShareOfMinimum(queue) : Share{};
  const bool needy = low.of != 0;
  const Share share = needy ? low : books.queues.ShareOf(books.queues[queue.parent].policy, queue.used);
  OrderKey key = ShareKey(share, needy ? 1 : queue.weight);
  key.tier = branches_[id.value].tier + (needy ? 0 : 1);
  key.tie = branches_[id.value].slot;
  if (past_use_.on() && !needy && past_use_.Decays(id)) {
    const OrderKey past = ShareKey({past_use_.Projected(id), PastUse::kUnit}, queue.weight);
    key.num = past.num;
    key.den = past.den;
  }
  return key;
}

void FairOrder::TreeChanged(const Books& books, const TreeChange& change) {
  past_use_.TreeChanged(books.queues, change, books.now);
  if (branches_.size() <= change.queue.value) branches_.resize(change.queue.value + 1);
  if (!change.added) branches_[change.parent.value].order.Remove(branches_[change.queue.value].slot);
  branches_[change.queue.value] = Branch{};
  if (!change.added || !change.parent.valid()) return;
  branches_[change.queue.value].slot = branches_[change.parent.value].order.Add(change.queue.value);
  branches_[change.queue.value].tier = TierOf(books, change.queue, false);
  // It may have been dropped again since.
  if (books.queues[change.queue].parent == change.parent) RefreshQueue(books, change.queue);
}

void FairOrder::Enter(const Books& books, AppSlot slot) {
  if (seats_.size() <= slot.value) seats_.resize(slot.value + 1);
  const App& app = books.apps[slot];
  small_jobs_.Enter(books, slot);
  Seat& seat = seats_[slot.value];
  seat.starting = app.needs_master;
  seat.slot = OrderOf(app.leaf, seat.starting).Add(slot.value);
  Refresh(books, slot);
}

void FairOrder::Leave(const Books& books, AppSlot slot) {
  Seat& seat = seats_[slot.value];
  OrderOf(books.apps[slot].leaf, seat.starting).Remove(seat.slot);
  seat = Seat{};
  small_jobs_.Leave(slot);
}

void FairOrder::Refresh(const Books& books, AppSlot slot) {
  const App& app = books.apps[slot];
  Seat& seat = seats_[slot.value];
  if (seat.starting != app.needs_master) {
    OrderOf(app.leaf, seat.starting).Remove(seat.slot);
    seat.starting = app.needs_master;
    seat.slot = OrderOf(app.leaf, seat.starting).Add(slot.value);
  }
  const uint64_t classes = app.runnable && app.active ? app.classes : 0;
  if (books.queues.tree().wishes.small_jobs) small_jobs_.Refresh(books, slot);
  OrderOf(app.leaf, seat.starting).Update(seat.slot, KeyOf(books, slot), classes);
}

bool FairOrder::RefreshQueue(const Books& books, QueueId id) {
  const Queue& queue = books.queues[id];
  if (!queue.parent.valid()) return false;
  Tournament& order = branches_[queue.parent.value].order;
  const uint32_t slot = branches_[id.value].slot;
  const OrderKey key = KeyOf(books, queue, id);
  const uint64_t classes = OpenClasses(queue, id);
  if (order.classes(slot) == classes && order.key(slot) == key) return false;
  order.Update(slot, key, classes);
  return true;
}

void FairOrder::RefreshPath(const Books& books, QueueId queue) {
  while (RefreshQueue(books, queue)) queue = books.queues[queue].parent;
}

void FairOrder::UsageChanged(const Books& books, QueueId leaf, bool less) {
  for (QueueId q = leaf; q.valid(); q = books.queues[q].parent) {
    if (less) branches_[q.value].blocked = 0;
    if (past_use_.on()) past_use_.Note(books.queues, q, books.now);
    RefreshQueue(books, q);
  }
}

void FairOrder::DemandChanged(const Books& books, QueueId leaf) {
  bool ordered = false;  // demand counts for a queue below its minimum only
  for (QueueId q = leaf; q.valid(); q = books.queues[q].parent) {
    ordered = ordered || books.queues[q].has_low;
    if (ordered) RefreshQueue(books, q);
  }
}

void FairOrder::CountPast(const Books& books) {
  if (!past_use_.Due(books.now)) return;
  for (const QueueId queue : books.queues) {
    if (!books.queues[queue].parent.valid()) continue;
    past_use_.Note(books.queues, queue, books.now);
    RefreshQueue(books, queue);
  }
  past_use_.Refreshed(books.now);
}

void FairOrder::RestartAges(const Books& books) {
  const base::Instant old_before = small_jobs_.OldBefore(books.now);
  const auto old = [&](AppSlot slot) { return small_jobs_.IsOld(slot, old_before); };
  if (std::none_of(books.apps.begin(), books.apps.end(), old)) return;
  std::vector<uint64_t> sharers(books.queues.size());
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (app.classes != 0 || !app.used.IsZero()) ++sharers[app.leaf.value];
  }
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (!old(slot) || app.classes == 0 || app.used == app.master_used) continue;
    const Share own = books.queues.ShareOf(model::OrderPolicy::kDrf, app.used);
    const Share all = books.queues.ShareOf(model::OrderPolicy::kDrf, books.queues[app.leaf].used);
    const unsigned __int128 parts = static_cast<unsigned __int128>(own.used) * sharers[app.leaf.value];
    if (parts * all.of < static_cast<unsigned __int128>(all.used) * own.of) continue;
    small_jobs_.RestartAge(slot, books.now);
    Refresh(books, slot);
  }
}

void FairOrder::Rebuild(const Books& books) {
  for (const QueueId queue : books.queues) branches_[queue.value].blocked = 0;
  OpenMasters(books);
  small_jobs_.Forget();
  if (past_use_.on()) {
    for (const QueueId queue : books.queues) {
      if (books.queues[queue].parent.valid()) past_use_.Note(books.queues, queue, books.now);
    }
  }
  for (const AppSlot slot : books.apps) Refresh(books, slot);
  RebuildBelow(books, kRoot);
}

void FairOrder::RebuildBelow(const Books& books, QueueId queue) {
  for (const QueueId child : books.queues[queue].children) RebuildBelow(books, child);
  branches_[queue.value].tier = TierOf(books, queue, branches_[queue.value].last);
  RefreshQueue(books, queue);
}

void FairOrder::SetLast(const Books& books, QueueId queue, bool last) {
  Branch& branch = branches_[queue.value];
  if (branch.last == last || !books.queues[queue].parent.valid()) return;
  branch.last = last;
  branch.tier = TierOf(books, queue, last);
  RefreshPath(books, queue);
}

void FairOrder::Reopen(const Books& books) {
  for (const QueueId queue : books.queues) {
    if (branches_[queue.value].blocked == 0) continue;
    branches_[queue.value].blocked = 0;
    RefreshPath(books, queue);
  }
}

void FairOrder::Block(const Books& books, QueueId queue, uint64_t classes) {
  branches_[queue.value].blocked |= classes;
  blocked_classes_ |= classes;
  RefreshPath(books, queue);
}

void FairOrder::ForgetBlocked(const Books& books, uint64_t classes) {
  if (!(blocked_classes_ & classes)) return;
  blocked_classes_ &= ~classes;
  for (const QueueId queue : books.queues) {
    if (!(branches_[queue.value].blocked & classes)) continue;
    branches_[queue.value].blocked &= ~classes;
    RefreshPath(books, queue);
  }
}

void FairOrder::CloseMasters(const Books& books, QueueId leaf) {
  branches_[leaf.value].masters_closed = true;
  closed_leaves_.push_back(leaf);
  RefreshPath(books, leaf);
}

void FairOrder::OpenMasters(const Books& books) {
  for (const QueueId leaf : closed_leaves_) {
    if (!branches_[leaf.value].masters_closed) continue;
    branches_[leaf.value].masters_closed = false;
    RefreshPath(books, leaf);
  }
  closed_leaves_.clear();
}

AppSlot FairOrder::First(const Books& books, uint64_t& servable) const {
  QueueId q = kRoot;
  while (!books.queues[q].leaf) {
    q = QueueId{branches_[q.value].order.First(servable)};
    servable &= ~branches_[q.value].blocked;
  }
  return FirstIn(q, servable);
}

AppSlot FairOrder::FirstIn(QueueId leaf, uint64_t servable) const {
  const Branch& branch = branches_[leaf.value];
  const AppSlot running{branch.order.First(servable)};
  const AppSlot starting{branch.masters_closed ? UINT32_MAX : branch.starting.First(servable)};
  if (!running.valid()) return starting;
  if (!starting.valid()) return running;
  return KeyIn(leaf, starting) < KeyIn(leaf, running) ? starting : running;
}

void FairOrder::Prefetch(const Books& books, AppSlot slot) const {
  const Seat& seat = seats_[slot.value];
  if (!seat.starting) branches_[books.apps[slot].leaf.value].order.Prefetch(seat.slot);
}

std::string FairOrder::Check(const Books& books) const {
  if (std::string wrong = small_jobs_.Check(); !wrong.empty()) return wrong;
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    const Seat& seat = seats_[slot.value];
    const Branch& branch = branches_[app.leaf.value];
    const Tournament& order = seat.starting ? branch.starting : branch.order;
    const std::string name = model::ToString(app.id);
    if (seat.starting != app.needs_master || order.item(seat.slot) != slot.value) return name + ": seat";
    if (order.classes(seat.slot) != (app.runnable && app.active ? app.classes : 0)) {
      return name + ": classes in the order";
    }
    if (!(order.key(seat.slot) == KeyOf(books, slot))) return name + ": key";
  }
  for (const QueueId id : books.queues) {
    const Queue& queue = books.queues[id];
    const Branch& branch = branches_[id.value];
    if (!branch.order.Consistent() || !branch.starting.Consistent()) return queue.name + ": order of children";
    if (!queue.parent.valid()) continue;
    const Tournament& order = branches_[queue.parent.value].order;
    if (order.item(branch.slot) != id.value) return queue.name + ": slot in the parent's order";
    if (order.classes(branch.slot) != OpenClasses(queue, id)) return queue.name + ": classes in the parent's order";
    if (!(order.key(branch.slot) == KeyOf(books, queue, id))) return queue.name + ": key in the parent's order";
  }
  return "";
}

/// Keys and classes follow from the books.
void FairOrder::Mix(base::StateHasher& hash) const {
  for (const Branch& branch : branches_) {
    hash.Mix(branch.slot);
    hash.Mix(uint64_t{branch.masters_closed});
    hash.Mix(branch.blocked);
  }
  for (const Seat& seat : seats_) hash.Mix(uint64_t{seat.slot} * 2 + uint64_t{seat.starting});
  for (const QueueId leaf : closed_leaves_) hash.Mix(leaf.value);
  hash.Mix(blocked_classes_);
  small_jobs_.Mix(hash);
  past_use_.Mix(hash);
}

}  // namespace fairlead::scheduler::native

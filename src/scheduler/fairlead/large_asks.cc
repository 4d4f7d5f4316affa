#include <algorithm>

#include "scheduler/fairlead/policy.h"

// Reservations: room on a node that is kept for one ask. They have an owner, a bound and an end: an ask too large for
// what is left on every node is not passed by smaller ones for ever, and a node is not blocked for ever either.

namespace fairlead::scheduler::native {

void FairPolicy::Review(Core& core) {
  review_at_ = Instant::Max();
  const model::Wishes& wishes = core.books().queues.tree().wishes;
  if (wishes.small_jobs) {
    order_.RestartAges(core.books());
    if (wishes.park_masters) ParkMasters(core);
    ReserveInOrder(core);
  } else {
    ReserveForLarge(core);
  }
  const Instant now = core.books().now;
  if (config_.preemption.enabled && now >= last_preemption_ + config_.preemption.interval) {
    last_preemption_ = now;
    Preempt(core);
  }
}

/// One for each shape that found no room for `reservations.after`: for the first ask in order that wants it.
void FairPolicy::ReserveForLarge(Core& core) {
  Books& books = core.books();
  const auto most =
      static_cast<size_t>(std::max(1, books.nodes.alive() * config_.reservations.nodes_per_thousand / 1000));
  const std::vector<ShapeId> shapes = books.shapes.tight();
  for (const ShapeId id : shapes) {
    const Shape& shape = books.shapes[id];
    if (books.reservations.count() >= most) return;
    if (!shape.blocked || shape.wanted == 0 || books.now < shape.blocked_since + config_.reservations.after) continue;
    if (!books.shapes.MayBePassed(id, books.types)) continue;
    uint64_t servable = books.shapes.ClassOf(id);
    if (!books.shapes.AloneInClass(id) || !(order_.Classes(books) & servable)) continue;
    const AppSlot slot = order_.First(books, servable);
    const App& app = books.apps[slot];
    for (Ask& ask : books.apps.asks(slot)) {
      if (ask.shape != id || ask.count <= ask.reserved || ask.park != Park::kNo || HasTimetable(ask)) continue;
      if (FindLimit(books, app, shape.size).kind != Limit::Kind::kFree) continue;
      const NodeIndex node = NodeToReserve(books, slot, ask);
      if (node.valid()) core.Reserve(slot, ask, node, config_.reservations.duration);
      break;
    }
  }
}

/// What comes first in its queue is not passed for ever, however many sizes are asked for: queue after queue, the asks
/// whose turn it is and for which no node has had room for `reservations.after` get nodes kept for them. O(waiting
/// applications), and O(nodes) for each of kLooks asks at most.
void FairPolicy::ReserveInOrder(Core& core) {
  constexpr int kLooks = 256;
  Books& books = core.books();
  const auto most =
      static_cast<size_t>(std::max(1, books.nodes.alive() * config_.small_jobs.nodes_per_thousand / 1000));
  if (books.shapes.tight().empty() || books.reservations.count() >= most) return;
  std::vector<std::vector<AppSlot>> waiting(books.queues.size());
  size_t longest = 0;
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (!app.runnable || !app.active || app.classes == 0) continue;
    if (app.needs_master && order_.MastersClosed(app.leaf)) continue;
    waiting[app.leaf.value].push_back(slot);
    longest = std::max(longest, waiting[app.leaf.value].size());
  }
  for (std::vector<AppSlot>& line : waiting) {
    std::sort(line.begin(), line.end(), [&](AppSlot a, AppSlot b) { return order_.Before(books, a, b); });
  }
  int looks = 0;
  for (size_t turn = 0; turn < longest; ++turn) {
    for (const std::vector<AppSlot>& line : waiting) {
      if (turn >= line.size()) continue;
      for (Ask& ask : books.apps.asks(line[turn])) {
        const Shape& shape = books.shapes[ask.shape];
        if (!shape.blocked || ask.park != Park::kNo || books.now < shape.blocked_since + config_.reservations.after)
          continue;
        if (HasTimetable(ask)) continue;
        if (ask.count <= ask.reserved || !books.shapes.MayBePassed(ask.shape, books.types)) continue;
        if (++looks > kLooks || books.reservations.count() >= most) return;
        ReserveFor(core, line[turn], ask);
      }
    }
  }
}

/// A node for one more container of the ask, if its queue's limits allow it.
void FairPolicy::ReserveFor(Core& core, AppSlot slot, Ask& ask) {
  const Books& books = core.books();
  const App& app = books.apps[slot];
  const Resources& size = books.shapes[ask.shape].size;
  if (FindLimit(books, app, size).kind != Limit::Kind::kFree) return;
  const NodeIndex node = NodeToReserve(books, slot, ask);
  if (node.valid()) core.Reserve(slot, ask, node, config_.small_jobs.reservation);
}

NodeIndex FairPolicy::NodeToReserve(const Books& books, AppSlot slot, const Ask& ask) const {
  const App& app = books.apps[slot];
  const Resources& size = books.shapes[ask.shape].size;
  const Finder finder(books, config_);
  NodeIndex best;
  OrderKey best_key;
  for (uint32_t i = 0; i < books.nodes.size(); ++i) {
    if (!finder.MayReserve(app, ask, NodeIndex{i}) || backfill_.HasAny(NodeIndex{i})) continue;
    if (maintenance_.any() && !EndsBeforeWindow(books, slot, ask, NodeIndex{i})) continue;
    Resources missing;
    const Resources free = books.nodes[NodeIndex{i}].free();
    for (size_t t = 0; t < books.types; ++t) missing[t] = std::max<int64_t>(0, size[t] - free[t]);
    const Share share = books.queues.ShareOf(model::OrderPolicy::kDrf, missing);
    const OrderKey key{0, i, share.used, share.of};
    if (best.valid() && !(key < best_key)) continue;
    best = NodeIndex{i};
    best_key = key;
  }
  return best;
}

}  // namespace fairlead::scheduler::native

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/books/shares.h"
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

namespace {

/// Who waits, by leaf. The next one of a leaf is found when it is asked for: O(log applications), where putting all in
/// order would be most of a review.
class Lines {
 public:
  struct Waiter {
    OrderKey key;
    QueueId leaf;
    AppSlot slot;
  };

  /// `standings`: of each queue, by number; the least leaf comes first.
  Lines(std::vector<Waiter> waiters, const std::vector<OrderKey>& standings) : waiters_(waiters.size()) {
    std::vector<size_t> ends(standings.size() + 1);
    for (const Waiter& one : waiters) ++ends[one.leaf.value + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    const std::vector<size_t> begins = ends;
    for (const Waiter& one : waiters) waiters_[ends[one.leaf.value]++] = one;
    for (size_t leaf = 0; leaf < standings.size(); ++leaf) {
      if (begins[leaf] == ends[leaf]) continue;
      lines_.emplace_back(&waiters_[begins[leaf]], ends[leaf] - begins[leaf]);
      std::make_heap(lines_.back().begin(), lines_.back().end(), After);
    }
    std::sort(lines_.begin(), lines_.end(), [&](std::span<Waiter> a, std::span<Waiter> b) {
      return standings[a.front().leaf.value] < standings[b.front().leaf.value];
    });
  }

  /// The first of each leaf, then the second of each, and so on, until `visit` gives false.
  template <class Visit>
  void TakeInTurn(const Visit& visit) {
    while (!lines_.empty()) {
      for (std::span<Waiter>& line : lines_) {
        std::pop_heap(line.begin(), line.end(), After);
        if (!visit(line.back().slot)) return;
        line = line.first(line.size() - 1);
      }
      std::erase_if(lines_, [](std::span<Waiter> line) { return line.empty(); });
    }
  }

 private:
  static bool After(const Waiter& a, const Waiter& b) { return b.key < a.key; }

  std::vector<Waiter> waiters_;
  std::vector<std::span<Waiter>> lines_;  // heaps
};

/// What each leaf has of its fair share, with what is kept for it. By their numbers alone the first leaves would have
/// all nodes that may be kept, and more than their shares. O(queues).
std::vector<OrderKey> Standings(const Books& books, const std::vector<Resources>& kept) {
  const auto billionths = [&](const Resources& amount) -> uint64_t {
    const Share part = books.queues.ShareOf(model::OrderPolicy::kDrf, amount);
    constexpr uint64_t kMost = uint64_t{1} << 45;
    if (part.of == 0) return 0;
    return static_cast<uint64_t>(
        std::min<unsigned __int128>(static_cast<unsigned __int128>(part.used) * 1'000'000'000 / part.of, kMost));
  };
  const std::vector<Resources> shares = QueueShares(books.queues, books.types, books.nodes.schedulable());
  std::vector<OrderKey> standings(books.queues.size());
  for (const QueueId id : books.queues) {
    const uint64_t share = billionths(shares[id.value]);
    // Who is entitled to nothing comes last.
    standings[id.value] = {share == 0 ? 1 : 0, id.value, billionths(books.queues[id].used + kept[id.value]),
                           std::max<uint64_t>(share, 1)};
  }
  return standings;
}

}  // namespace

/// Which shapes have waited for `reservations.after` and would be passed; and their classes.
std::vector<bool> FairPolicy::RipeShapes(const Books& books, uint64_t& classes) const {
  std::vector<bool> ripe(books.shapes.size());
  classes = 0;
  for (const ShapeId id : books.shapes.tight()) {
    const Shape& shape = books.shapes[id];
    if (!shape.blocked || shape.wanted == 0 || books.now < shape.blocked_since + config_.reservations.after) continue;
    if (!books.shapes.MayBePassed(id, books.types)) continue;
    ripe[id.value] = true;
    classes |= books.shapes.ClassOf(id);
  }
  return ripe;
}

FairPolicy::Amounts FairPolicy::KeptByLeaf(const Books& books) {
  Amounts kept(books.queues.size());
  for (const ReservationId id : books.reservations) {
    kept[books.apps[books.reservations[id].app].leaf.value] += books.reservations[id].size;
  }
  return kept;
}

/// The whole part of the nodes where at least half of the cluster is waited for; else less, in proportion: where little
/// waits rooms become free by themselves, and those kept would be missing.
size_t FairPolicy::MostKept(const Books& books) const {
  const auto& root = books.queues[kRoot];
  const Share waits = books.queues.ShareOf(model::OrderPolicy::kDrf, root.demand - root.used);
  unsigned __int128 most =
      static_cast<unsigned __int128>(books.nodes.alive()) * config_.small_jobs.nodes_per_thousand / 1000;
  if (waits.used < waits.of / 2) most = most * 2 * waits.used / waits.of;
  return std::max<size_t>(1, static_cast<size_t>(most));
}

/// What comes first in its queue is not passed for ever, however many sizes are asked for: queue after queue, the one
/// that has least of its share first, the asks whose turn it is and for which no node has had room for
/// `reservations.after` get nodes kept for them. O(waiting applications + queues), and O(nodes) for each of kLooks asks
/// at most.
void FairPolicy::ReserveInOrder(Core& core) {
  constexpr int kLooks = 256;
  Books& books = core.books();
  const size_t most = MostKept(books);
  if (books.reservations.count() >= most) return;
  uint64_t classes = 0;
  const std::vector<bool> ripe = RipeShapes(books, classes);
  if (classes == 0) return;
  std::vector<Lines::Waiter> waiters;
  size_t may_want = 0;
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (!app.runnable || !app.active || app.classes == 0) continue;
    if (app.needs_master && order_.MastersClosed(app.leaf)) continue;
    waiters.push_back({order_.KeyIn(app.leaf, slot), app.leaf, slot});
    may_want += (app.classes & classes) ? 1 : 0;
  }
  if (may_want == 0) return;
  int looks = 0;
  Lines(std::move(waiters), Standings(books, KeptByLeaf(books))).TakeInTurn([&](AppSlot slot) {
    if (!(books.apps[slot].classes & classes)) return true;
    for (Ask& ask : books.apps.asks(slot)) {
      if (!ripe[ask.shape.value] || ask.park != Park::kNo || ask.count <= ask.reserved || HasTimetable(ask)) continue;
      if (++looks > kLooks || books.reservations.count() >= most) return false;
      ReserveFor(core, slot, ask);
    }
    return --may_want > 0;
  });
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

#include "scheduler/books/small_policy.h"

#include <algorithm>
#include <queue>

#include "scheduler/books/blocker.h"
#include "scheduler/books/core.h"

namespace fairlead::scheduler::native {

using model::scheduler::Pending;

/// The applications that wait for a size for which some node may have room, in the order of their ranks.
class SmallPolicy::Turns {
 public:
  Turns(const SmallPolicy& policy, const Books& books, const Waiting& waiting)
      : policy_(policy), books_(books), waiting_(waiting) {
    for (const auto& [shape, ranks] : waiting_) Add(shape);
  }

  /// The next one; an invalid index: there is none. It may be ranked otherwise by now, or wait for nothing.
  Rank Take() {
    if (taken_.valid()) Add(std::exchange(taken_, {}));
    while (!next_.empty()) {
      const auto [rank, shape] = next_.top();
      next_.pop();
      if (rank < from_) {
        Add(shape);
        continue;
      }
      from_ = {rank.first, AppIndex{rank.second.value + 1}};
      taken_ = shape;
      return rank;
    }
    return {};
  }

  /// An application that was ranked again in its turn has a further turn.
  void Ranked(const Seat& seat) {
    if (seat.rank < from_) return;
    for (const ShapeId shape : seat.shapes) Add(shape);
  }

 private:
  void Add(ShapeId shape) {
    const auto at = waiting_.find(shape);
    if (at == waiting_.end() || policy_.IsFull(books_, shape)) return;
    const auto app = at->second.lower_bound(from_);
    if (app != at->second.end()) next_.emplace(*app, shape);
  }

  const SmallPolicy& policy_;
  const Books& books_;
  const Waiting& waiting_;
  Rank from_{INT64_MIN, AppIndex{0}};
  ShapeId taken_;  // of the last one: the next of that size comes once it was served
  using Next = std::pair<Rank, ShapeId>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
};

void SmallPolicy::Place(Core& core) {
  Books& books = core.books();
  books.nodes.TakeChanged([&](NodeIndex node) {
    Reorder(books, node);
    if (!books.nodes.TakeFreed(node)) return;
    books.gangs.NoteRoom();
    std::erase_if(full_, [&](const auto& one) { return books.nodes.Fits(node, one.second.size, one.second.label); });
  });
  ServeWaiting(core, true);
  ServeWaiting(core, false);
  core.PlaceGangs();
}

void SmallPolicy::VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const {
  for (auto at = order_.rbegin(); at != order_.rend() && !TooLow(at->first, shape); ++at) {
    if (books.nodes.Fits(at->second, shape.size, shape.label) && !visit(at->second)) return;
  }
}

Pending SmallPolicy::GangLimit(const Books& books, AppSlot slot, int64_t gang) const {
  model::Resources all;
  for (const Ask& ask : books.apps[slot].asks) {
    if (ask.gang == gang) all += books.shapes[ask.shape].size * ask.count;
  }
  std::vector<Blocker> blockers;
  FindQueueMaxima(books, books.apps[slot], all, blockers);
  return blockers.empty() ? Pending{} : Joined(blockers);
}

Pending SmallPolicy::Why(const Books& books, AppSlot slot, const Ask& ask, base::Instant) const {
  const App& app = books.apps[slot];
  const Shape& shape = books.shapes[ask.shape];
  std::vector<Blocker> blockers;
  FindRunningLimits(books, app, blockers);
  FindQueueMaxima(books, app, shape.size, blockers);
  FindMasterLimits(books, app, shape.size, false, blockers);
  bool room = false;
  bool excluded = false;
  VisitRoom(books, shape, [&](NodeIndex node) {
    (books.Excluded(app, node) ? excluded : room) = true;
    return !room;
  });
  if (!room && excluded) blockers.push_back(AllExcluded(app, shape));
  if (!room && !excluded) blockers.push_back(NoRoom(books, shape));
  return Joined(blockers);
}

void SmallPolicy::Mix(base::StateHasher& hash) const {
  for (const auto& [shape, key] : full_) hash.Mix(shape.value);
  for (const int64_t score : scores_) hash.Mix(static_cast<uint64_t>(score));
}

std::string SmallPolicy::Check(const Books& books) const {
  for (uint32_t i = 0; i < scores_.size(); ++i) {
    const NodeIndex node{i};
    if (scores_[i] != ScoreOrNone(books, node) || order_.contains({scores_[i], node}) != books.nodes[node].open()) {
      return "order of nodes by score";
    }
  }
  for (uint32_t i = 0; i < seats_.size(); ++i) {
    if (!seats_[i].shapes.empty() && seats_[i].rank.first != RankOf(books, AppSlot{i})) return "order of applications";
  }
  return "";
}

int64_t SmallPolicy::ScoreOrNone(const Books& books, NodeIndex node) const {
  return books.nodes[node].open() ? ScoreOf(books.nodes[node]) : -1;
}

void SmallPolicy::Reorder(const Books& books, NodeIndex node) {
  if (node.value >= scores_.size()) scores_.resize(node.value + 1, -1);
  int64_t& score = scores_[node.value];
  const int64_t now = ScoreOrNone(books, node);
  if (now == score) return;
  if (score >= 0) order_.erase({score, node});
  score = now;
  if (score >= 0) order_.insert({score, node});
}

void SmallPolicy::Follow(const Books& books, AppSlot slot) {
  const App& app = books.apps[slot];
  std::vector<ShapeId> shapes;
  if (app.runnable && app.active) {
    for (const Ask& ask : app.asks) {
      if (ask.open()) shapes.push_back(ask.shape);
    }
  }
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  if (seats_.size() <= slot.value) seats_.resize(slot.value + 1);
  Seat& seat = seats_[slot.value];
  const Rank rank{RankOf(books, slot), app.index};
  if (seat.shapes == shapes && seat.master == app.needs_master && seat.rank == rank) return;
  StopWaiting(slot);
  seat = {rank, app.needs_master, std::move(shapes)};
  for (const ShapeId shape : seat.shapes) waiting_[seat.master ? 1 : 0][shape].insert(seat.rank);
}

void SmallPolicy::StopWaiting(AppSlot slot) {
  if (slot.value >= seats_.size()) return;
  Seat& seat = seats_[slot.value];
  Waiting& waiting = waiting_[seat.master ? 1 : 0];
  for (const ShapeId shape : seat.shapes) {
    const auto at = waiting.find(shape);
    at->second.erase(seat.rank);
    if (at->second.empty()) waiting.erase(at);
  }
  seat.shapes.clear();
}

void SmallPolicy::ServeWaiting(Core& core, bool masters) {
  const Books& books = core.books();
  Turns turns(*this, books, waiting_[masters ? 1 : 0]);
  for (Rank rank = turns.Take(); rank.second.valid(); rank = turns.Take()) {
    const AppSlot slot = books.apps.Find(rank.second);
    if (!slot.valid() || seats_[slot.value].rank != rank || books.apps[slot].needs_master != masters) continue;
    Serve(core, slot);
    if (seats_[slot.value].rank != rank) turns.Ranked(seats_[slot.value]);
  }
}

/// The size is compared, too: numbers of sizes are used again.
bool SmallPolicy::IsFull(const Books& books, ShapeId shape) const {
  const auto at = full_.find(shape);
  return at != full_.end() && at->second.size == books.shapes[shape].size &&
         at->second.label == books.shapes[shape].label;
}

void SmallPolicy::Serve(Core& core, AppSlot slot) {
  int32_t left = AtOnce();
  for (Ask& ask : core.books().apps.asks(slot)) {
    if (left > 0 && ask.open() && !IsFull(core.books(), ask.shape)) Deal(core, slot, ask, left);
  }
}

/// Over the nodes that have room, in the order as it was when the ask's turn came.
void SmallPolicy::Deal(Core& core, AppSlot slot, Ask& ask, int32_t& left) {
  const Books& books = core.books();
  const App& app = books.apps[slot];
  const ShapeId shape_id = ask.shape;
  const Shape shape = books.shapes[shape_id];
  std::vector<NodeIndex> usable;
  for (auto at = order_.rbegin(); at != order_.rend() && !TooLow(at->first, shape); ++at) {
    if (books.Fits(app, at->second, shape)) usable.push_back(at->second);
    // One node a container is enough; what is left then sees the order again.
    if (usable.size() >= static_cast<size_t>(std::min(ask.count, left))) break;
  }
  if (usable.empty() && app.excluded.empty()) full_.insert_or_assign(shape_id, shape);
  while (!usable.empty() && ask.count > 0) {
    for (size_t i = 0; i < usable.size() && ask.count > 0; ++i) {
      do {
        if (left == 0 || books.queues.FindLimit(app.leaf, shape.size, app.needs_master).kind != Limit::Kind::kFree)
          return;
        --left;
        core.Grant(slot, ask, SpotOn(books, ask, usable[i]));
      } while (!SpreadsOut() && ask.count > 0 && books.Fits(app, usable[i], shape));
    }
    std::erase_if(usable, [&](NodeIndex node) { return !books.Fits(app, node, shape); });
  }
}

}  // namespace fairlead::scheduler::native

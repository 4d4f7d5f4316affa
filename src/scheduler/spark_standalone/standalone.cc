#include "scheduler/spark_standalone/standalone.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "base/state.h"
#include "scheduler/books/blocker.h"
#include "scheduler/books/core.h"

namespace fairlead::scheduler {
namespace standalone {
namespace {

using model::scheduler::Pending;
using model::scheduler::PendingReason;
using native::AppIndex;
using native::AppSlot;
using native::Ask;
using native::Books;
using native::Core;
using native::Limit;
using native::NodeIndex;
using native::Shape;
using native::ShapeId;

class StandalonePolicy final : public native::PolicyOf<StandalonePolicy> {
 public:
  explicit StandalonePolicy(bool spread_out) : spread_out_(spread_out) {}

  void AppEntered(const Books& books, AppSlot slot) override { Follow(books, slot); }
  void AppChanged(const Books& books, AppSlot slot) override { Follow(books, slot); }
  void AppLeaves(const Books&, AppSlot slot) override { StopWaiting(slot); }
  void Publish(Books& books, NodeIndex node) override { Reorder(books, node); }

  void Place(Core& core) override {
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

  /// In the order in which the nodes are offered.
  void VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const override {
    for (const auto& [cores, node] : order_) {
      if (cores < shape.size.vcores()) return;
      if (books.nodes.Fits(node, shape.size, shape.label) && !visit(node)) return;
    }
  }

  Pending GangLimit(const Books& books, AppSlot slot, int64_t gang) const override {
    model::Resources all;
    for (const Ask& ask : books.apps[slot].asks) {
      if (ask.gang == gang) all += books.shapes[ask.shape].size * ask.count;
    }
    std::vector<Blocker> blockers;
    native::FindQueueMaxima(books, books.apps[slot], all, blockers);
    return blockers.empty() ? Pending{} : native::Joined(blockers);
  }

  Pending Why(const Books& books, AppSlot slot, const Ask& ask, base::Instant) const override {
    const native::App& app = books.apps[slot];
    const Shape& shape = books.shapes[ask.shape];
    std::vector<Blocker> blockers;
    native::FindRunningLimits(books, app, blockers);
    native::FindQueueMaxima(books, app, shape.size, blockers);
    native::FindMasterLimits(books, app, shape.size, false, blockers);
    bool room = false;
    bool excluded = false;
    VisitRoom(books, shape, [&](NodeIndex node) {
      (books.Excluded(app, node) ? excluded : room) = true;
      return !room;
    });
    if (!room && excluded) blockers.push_back(native::AllExcluded(app, shape));
    if (!room && !excluded) blockers.push_back(native::NoRoom(books, shape));
    return native::Joined(blockers);
  }

  void Mix(base::StateHasher& hash) const override {
    for (const auto& [shape, key] : full_) hash.Mix(shape.value);
    for (const int64_t cores : cores_) hash.Mix(static_cast<uint64_t>(cores));
  }

  std::string Check(const Books& books) const override {
    for (uint32_t i = 0; i < cores_.size(); ++i) {
      const native::Node& node = books.nodes[NodeIndex{i}];
      if (cores_[i] != CoresOf(node) || order_.contains({cores_[i], NodeIndex{i}}) != node.open()) {
        return "order of nodes by free cores";
      }
    }
    return "";
  }
  FL_STATE_PART(seats_, waiting_, full_, order_, cores_)

 private:
  /// Most free cores first, then larger number (Master.startExecutorsOnWorkers sorts ascending and reverses).
  using Order = std::set<std::pair<int64_t, NodeIndex>, std::greater<>>;

  struct Seat {
    AppIndex app;
    bool master = false;
    std::vector<ShapeId> shapes;  // in waiting_
    FL_STATE(app, master, shapes)
  };

  static int64_t CoresOf(const native::Node& node) {
    return node.open() ? std::max<int64_t>(0, node.free().vcores()) : -1;
  }

  void Reorder(const Books& books, NodeIndex node) {
    if (node.value >= cores_.size()) cores_.resize(node.value + 1, -1);
    int64_t& cores = cores_[node.value];
    if (cores >= 0) order_.erase({cores, node});
    cores = CoresOf(books.nodes[node]);
    if (cores >= 0) order_.insert({cores, node});
  }

  /// Which sizes the application waits for.
  void Follow(const Books& books, AppSlot slot) {
    const native::App& app = books.apps[slot];
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
    if (seat.shapes == shapes && seat.master == app.needs_master) return;
    StopWaiting(slot);
    seat = {app.index, app.needs_master, std::move(shapes)};
    for (const ShapeId shape : seat.shapes) waiting_[seat.master ? 1 : 0][shape].insert(seat.app);
  }

  void StopWaiting(AppSlot slot) {
    if (slot.value >= seats_.size()) return;
    Seat& seat = seats_[slot.value];
    auto& waiting = waiting_[seat.master ? 1 : 0];
    for (const ShapeId shape : seat.shapes) {
      const auto at = waiting.find(shape);
      at->second.erase(seat.app);
      if (at->second.empty()) waiting.erase(at);
    }
    seat.shapes.clear();
  }

  /// The applications in the order of their numbers, only those that wait for a size for which some node may have room.
  /// O(log) an application that is looked at, and O(sizes) a pass.
  void ServeWaiting(Core& core, bool masters) {
    const Books& books = core.books();
    auto& waiting = waiting_[masters ? 1 : 0];
    using Next = std::pair<AppIndex, ShapeId>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    const auto push = [&](ShapeId shape, AppIndex from) {
      const auto at = waiting.find(shape);
      if (at == waiting.end() || IsFull(books, shape)) return;
      const auto app = at->second.lower_bound(from);
      if (app != at->second.end()) next.emplace(*app, shape);
    };
    for (const auto& [shape, apps] : waiting) {
      if (!IsFull(books, shape)) next.emplace(*apps.begin(), shape);
    }
    AppIndex from{0};
    while (!next.empty()) {
      const auto [app, shape] = next.top();
      next.pop();
      if (app >= from) {
        from = AppIndex{app.value + 1};
        if (const AppSlot slot = books.apps.Find(app); slot.valid()) Serve(core, slot, masters);
      }
      push(shape, from);
    }
  }

  /// No node has room for the shape; its number may mean another one by now.
  bool IsFull(const Books& books, ShapeId shape) const {
    const auto at = full_.find(shape);
    return at != full_.end() && at->second.size == books.shapes[shape].size &&
           at->second.label == books.shapes[shape].label;
  }

  void Serve(Core& core, AppSlot slot, bool masters) {
    if (core.books().apps[slot].needs_master != masters) return;
    std::vector<Ask>& asks = core.books().apps.asks(slot);
    for (Ask& ask : asks) {
      if (ask.open() && !IsFull(core.books(), ask.shape)) Distribute(core, slot, ask);
    }
  }

  /// One container a node in turn (or node after node) over the nodes that have room, in the order as it was when the
  /// ask's turn came.
  void Distribute(Core& core, AppSlot slot, Ask& ask) {
    const Books& books = core.books();
    const native::App& app = books.apps[slot];
    const ShapeId shape_id = ask.shape;
    const Shape shape = books.shapes[shape_id];
    std::vector<NodeIndex> usable;
    for (const auto& [cores, node] : order_) {
      if (cores < shape.size.vcores()) break;
      if (books.Fits(app, node, shape)) usable.push_back(node);
      // A round over as many nodes as containers are wanted goes no further; the next round sees the order again.
      if (usable.size() >= static_cast<size_t>(ask.count)) break;
    }
    if (usable.empty() && app.excluded.empty()) full_.insert_or_assign(shape_id, shape);
    while (!usable.empty() && ask.count > 0) {
      for (size_t i = 0; i < usable.size() && ask.count > 0; ++i) {
        do {
          const Limit limit = books.queues.FindLimit(app.leaf, shape.size, app.needs_master);
          if (limit.kind != Limit::Kind::kFree) return;
          core.Grant(slot, ask, native::SpotOn(books, ask, usable[i]));
        } while (!spread_out_ && ask.count > 0 && books.Fits(app, usable[i], shape));
      }
      std::erase_if(usable, [&](NodeIndex node) { return !books.Fits(app, node, shape); });
    }
  }

  bool spread_out_;
  std::vector<Seat> seats_;                                       // by AppSlot
  std::array<std::map<ShapeId, std::set<AppIndex>>, 2> waiting_;  // for that size; [1]: for their master
  std::map<ShapeId, native::ShapeKey> full_;                      // no node has room, as far as is known
  Order order_;
  std::vector<int64_t> cores_;  // by node, as in order_; -1: not there
};

}  // namespace
}  // namespace standalone

std::unique_ptr<Scheduler> MakeStandalone(const StandaloneConfig& config) {
  return std::make_unique<native::Core>(config.base, std::make_unique<standalone::StandalonePolicy>(config.spread_out));
}

}  // namespace fairlead::scheduler

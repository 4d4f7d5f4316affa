#include "scheduler/spark_standalone/standalone.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

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

class StandalonePolicy final : public native::Policy {
 public:
  explicit StandalonePolicy(bool spread_out) : spread_out_(spread_out) {}

  std::unique_ptr<Policy> Clone() const override { return std::make_unique<StandalonePolicy>(*this); }

  void Publish(Books& books, NodeIndex node) override { Reorder(books, node); }

  void Place(Core& core) override {
    Books& books = core.books();
    books.nodes.TakeChanged([&](NodeIndex node) {
      if (books.nodes.TakeFreed(node)) books.gangs.NoteRoom();
      Reorder(books, node);
    });
    std::set<ShapeId> full;
    while (first_app_ < books.apps.indices() && !books.apps.Find(AppIndex{first_app_}).valid()) ++first_app_;
    for (const bool masters : {true, false}) {
      for (uint32_t index = first_app_; index < books.apps.indices(); ++index) {
        const AppSlot slot = books.apps.Find(AppIndex{index});
        if (!slot.valid() || !books.apps[slot].runnable || !books.apps[slot].active) continue;
        if (books.apps[slot].needs_master == masters) Serve(core, slot, full);
      }
    }
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
    hash.Mix(first_app_);
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

 private:
  /// Most free cores first, then larger number (Master.startExecutorsOnWorkers sorts ascending and reverses).
  using Order = std::set<std::pair<int64_t, NodeIndex>, std::greater<>>;

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

  void Serve(Core& core, AppSlot slot, std::set<ShapeId>& full) {
    std::vector<Ask>& asks = core.books().apps.asks(slot);
    for (Ask& ask : asks) {
      if (ask.open() && !full.contains(ask.shape)) Distribute(core, slot, ask, full);
    }
  }

  /// One container a node in turn (or node after node) over the nodes that have room, in the order as it was when the
  /// ask's turn came. `full`: shapes that no node has room for.
  void Distribute(Core& core, AppSlot slot, Ask& ask, std::set<ShapeId>& full) {
    const Books& books = core.books();
    const native::App& app = books.apps[slot];
    const ShapeId shape_id = ask.shape;
    const Shape shape = books.shapes[shape_id];
    std::vector<NodeIndex> usable;
    for (const auto& [cores, node] : order_) {
      if (cores < shape.size.vcores()) break;
      if (books.Fits(app, node, shape)) usable.push_back(node);
      // A round over as many nodes as containers are wanted goes no further; the next round sees the order anew.
      if (usable.size() >= static_cast<size_t>(ask.count)) break;
    }
    if (usable.empty() && app.excluded.empty()) full.insert(shape_id);
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
  uint32_t first_app_ = 0;  // those before it are gone, and none comes there again
  Order order_;
  std::vector<int64_t> cores_;  // by node, as in order_; -1: not there
};

}  // namespace
}  // namespace standalone

std::unique_ptr<Scheduler> MakeStandalone(const StandaloneConfig& config) {
  return std::make_unique<native::Core>(config.base, std::make_unique<standalone::StandalonePolicy>(config.spread_out));
}

}  // namespace fairlead::scheduler

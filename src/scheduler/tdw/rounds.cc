#include <algorithm>

#include "base/hash.h"
#include "base/prefetch.h"
#include "scheduler/tdw/policy.h"

namespace fairlead::scheduler {

std::unique_ptr<Scheduler> MakeTdw(const TdwConfig& config) {
  return std::make_unique<native::Core>(config.base, std::make_unique<tdw::TdwPolicy>(config));
}

namespace tdw {

using model::Locality;
using Wide = __int128;

TaskType TdwPolicy::TypeOf(const native::Container& container) const {
  if (container.is_master) return TaskType::kJobtracker;
  return container.priority == settings_.reduce_priority ? TaskType::kReduce : TaskType::kMap;
}

TaskType TdwPolicy::TypeOf(const App& app, int32_t priority) const {
  if (app.needs_master) return TaskType::kJobtracker;
  return priority == settings_.reduce_priority ? TaskType::kReduce : TaskType::kMap;
}

Counts& TdwPolicy::AppCounts(AppSlot slot) {
  if (slot.value >= app_granted_.size()) app_granted_.resize(slot.value + 1);
  return app_granted_[slot.value];
}

Counts& TdwPolicy::NodeCounts(NodeIndex node) {
  if (node.value >= node_granted_.size()) node_granted_.resize(node.value + 1);
  return node_granted_[node.value];
}

void TdwPolicy::ContainerStarted(const Books& books, ContainerSlot slot) {
  const native::Container& container = books.containers[slot];
  const size_t type = At(TypeOf(container));
  ++AppCounts(container.app)[type];
  ++NodeCounts(container.node)[type];
  ++all_granted_[type];
  Index(books, container.node);  // with the load that counts it
}

void TdwPolicy::ContainerEnds(const Books& books, ContainerSlot slot, int32_t /*exit_status*/) {
  --AppCounts(books.containers[slot].app)[At(TypeOf(books.containers[slot]))];
}

void TdwPolicy::ContainerLeaves(const Books& books, ContainerSlot slot) {
  const size_t type = At(TypeOf(books.containers[slot]));
  --NodeCounts(books.containers[slot].node)[type];
  --all_granted_[type];
}

void TdwPolicy::Index(const Books& books, NodeIndex index) {
  const native::Node& node = books.nodes[index];
  if (node.open()) {
    index_.Set(index, node.free(), NodeCounts(index), node.capacity.vcores());
  } else {
    index_.Close(index);
  }
}

void TdwPolicy::PrefetchNode(const Books&, NodeIndex node) const {
  index_.Prefetch(node);
  if (node.value < node_granted_.size()) base::Prefetch(&node_granted_[node.value]);
}

void TdwPolicy::Place(Core& core) {
  Books& books = core.books();
  PublishChanged(books);
  // Asks change without a node changing: whatever the batch was, it may have brought some.
  round_due_ = true;
  if (books.now < next_round_) return;
  next_round_ = books.now + settings_.round_interval;
  round_due_ = false;
  RunRounds(core);
}

void TdwPolicy::PublishChanged(Books& books) {
  books.nodes.TakeChanged([&](NodeIndex node) {
    if (books.nodes.TakeFreed(node)) books.gangs.NoteRoom();
    Index(books, node);
  });
}

void TdwPolicy::RunRounds(Core& core) {
  if (seated_tree_ != core.books().queues.version()) SeatAll(core.books());
  OpenPools();
  for (const TaskType type : kTypes) {
    if (!standing_[At(type)].AnyoneWaits()) continue;
    const Round round = RunRound(core, type);
    if (round.grants >= settings_.round_limit) round_due_ = true;
    if (!settings_.preemption || !round.full) continue;
    Preempt(core, type);
    PublishChanged(core.books());  // what was taken back is there for the types that follow
  }
  core.PlaceGangs();
}

TdwPolicy::Round TdwPolicy::RunRound(Core& core, TaskType type) {
  Round round;
  Standing& standing = standing_[At(type)];
  std::vector<AppSlot> passed_over;
  while (round.grants < settings_.round_limit) {
    const uint32_t pool = standing.FirstPool(round.classes);
    if (pool == kNone) break;
    const AppSlot slot{standing.FirstSession(pool, round.classes)};
    switch (TrySession(core, slot, type, round)) {
      case Try::kGranted:
        ++round.grants;
        break;
      case Try::kNothing:
        standing.PassOver(pool, sessions_[slot.value].seat[At(type)]);
        passed_over.push_back(slot);
        break;
      case Try::kMastersFull:
        ClosePool(QueueId{pool});
        break;
    }
  }
  for (const AppSlot slot : passed_over) Seat(core.books(), slot);
  return round;
}

/// Grants one task of the session, of its first ask that finds a node; asks that find none are out for the round.
TdwPolicy::Try TdwPolicy::TrySession(Core& core, AppSlot slot, TaskType type, Round& round) {
  Books& books = core.books();
  const App& app = books.apps[slot];
  for (Ask& ask : books.apps.asks(slot)) {
    if (!ask.open() || TypeOf(app, ask.priority) != type) continue;
    if (round.hopeless_shapes.contains(ask.shape) || round.hopeless_asks.contains({slot, ask.serial})) continue;
    const Resources& size = books.shapes[ask.shape].size;
    if (app.needs_master &&
        (books.queues.LeafMastersExceed(app.leaf, size) || books.queues.ClusterMastersExceed(size))) {
      return Try::kMastersFull;
    }
    const Spot spot = FindNode(books, app, ask, type);
    if (spot.node.valid()) {
      core.Grant(slot, ask, spot);
      cursor_[At(type)] = spot.node.value + 1;
      return Try::kGranted;
    }
    if (FindObstacle(books, app, ask) != Obstacle::kNoRoom) {
      round.hopeless_asks.emplace(slot, ask.serial);
      continue;
    }
    // No node has room for the shape, whoever asks: nothing is freed during a round.
    round.hopeless_shapes.insert(ask.shape);
    if (books.shapes.AloneInClass(ask.shape)) round.classes &= ~books.shapes.ClassOf(ask.shape);
    round.full = true;
  }
  return Try::kNothing;
}

Spot TdwPolicy::FindNode(const Books& books, const App& app, const Ask& ask, TaskType type) const {
  Spot spot = FindPreferred(books, app, ask);
  if (!spot.node.valid()) spot.node = Walk(books, app, ask, type, true);
  if (!spot.node.valid()) spot.node = Walk(books, app, ask, type, false);
  if (!spot.node.valid() || spot.locality == Locality::kNodeLocal) return spot;
  for (const native::NamedPlace& one : ask.places) {
    if (one.rack && one.count > 0 && one.place == books.nodes[spot.node].rack) spot.locality = Locality::kRackLocal;
  }
  return spot;
}

/// The first host in the order in which the ask named them.
Spot TdwPolicy::FindPreferred(const Books& books, const App& app, const Ask& ask) const {
  const Shape& shape = books.shapes[ask.shape];
  Spot best;
  for (size_t i = 0; i < ask.places.size(); ++i) {
    const native::NamedPlace& one = ask.places[i];
    if (one.rack || one.count == 0 || (best.node.valid() && one.line > ask.places[best.place].line)) continue;
    for (const NodeIndex node : books.places[one.place].nodes) {
      if (!Fits(books, node, shape) || books.Excluded(app, ask, node)) continue;
      best = {node, Locality::kNodeLocal, i};
      break;
    }
  }
  return best;
}

bool TdwPolicy::Fits(const Books& books, NodeIndex node, const Shape& shape) const {
  return index_.Holds(node, shape.size) && books.nodes.HasLabel(node, shape.label);
}

TdwPolicy::Obstacle TdwPolicy::FindObstacle(const Books& books, const App& app, const Ask& ask) const {
  Obstacle obstacle = Obstacle::kNoRoom;
  VisitRoom(books, books.shapes[ask.shape], [&](NodeIndex node) {
    obstacle = books.Excluded(app, ask, node) ? Obstacle::kExclusion : Obstacle::kStrictPlaces;
    return obstacle == Obstacle::kExclusion;
  });
  return obstacle;
}

bool TdwPolicy::BelowMean(const Books& books, NodeIndex node, TaskType type) const {
  const int64_t granted = node.value < node_granted_.size() ? node_granted_[node.value][At(type)] : 0;
  const int64_t capacity = books.nodes[node].capacity.vcores();
  return Wide{granted} * books.nodes.total().vcores() < Wide{all_granted_[At(type)]} * capacity;
}

/// By node number, starting after the node of the last grant of this type; within the racks that the ask names when it
/// takes no other place.
NodeIndex TdwPolicy::Walk(const Books& books, const App& app, const Ask& ask, TaskType type, bool below_mean) const {
  const auto in_rack = [&](NodeIndex node) {
    return std::any_of(ask.places.begin(), ask.places.end(), [&](const native::NamedPlace& one) {
      return one.rack && one.relax && one.count > 0 && one.place == books.nodes[node].rack;
    });
  };
  const Shape& shape = books.shapes[ask.shape];
  const auto next = [&](uint32_t from) {
    if (!below_mean) return index_.FindFrom(from, shape.size);
    return index_.FindBelow(from, shape.size, type, all_granted_[At(type)], books.nodes.total().vcores());
  };
  const uint32_t size = index_.size();
  const uint32_t start = cursor_[At(type)] < size ? cursor_[At(type)] : 0;
  for (const auto& [from, end] : {std::pair(start, size), std::pair(0U, start)}) {
    for (uint32_t at = from < end ? next(from) : FreeIndex::kNone; at < end; at = next(at + 1)) {
      const NodeIndex node{at};
      if (!books.nodes.HasLabel(node, shape.label)) continue;
      if (below_mean && !BelowMean(books, node, type)) continue;
      if (books.Excluded(app, ask, node) || (!ask.relax_any && !in_rack(node))) continue;
      return node;
    }
  }
  return {};
}

void TdwPolicy::VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const {
  for (uint32_t at = index_.FindFrom(0, shape.size); at != FreeIndex::kNone; at = index_.FindFrom(at + 1, shape.size)) {
    if (books.nodes.HasLabel(NodeIndex{at}, shape.label) && !visit(NodeIndex{at})) return;
  }
}

/// Left out, since it follows from the books and the seats: the index, the orders of pools and sessions.
void TdwPolicy::Mix(base::StateHasher& hash) const {
  for (const uint32_t cursor : cursor_) hash.Mix(cursor);
  for (const auto* granted : {&app_granted_, &node_granted_}) {
    for (const Counts& counts : *granted) {
      for (const int64_t count : counts) hash.Mix(static_cast<uint64_t>(count));
    }
  }
  for (const int64_t granted : all_granted_) hash.Mix(static_cast<uint64_t>(granted));
  hash.Mix(static_cast<uint64_t>(next_round_.ns));
  hash.Mix(seated_tree_);
  hash.Mix(uint64_t{round_due_} * 2 + uint64_t{masters_freed_});
  for (const QueueId pool : closed_pools_) hash.Mix(pool.value);
  for (const Manner& manner : manners_) {
    hash.Mix(static_cast<uint64_t>(manner.start.ms));
    hash.Mix(uint64_t{manner.traits.preemptable});
    hash.Mix(static_cast<uint64_t>(manner.traits.maps));
    hash.Mix(static_cast<uint64_t>(manner.traits.reduces));
  }
  for (const Session& session : sessions_) {
    hash.Mix(session.pool.value);
    hash.Mix(session.rank);
    for (const uint32_t seat : session.seat) hash.Mix(seat);
  }
}

std::string TdwPolicy::Check(const Books& books) const {
  std::vector<Counts> by_app(app_granted_.size());
  std::vector<Counts> by_node(node_granted_.size());
  Counts all{};
  for (const ContainerSlot slot : books.containers) {
    const native::Container& container = books.containers[slot];
    const size_t type = At(TypeOf(container));
    ++by_node[container.node.value][type];
    ++all[type];
    if (container.app.valid()) ++by_app[container.app.value][type];
  }
  if (by_app != app_granted_ || by_node != node_granted_ || all != all_granted_) return "grants by task type";
  if (!index_.Consistent()) return "index of free resources and loads";
  return SeatErrors(books);
}

}  // namespace tdw
}  // namespace fairlead::scheduler

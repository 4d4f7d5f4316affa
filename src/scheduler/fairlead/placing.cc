#include <algorithm>

#include "scheduler/fairlead/core.h"

// Placing: from the root to the first request in order that can be served, until none is left.

namespace fairlead::scheduler::native {
namespace {

/// Hosts of one request that are looked at in one try.
constexpr size_t kTries = 64;
/// How often holds and preemption are looked at while requests wait, at least.
constexpr base::Duration kReviewInterval = base::Duration::Seconds(1);

}  // namespace

void Core::PlaceAll() {
  if (keys_stale_) RebuildKeys();
  PlaceInOrder();
  if (!gangs_.empty()) PlaceGangs();
  if (now_ >= review_at_) {
    Review();
    PlaceInOrder();
  }
  if (review_at_ == Instant::Max() && !tight_shapes_.empty()) {
    review_at_ =
        now_ + (config_.preemption.enabled ? std::min(kReviewInterval, config_.preemption.interval) : kReviewInterval);
  }
  while (!timers_.empty() && !TimerWanted(timers_.front())) PopTimer();
}

void Core::PlaceInOrder() {
  // A hold whose node has room, but whose queue was at a limit, is served as soon as the limit allows.
  for (uint32_t i = 0; held_count_ > 0 && i < holds_.size(); ++i) {
    const uint32_t node = holds_[i].node;
    if (node != kNone && !Free(nodes_[node]).AnyNegative()) ServeHolds(node);
  }
  do {
    PublishChanged();
    PlaceServable();
  } while (!changed_nodes_.empty());  // a hold that was dropped gave room back
  std::vector<std::pair<uint32_t, uint64_t>> waiters;
  waiters.swap(round_waiters_);
  WakeWaiters(waiters, Park::kRound);
}

void Core::PlaceServable() {
  for (;;) {
    uint64_t servable = servable_ & OpenClasses(queues_[kRoot]);
    if (!servable) break;
    uint32_t q = kRoot;
    while (!queues_[q].leaf) {
      q = queues_[q].order.First(servable);
      servable &= ~queues_[q].blocked;
    }
    PlaceFrom(FirstApp(queues_[q], servable), servable);
  }
}

uint32_t Core::FirstApp(const Queue& leaf, uint64_t servable) const {
  const uint32_t running = leaf.order.First(servable);
  const uint32_t starting = leaf.masters_full ? kNone : leaf.starting.First(servable);
  if (running == kNone) return starting;
  if (starting == kNone) return running;
  const OrderKey& a = leaf.order.key(apps_[running].slot);
  const OrderKey& b = leaf.starting.key(apps_[starting].slot);
  return b < a ? starting : running;
}

/// Tries the application's first request that may be servable. Whatever comes of it changes the state, so that the
/// next search finds something else.
void Core::PlaceFrom(uint32_t slot, uint64_t servable) {
  for (Want& want : apps_[slot].wants) {
    const Shape& shape = shapes_[want.shape];
    if (want.count == 0 || want.park != Park::kNo || shape.blocked) continue;
    if (!(servable >> shape.shape_class & 1)) continue;
    TryWant(slot, want);
    return;
  }
  // Another shape of the same class is servable, none of this application.
  for (Want& want : apps_[slot].wants) {
    if (want.count == 0 || want.park != Park::kNo || !(servable >> shapes_[want.shape].shape_class & 1)) continue;
    round_waiters_.emplace_back(slot, want.serial);
    want.park = Park::kRound;
  }
  RefreshClasses(slot);
}

void Core::TryWant(uint32_t slot, Want& want) {
  const Limit limit = FindLimit(apps_[slot].leaf, shapes_[want.shape].size, apps_[slot].needs_master);
  if (limit.kind != Limit::Kind::kFree) {
    Refuse(slot, want, limit);
    return;
  }
  if (!shapes_[want.shape].exact) {
    for (const Line& line : want.lines) {
      if (line.rack && line.count > 0) RackIndex(line.name);
    }
  }
  const Spot spot = FindSpot(apps_[slot], want, now_);
  if (spot.verdict == Spot::Verdict::kFound) {
    Grant(slot, want, spot);
  } else {
    Wait(slot, want, spot);
  }
}

void Core::Refuse(uint32_t slot, Want& want, const Limit& limit) {
  if (limit.kind != Limit::Kind::kQueueMaximum) {
    CloseMasters(apps_[slot].leaf);
    return;
  }
  const uint8_t shape_class = shapes_[want.shape].shape_class;
  if (class_shapes_[shape_class] > 1) {
    // The class holds other sizes, which may fit.
    round_waiters_.emplace_back(slot, want.serial);
    SetPark(slot, want, Park::kRound);
    return;
  }
  queues_[limit.queue].blocked |= uint64_t{1} << shape_class;
  blocked_classes_ |= uint64_t{1} << shape_class;
  RefreshPath(limit.queue);
}

void Core::Wait(uint32_t slot, Want& want, const Spot& spot) {
  if (want.lines.size() > kTries) want.cursor = static_cast<uint32_t>((want.cursor + kTries) % want.lines.size());
  switch (spot.verdict) {
    case Spot::Verdict::kFound:
      return;
    case Spot::Verdict::kNoNodes:
    case Spot::Verdict::kNoLabel:
    case Spot::Verdict::kNoRoom:
      want.refusing_since = Instant::Max();  // nothing is left lying for it
      BlockShape(want.shape);
      return;
    case Spot::Verdict::kExcluded:
      any_waiters_.emplace_back(slot, want.serial);
      SetPark(slot, want, Park::kAny);
      return;
    case Spot::Verdict::kWaiting:
      if (want.refusing_since == Instant::Max()) want.refusing_since = now_;
      PushTimer({spot.until, TimerKind::kLocality, slot, want.serial});
      [[fallthrough]];
    case Spot::Verdict::kStrict:
      RegisterWaiter(slot, want);
      SetPark(slot, want, Park::kPlace);
      waits_for_[want.waiter] = spot.for_host ? WaitsFor::kHost : WaitsFor::kPlace;
      return;
  }
}

void Core::RegisterWaiter(uint32_t slot, Want& want) {
  if (want.waiter != kNone) return;
  if (spare_waiters_.empty()) {
    want.waiter = static_cast<uint32_t>(waiters_.size());
    waiters_.emplace_back();
    waits_for_.emplace_back();
  } else {
    want.waiter = spare_waiters_.back();
    spare_waiters_.pop_back();
  }
  waiters_[want.waiter] = {slot, 0, want.serial};
  waits_for_[want.waiter] = WaitsFor::kNothing;
  for (const Line& line : want.lines) StandAt(line.name, want.waiter);
}

void Core::StandAt(uint32_t place, uint32_t waiter) {
  places_[place].waiters.push_back(waiter);
  ++waiters_[waiter].entries;
}

void Core::ForgetWaiter(const Want& want) {
  if (want.waiter == kNone) return;
  waits_for_[want.waiter] = WaitsFor::kGone;
  if (waiters_[want.waiter].entries == 0) spare_waiters_.push_back(want.waiter);
}

bool Core::Fits(const App& app, uint32_t index, const Shape& shape) const {
  const Node& node = nodes_[index];
  return Open(node) && shape.size.FitsIn(Free(node)) && HasLabel(index, shape.label) && !Excluded(app, nodes_[index]);
}

Spot Core::FindSpot(const App& app, const Want& want, Instant now) const {
  if (alive_nodes_ == 0) return {Spot::Verdict::kNoNodes};
  const Shape& shape = shapes_[want.shape];
  const Partition& partition = partitions_[shape.label == kNone ? 0 : shape.label + 1];
  if (partition.open_nodes == 0) {
    return {shape.label == kNone ? Spot::Verdict::kNoNodes : Spot::Verdict::kNoLabel};
  }
  Spot near;
  if (!want.lines.empty()) {
    near = FindNear(app, want, now);
    if (near.verdict == Spot::Verdict::kFound) return near;
  }
  bool excluded = false;
  const uint32_t node = FindAnywhere(app, want, excluded);
  if (node == kNone) return {excluded ? Spot::Verdict::kExcluded : Spot::Verdict::kNoRoom};
  if (near.verdict == Spot::Verdict::kWaiting || near.verdict == Spot::Verdict::kStrict) return near;
  return {Spot::Verdict::kFound, node, Locality::kOffSwitch};
}

/// The places that the request names: its hosts, then its racks as soon as it may. When neither has room: kFound is not
/// given; kStrict or kWaiting when no other place will do (yet), else kNoRoom.
Spot Core::FindNear(const App& app, const Want& want, Instant now) const {
  const bool exact = shapes_[want.shape].exact;
  Spot spot =
      exact ? FindNearCandidate(app, want, Locality::kNodeLocal) : FindNearInIndex(app, want, Locality::kNodeLocal);
  if (spot.verdict == Spot::Verdict::kFound) return spot;
  const Locality allowed = Allowed(app, want, now, spot.until);
  if (allowed >= Locality::kRackLocal) {
    const Spot rack =
        exact ? FindNearCandidate(app, want, Locality::kRackLocal) : FindNearInIndex(app, want, Locality::kRackLocal);
    if (rack.verdict == Spot::Verdict::kFound) return rack;
  }
  if (!want.relax_any) {
    spot.verdict = allowed < Locality::kRackLocal ? Spot::Verdict::kWaiting : Spot::Verdict::kStrict;
  } else if (allowed < Locality::kOffSwitch) {
    spot.verdict = Spot::Verdict::kWaiting;
  }
  // Of a long list only a part was looked at: whatever wakes the request brings the next part.
  spot.for_host = allowed == Locality::kNodeLocal && want.lines.size() <= kTries;
  return spot;
}

/// Of the few nodes that have room for the shape, one that the request names (by host, or by rack).
Spot Core::FindNearCandidate(const App& app, const Want& want, Locality level) const {
  const Shape& shape = shapes_[want.shape];
  for (const uint32_t index : shape.candidates) {
    const Node& node = nodes_[index];
    const uint32_t name = level == Locality::kNodeLocal ? node.host : node.rack;
    const auto line = std::lower_bound(want.lines.begin(), want.lines.end(), name,
                                       [](const Line& one, uint32_t id) { return one.name < id; });
    if (line == want.lines.end() || line->name != name || line->count == 0) continue;
    if (level == Locality::kRackLocal && !line->relax) continue;
    if (Fits(app, index, shape)) {
      return {Spot::Verdict::kFound, index, level, static_cast<size_t>(line - want.lines.begin())};
    }
  }
  return {};
}

Spot Core::FindNearInIndex(const App& app, const Want& want, Locality level) const {
  const Shape& shape = shapes_[want.shape];
  const size_t lines = want.lines.size();
  if (level == Locality::kRackLocal) {
    for (const Line& line : want.lines) {
      if (!line.rack || line.count == 0 || !line.relax) continue;
      const uint32_t node = FindInRack(app, want, line.name);
      if (node != kNone) return {Spot::Verdict::kFound, node, Locality::kRackLocal};
    }
    return {};
  }
  // A long list is searched a part at a time: the rest of it comes with the next tries.
  for (size_t i = 0; i < std::min(lines, kTries); ++i) {
    const size_t at = (want.cursor + i) % lines;
    if (want.lines[at].rack || want.lines[at].count == 0) continue;
    for (const uint32_t node : places_[want.lines[at].name].nodes) {
      if (nodes_[node].host == want.lines[at].name && Fits(app, node, shape)) {
        return {Spot::Verdict::kFound, node, Locality::kNodeLocal, at};
      }
    }
  }
  return {};
}

uint32_t Core::FindInRack(const App& app, const Want& want, uint32_t rack) const {
  const Shape& shape = shapes_[want.shape];
  const std::optional<Partition>& made = racks_[rack];
  if (!made) {  // a dry pass does not build the index
    for (const uint32_t node : places_[rack].nodes) {
      if (Fits(app, node, shape)) return node;
    }
    return kNone;
  }
  for (uint32_t at = made->index.FindFrom(0, shape.size); at != kNone; at = made->index.FindFrom(at + 1, shape.size)) {
    if (Fits(app, made->nodes[at], shape)) return made->nodes[at];
  }
  return kNone;
}

uint32_t Core::FindAnywhere(const App& app, const Want& want, bool& excluded) const {
  const Shape& shape = shapes_[want.shape];
  return shape.exact ? FindCandidate(app, shape, excluded) : FindInIndex(app, want, excluded);
}

uint32_t Core::FindCandidate(const App& app, const Shape& shape, bool& excluded) const {
  for (const uint32_t index : shape.candidates) {
    const Node& node = nodes_[index];
    if (!Open(node) || !shape.size.FitsIn(Free(node))) continue;
    if (!Excluded(app, nodes_[index])) return index;
    excluded = true;
  }
  return kNone;
}

uint32_t Core::FindInIndex(const App& app, const Want& want, bool& excluded) const {
  const Shape& shape = shapes_[want.shape];
  const Partition& partition = partitions_[shape.label == kNone ? 0 : shape.label + 1];
  const auto size = static_cast<uint32_t>(partition.nodes.size());
  const uint32_t start = config_.node_order == NodeOrder::kPack || partition.cursor >= size ? 0 : partition.cursor;
  for (const auto& [from, end] : {std::pair(start, size), std::pair(0U, start)}) {
    uint32_t at = from < end ? partition.index.FindFrom(from, shape.size) : kNone;
    for (; at < end; at = partition.index.FindFrom(at + 1, shape.size)) {
      if (!Excluded(app, nodes_[partition.nodes[at]])) return partition.nodes[at];
      excluded = true;
    }
  }
  return kNone;
}

/// How far from its places a request may go: room elsewhere is left lying for node_locality_wait, then outside the rack
/// for rack_locality_wait more (delay scheduling, Zaharia et al. 2010), counted from when such room was first refused.
/// Places that can never hold the request are not waited for.
Locality Core::Allowed(const App& app, const Want& want, Instant now, Instant& until) const {
  const Shape& shape = shapes_[want.shape];
  bool hosts = false;
  bool racks = false;
  for (const Line& line : want.lines) {
    if (line.count == 0 || (line.rack ? racks : hosts)) continue;
    for (const uint32_t index : places_[line.name].nodes) {
      const Node& node = nodes_[index];
      if (!node.schedulable || !shape.size.FitsIn(node.capacity) || !HasLabel(index, shape.label) ||
          Excluded(app, node))
        continue;
      (line.rack ? racks : hosts) = true;
      break;
    }
  }
  const Instant since = want.refusing_since == Instant::Max() ? now : want.refusing_since;
  Instant relax = since;
  if (hosts) {
    relax = relax + config_.node_locality_wait;
    until = relax;
    if (now < relax) return Locality::kNodeLocal;
  }
  if (racks && hosts) {
    relax = relax + config_.rack_locality_wait;
    until = relax;
    if (now < relax) return Locality::kRackLocal;
  }
  return Locality::kOffSwitch;
}

model::ContainerId Core::NextId(App& app) {
  return {{app.id, app.attempt}, (config_.epoch << 40) | ++app.next_sequence};
}

/// `held`: the number that the hold on the node took.
void Core::Grant(uint32_t slot, Want& want, const Spot& spot, const model::ContainerId* held) {
  App& app = apps_[slot];
  const Resources size = shapes_[want.shape].size;
  const model::ContainerId id = held ? *held : NextId(app);
  const uint32_t index = AddContainer(slot, spot.node, id, want.shape);
  Container& container = containers_[index];
  container.priority = want.priority;
  container.request_id = want.request_id;
  PublishFree(spot.node);
  if (spot.locality == Locality::kOffSwitch && !shapes_[want.shape].exact)
    MoveCursor(shapes_[want.shape].label, spot.node);
  const bool master = app.needs_master;
  Emit(ev::Granted{app.index, id, NodeIndex{spot.node}, want.priority, want.request_id, size, spot.locality,
                   held != nullptr, master});
  TakeCounts(app, want, spot);
  if (master) {
    RecordMaster(slot, index);
    SetStarting(slot, false);
  }
  Started(index);
  if (want.count == 0) {
    RefreshClasses(slot);  // the key is refreshed with it
  } else {
    RefreshApp(slot);
  }
  AddUsage(app.leaf, size);
}

/// Where the ring of nodes goes on after a grant.
void Core::MoveCursor(uint32_t label, uint32_t node) {
  const uint32_t which = label == kNone ? 0 : label + 1;
  for (const auto& [partition, position] : nodes_[node].places) {
    if (partition == which) partitions_[which].cursor = position + 1;
  }
}

/// A grant fulfils one container of the request: at the node's host (if node-local), its rack (unless off-switch) and
/// everywhere, as Hadoop's LocalityAppPlacementAllocator counts. Demand does not change: what was pending is used now.
void Core::TakeCounts(App& app, Want& want, const Spot& spot) {
  app.pending -= shapes_[want.shape].size;
  if (--want.count == 0) WantShape(want.shape, -1);
  if (want.count < want.held) DropHoldsOf(app_slots_[app.index.value], want.serial);
  if (spot.locality == Locality::kOffSwitch || want.lines.empty()) return;
  const Node& node = nodes_[spot.node];
  for (Line& line : want.lines) {
    const bool meant = line.name == node.rack || (spot.locality == Locality::kNodeLocal && line.name == node.host);
    if (meant && line.count > 0) --line.count;
  }
  if (spot.line != SIZE_MAX) want.cursor = static_cast<uint32_t>(spot.line);
}

bool Core::TimerWanted(const Timer& timer) {
  if (timer.kind == TimerKind::kGangEnds) {
    return std::any_of(gangs_.begin(), gangs_.end(), [&](const Gang& gang) { return gang.serial == timer.serial; });
  }
  if (timer.kind != TimerKind::kLocality) {
    return holds_[timer.owner].node != kNone && holds_[timer.owner].serial == timer.serial;
  }
  const Want* want = FindWant(timer.owner, timer.serial);
  return want && want->park == Park::kPlace;
}

void Core::PushTimer(const Timer& timer) {
  timers_.push_back(timer);
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void Core::PopTimer() {
  std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
  timers_.pop_back();
}

void Core::FireTimers() {
  while (!timers_.empty() && timers_.front().at <= now_) {
    const Timer timer = timers_.front();
    PopTimer();
    if (!TimerWanted(timer)) continue;
    switch (timer.kind) {
      case TimerKind::kLocality:
        SetPark(timer.owner, *FindWant(timer.owner, timer.serial), Park::kNo);
        break;
      case TimerKind::kTakeVictims:
        TakeVictims(timer.owner);
        break;
      case TimerKind::kHoldEnds:
        DropHold(timer.owner);
        break;
      case TimerKind::kGangEnds:
        EndGang(timer.serial);
        break;
    }
  }
}

}  // namespace fairlead::scheduler::native

#include <algorithm>

#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"

// Holds: room on a node that is kept for one request. They have an owner, a bound and an end: a request too large for
// what is left on every node is not passed by smaller ones for ever, and a node is not blocked for ever either.

namespace fairlead::scheduler::native {

void Core::Review() {
  review_at_ = Instant::Max();
  HoldForLarge();
  if (config_.preemption.enabled && now_ >= last_preemption_ + config_.preemption.interval) {
    last_preemption_ = now_;
    Preempt();
  }
}

/// One hold for each shape that found no room for `holds.after`: for the first request in order that wants it.
void Core::HoldForLarge() {
  const int32_t most = std::max(1, alive_nodes_ * config_.holds.nodes_per_thousand / 1000);
  const std::vector<uint32_t> shapes = tight_shapes_;
  for (const uint32_t index : shapes) {
    const Shape& shape = shapes_[index];
    if (held_count_ >= most) return;
    if (!shape.blocked || shape.wanted == 0 || now_ < shape.blocked_since + config_.holds.after) continue;
    if (!MayBePassed(index)) continue;
    const uint64_t bit = uint64_t{1} << shape.shape_class;
    if (class_shapes_[shape.shape_class] > 1 || !(OpenClasses(queues_[kRoot]) & bit)) continue;
    uint32_t q = kRoot;
    uint64_t servable = bit;
    while (!queues_[q].leaf) {
      q = queues_[q].order.First(servable);
      servable &= ~queues_[q].blocked;
    }
    const uint32_t slot = FirstApp(queues_[q], servable);
    for (Want& want : apps_[slot].wants) {
      if (want.shape != index || want.count <= want.held || want.park != Park::kNo) continue;
      const Limit limit = FindLimit(apps_[slot].leaf, shape.size, apps_[slot].needs_master);
      if (limit.kind != Limit::Kind::kFree) continue;
      const uint32_t node = NodeToHold(apps_[slot], want);
      if (node != kNone) AddHold(slot, want, node, config_.holds.duration);
      break;
    }
  }
}

/// Whether requests of another shape, smaller in some type, can take what is freed before it is enough.
bool Core::MayBePassed(uint32_t index) const {
  return std::any_of(shapes_.begin(), shapes_.end(), [&](const Shape& other) {
    if (other.wanted == 0) return false;
    for (size_t t = 0; t < types_; ++t) {
      if (other.size[t] < shapes_[index].size[t]) return true;
    }
    return false;
  });
}

bool Core::MayHold(const App& app, const Want& want, uint32_t index) const {
  const Node& node = nodes_[index];
  const Shape& shape = shapes_[want.shape];
  if (!Open(node) || !node.holds.empty() || !shape.size.FitsIn(node.capacity)) return false;
  if (!HasLabel(index, shape.label) || Excluded(app, nodes_[index])) return false;
  if (want.relax_any) return true;
  return std::any_of(want.lines.begin(), want.lines.end(), [&](const Line& line) {
    return line.count > 0 && (line.name == node.host || (line.name == node.rack && line.relax));
  });
}

uint32_t Core::NodeToHold(const App& app, const Want& want) const {
  const Resources& size = shapes_[want.shape].size;
  uint32_t best = kNone;
  OrderKey best_key;
  for (uint32_t index = 0; index < nodes_.size(); ++index) {
    if (!MayHold(app, want, index)) continue;
    Resources missing;
    const Resources free = Free(nodes_[index]);
    for (size_t t = 0; t < types_; ++t) missing[t] = std::max<int64_t>(0, size[t] - free[t]);
    OrderKey key = ShareKey(model::OrderPolicy::kDrf, missing, kWeightOne);
    key.tie = index;
    if (best != kNone && !(key < best_key)) continue;
    best = index;
    best_key = key;
  }
  return best;
}

uint32_t Core::AddHold(uint32_t slot, Want& want, uint32_t node, base::Duration duration) {
  uint32_t index;
  if (spare_holds_.empty()) {
    index = static_cast<uint32_t>(holds_.size());
    holds_.emplace_back();
  } else {
    index = spare_holds_.back();
    spare_holds_.pop_back();
  }
  Hold& hold = holds_[index];
  hold.node = node;
  hold.app = slot;
  hold.want = want.serial;
  hold.serial = next_serial_++;
  hold.size = shapes_[want.shape].size;
  hold.id = NextId(apps_[slot]);
  hold.victims.clear();
  ++want.held;
  ++held_count_;
  nodes_[node].holds.push_back(index);
  nodes_[node].held += hold.size;
  PublishFree(node);
  PushTimer({now_ + duration, TimerKind::kHoldEnds, index, hold.serial});
  Emit(ev::Reserved{apps_[slot].index, NodeIndex{node}, hold.id, hold.size});
  return index;
}

void Core::DropHold(uint32_t index) {
  Hold& hold = holds_[index];
  Node& node = nodes_[hold.node];
  Emit(ev::Unreserved{apps_[hold.app].index, NodeIndex{hold.node}, hold.id});
  if (Want* want = FindWant(hold.app, hold.want)) {
    --want->held;
    shapes_[want->shape].blocked_since = now_;  // others come first before it gets the next hold
  }
  // What was to be taken for it stays.
  for (const model::ContainerId& id : hold.victims) {
    const uint32_t victim = containers_.Find(id);
    if (victim != kNone) containers_[victim].preempt_ns = 0;
  }
  node.held -= hold.size;
  std::erase(node.holds, index);
  NodeChanged(hold.node, true);
  hold.node = kNone;
  hold.victims.clear();
  --held_count_;
  spare_holds_.push_back(index);
}

/// Drops holds of the request that it no longer has a use for.
void Core::DropHoldsOf(uint32_t slot, uint64_t serial) {
  const Want* want = FindWant(slot, serial);
  for (uint32_t index = 0; want && index < holds_.size() && want->count < want->held; ++index) {
    if (holds_[index].node != kNone && holds_[index].app == slot && holds_[index].want == serial) DropHold(index);
  }
}

void Core::DropHoldsOn(uint32_t node) {
  while (!nodes_[node].holds.empty()) DropHold(nodes_[node].holds.back());
}

/// The node got room: its holds are served in the order in which they were made.
void Core::ServeHolds(uint32_t node_index) {
  const std::vector<uint32_t> holds = nodes_[node_index].holds;
  for (const uint32_t index : holds) {
    const Node& node = nodes_[node_index];
    const Hold hold = holds_[index];
    if (hold.node != node_index || !Open(node)) continue;
    if (!hold.size.FitsIn(Free(node) + hold.size)) continue;
    Want* want = FindWant(hold.app, hold.want);
    const App& app = apps_[hold.app];
    if (!want || want->count == 0 || !app.runnable || !app.active) continue;
    if (FindLimit(app.leaf, hold.size, app.needs_master).kind != Limit::Kind::kFree) continue;
    Spot spot{Spot::Verdict::kFound, node_index, Locality::kOffSwitch};
    for (size_t i = 0; i < want->lines.size(); ++i) {
      if (want->lines[i].count == 0) continue;
      if (want->lines[i].name == node.host) {
        spot.locality = Locality::kNodeLocal;
        spot.line = i;
      } else if (want->lines[i].name == node.rack && spot.locality == Locality::kOffSwitch) {
        spot.locality = Locality::kRackLocal;
      }
    }
    DropHold(index);
    Grant(hold.app, *want, spot, &hold.id);
    RefreshPath(app.leaf);
  }
}

void Core::TakeVictims(uint32_t index) {
  const std::vector<model::ContainerId> victims = holds_[index].victims;
  holds_[index].victims.clear();
  for (const model::ContainerId& id : victims) {
    const uint32_t victim = containers_.Find(id);
    if (victim == kNone || containers_[victim].app == kNone || containers_[victim].preempt_ns == 0) continue;
    FinishContainer(victim, -102, "Container preempted by scheduler");
  }
}

}  // namespace fairlead::scheduler::native

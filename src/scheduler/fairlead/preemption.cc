#include <algorithm>

#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"

// Taking back from queues above their fair share what a queue below its share has waited for. A queue is given at most
// its share, nobody is brought below its own: so no chain of preemptions can come back to where it began. Nothing is
// taken unless the whole request then fits on one node; the node is held for it, the victims are told, and they end
// after the grace time, if the hold still stands.

namespace fairlead::scheduler::native {
namespace {

/// Whether a queue that uses `used` can lose `size` and is still at its share in some type.
bool CanLose(const Resources& used, const Resources& size, const Resources& share, size_t types) {
  for (size_t t = 0; t < types; ++t) {
    if (size[t] > 0 && used[t] - size[t] >= share[t]) return true;
  }
  return false;
}

}  // namespace

void Core::SharesBelow(uint32_t index, const Resources& share, std::vector<Resources>& shares) const {
  shares[index] = share;
  const std::vector<Resources> children = ChildShares(queues_[index], share, false);
  for (size_t i = 0; i < children.size(); ++i) SharesBelow(queues_[index].children[i], children[i], shares);
}

std::vector<Resources> Core::LeafShares() const {
  std::vector<Resources> shares(queues_.size());
  SharesBelow(kRoot, schedulable_, shares);
  return shares;
}

/// The leaf's first request in order that found no room and, with what is already on its way to it, would stay within
/// the leaf's share.
bool Core::Starving(uint32_t leaf, const Resources& share, const Resources& planned, uint32_t& slot, size_t& at) const {
  slot = FirstApp(queues_[leaf], ~queues_[leaf].blocked);
  if (slot == kNone) return false;
  const App& app = apps_[slot];
  for (at = 0; at < app.wants.size(); ++at) {
    const Want& want = app.wants[at];
    const Shape& shape = shapes_[want.shape];
    if (want.count <= want.held || want.park != Park::kNo || !shape.blocked) continue;
    if (!(queues_[leaf].used + planned + shape.size).FitsIn(share)) continue;
    if (FindLimit(leaf, shape.size, app.needs_master).kind == Limit::Kind::kFree) return true;
  }
  return false;
}

void Core::Preempt() {
  const std::vector<Resources> shares = LeafShares();
  std::vector<Resources> planned(queues_.size());  // on its way to a leaf
  for (const Hold& hold : holds_) {
    if (hold.node != kNone) planned[apps_[hold.app].leaf] += hold.size;
  }
  std::vector<std::pair<OrderKey, uint32_t>> starving;
  for (uint32_t leaf = 0; leaf < queues_.size(); ++leaf) {
    if (!queues_[leaf].alive || !queues_[leaf].leaf) continue;
    uint32_t slot = kNone;
    size_t want = 0;
    if (!Starving(leaf, shares[leaf], planned[leaf], slot, want)) {
      queues_[leaf].starving_since = Instant::Max();
      continue;
    }
    Instant& since = queues_[leaf].starving_since;
    if (since == Instant::Max()) since = now_;
    if (now_ < since + config_.preemption.starvation) continue;
    OrderKey key = ShareKey(model::OrderPolicy::kDrf, queues_[leaf].used, queues_[leaf].weight);
    key.tie = leaf;
    starving.emplace_back(key, leaf);
  }
  if (starving.empty()) return;
  std::sort(starving.begin(), starving.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  TakeBack(starving, shares, planned);
}

/// Containers that may be taken, by node, youngest first. Masters, and what has just started, are spared.
std::vector<std::vector<uint32_t>> Core::Eligible(const std::vector<Resources>& shares) const {
  std::vector<std::vector<uint32_t>> by_node(nodes_.size());
  std::vector<char> gives(queues_.size());
  for (uint32_t leaf = 0; leaf < queues_.size(); ++leaf) {
    bool preemptable = queues_[leaf].alive && queues_[leaf].leaf && !queues_[leaf].used.FitsIn(shares[leaf]);
    for (uint32_t q = leaf; preemptable && q != kNone; q = queues_[q].parent) preemptable = queues_[q].preemptable;
    gives[leaf] = preemptable ? 1 : 0;
  }
  for (uint32_t i = 0; i < containers_.slots(); ++i) {
    const Container& container = containers_[i];
    if (!container.in_use || container.app == kNone || container.is_master || container.preempt_ns != 0) continue;
    if (!gives[apps_[container.app].leaf] || !nodes_[container.node].holds.empty()) continue;
    if (now_.ns - container.granted_ns < config_.preemption.minimum_run.ns) continue;
    by_node[container.node].push_back(i);
  }
  for (std::vector<uint32_t>& containers : by_node) {
    std::sort(containers.begin(), containers.end(), [&](uint32_t a, uint32_t b) {
      if (containers_[a].granted_ns != containers_[b].granted_ns) {
        return containers_[a].granted_ns > containers_[b].granted_ns;
      }
      return containers_[a].id() > containers_[b].id();
    });
  }
  return by_node;
}

/// The victims on `node` that make room for the request with the least work lost; none when that is impossible. Taken
/// youngest first, then given back oldest first as far as the rest still suffices: every victim is needed.
std::vector<uint32_t> Core::VictimsOn(uint32_t node_index, const std::vector<uint32_t>& eligible, const App& app,
                                      const Want& want, const std::vector<Resources>& shares,
                                      const std::vector<Resources>& lost) const {
  std::vector<uint32_t> victims;
  if (!MayHold(app, want, node_index)) return victims;
  const Resources& need = shapes_[want.shape].size;
  Resources room = Free(nodes_[node_index]);
  std::map<uint32_t, Resources> taken;  // of this plan, by leaf
  for (const uint32_t index : eligible) {
    if (need.FitsIn(room)) break;
    const Container& container = containers_[index];
    const uint32_t leaf = apps_[container.app].leaf;
    const Resources& size = shapes_[container.shape].size;
    if (leaf == app.leaf || container.preempt_ns != 0) continue;
    if (!CanLose(queues_[leaf].used - lost[leaf] - taken[leaf], size, shares[leaf], types_)) continue;
    victims.push_back(index);
    taken[leaf] += size;
    room += size;
  }
  if (!need.FitsIn(room)) return {};
  for (size_t i = victims.size(); i-- > 0;) {
    const Resources& size = shapes_[containers_[victims[i]].shape].size;
    if (!need.FitsIn(room - size)) continue;
    room -= size;
    victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return victims;
}

void Core::TakeBack(const std::vector<std::pair<OrderKey, uint32_t>>& starving, const std::vector<Resources>& shares,
                    std::vector<Resources>& planned) {
  const std::vector<std::vector<uint32_t>> eligible = Eligible(shares);
  std::vector<Resources> lost(queues_.size());
  for (uint32_t i = 0; i < containers_.slots(); ++i) {  // told earlier, still running
    const Container& container = containers_[i];
    if (!container.in_use || container.app == kNone || container.preempt_ns == 0) continue;
    lost[apps_[container.app].leaf] += shapes_[container.shape].size;
  }
  int32_t left = config_.preemption.round_cap;
  for (const auto& [key, leaf] : starving) {
    uint32_t slot = kNone;
    size_t at = 0;
    // The nodes of one request, cheapest first; a node's plan is made again when it is its turn.
    std::vector<std::pair<int64_t, uint32_t>> nodes;
    uint64_t planned_for = 0;
    while (left > 0 && Starving(leaf, shares[leaf], planned[leaf], slot, at)) {
      Want& want = apps_[slot].wants[at];
      if (planned_for != want.serial) {
        planned_for = want.serial;
        nodes = RankNodes(eligible, apps_[slot], want, shares, lost);
      }
      std::vector<uint32_t> victims;
      while (victims.empty() && !nodes.empty()) {
        const uint32_t node = nodes.back().second;
        nodes.pop_back();
        victims = VictimsOn(node, eligible[node], apps_[slot], want, shares, lost);
        if (static_cast<int32_t>(victims.size()) > left) victims.clear();
        if (!victims.empty()) Announce(slot, want, node, victims, lost);
      }
      if (victims.empty()) break;
      left -= static_cast<int32_t>(victims.size());
      planned[leaf] += shapes_[want.shape].size;
    }
  }
}

std::vector<std::pair<int64_t, uint32_t>> Core::RankNodes(const std::vector<std::vector<uint32_t>>& eligible,
                                                          const App& app, const Want& want,
                                                          const std::vector<Resources>& shares,
                                                          const std::vector<Resources>& lost) const {
  std::vector<std::pair<int64_t, uint32_t>> nodes;
  for (uint32_t node = 0; node < eligible.size(); ++node) {
    if (eligible[node].empty()) continue;
    const std::vector<uint32_t> victims = VictimsOn(node, eligible[node], app, want, shares, lost);
    if (victims.empty()) continue;
    int64_t lost_ns = 0;
    for (const uint32_t victim : victims) lost_ns += (now_.ns - containers_[victim].granted_ns) / 1'000'000;
    nodes.emplace_back(lost_ns, node);
  }
  std::sort(nodes.begin(), nodes.end(), std::greater<>());  // the cheapest at the end
  return nodes;
}

void Core::Announce(uint32_t slot, Want& want, uint32_t node, const std::vector<uint32_t>& victims,
                    std::vector<Resources>& lost) {
  // The hold outlives the grace time: a node may need a while to report the end.
  const uint32_t hold = AddHold(slot, want, node, config_.preemption.grace + config_.holds.duration);
  for (const uint32_t victim : victims) {
    Container& container = containers_[victim];
    container.preempt_ns = (now_ + config_.preemption.grace).ns + 1;
    holds_[hold].victims.push_back(container.id());
    lost[apps_[container.app].leaf] += shapes_[container.shape].size;
    Emit(ev::PreemptionNotice{apps_[container.app].index, container.id(), false});
  }
  PushTimer({now_ + config_.preemption.grace, TimerKind::kTakeVictims, hold, holds_[hold].serial});
}

}  // namespace fairlead::scheduler::native

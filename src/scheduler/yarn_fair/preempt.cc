#include <algorithm>
#include <cmath>
#include <map>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Whose containers make room: FSPreemptionThread, FSAppAttempt.getStarvedResourceRequests,
// VisitedResourceRequestTracker.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

namespace {

/// Places already asked for of one priority and size: the first level met counts, a node before its rack before any.
struct Visited {
  bool any = false;
  std::vector<NameId> racks;
  std::vector<NameId> racks_of_nodes;

  static bool Has(const std::vector<NameId>& list, NameId name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }
  bool VisitAny() {
    if (racks.empty() && racks_of_nodes.empty()) any = true;
    return any;
  }
  bool VisitRack(NameId rack) {
    if (any || Has(racks_of_nodes, rack)) return false;
    racks.push_back(rack);
    return true;
  }
  bool VisitNode(NameId rack) {
    if (any || Has(racks, rack)) return false;
    racks_of_nodes.push_back(rack);
    return true;
  }
};

/// (int) Math.floor(Resources.ratio(...)): by memory, in float.
int32_t HowOften(const Resources& size, const Resources& in) {
  if (in[0] == 0 && size[0] == 0) return 0;
  return java::ToInt(std::floor(static_cast<double>(static_cast<float>(in[0]) / static_cast<float>(size[0]))));
}

}  // namespace

/// FSPreemptionThread.run until nobody starved is left.
void Core::PreemptPass() {
  const int64_t heartbeats = config_.quirks.starvation_delay_without_heartbeats ? 0 : 4 * config_.nm_heartbeat_ms;
  const int64_t allocation_delay = config_.continuous ? 10 * config_.continuous_sleep_ms : heartbeats;
  const int64_t next_check =
      config_.wait_before_kill_ms + allocation_delay + config_.wait_before_next_starvation_check_ms;
  while (!starved_.empty()) {
    const AttemptId id = starved_.Poll([this](AttemptId a, AttemptId b) { return CompareStarvation(a, b); });
    attempts_[id].in_starved_queue = false;
    ms::VictimsChosen chosen{attempts_[id].app, Starvation(attempts_[id]), {}};
    for (const ContainerSlot slot : ChooseVictims(id)) chosen.victims.push_back(containers_[slot].id);
    if (!chosen.victims.empty()) kills_.push_back({now_ms_ + config_.wait_before_kill_ms, chosen.victims});
    Emit(std::move(chosen));
    attempts_[id].next_starvation_check = now_ms_ + next_check;
    Unpin(id);
  }
}

/// Kill timers that are due, in the order they were set.
void Core::KillPass() {
  size_t due = 0;
  for (; due < kills_.size() && kills_[due].at_ms <= now_ms_; ++due) {
    const std::vector<model::ContainerId> victims = kills_[due].victims;
    for (const model::ContainerId& id : victims) {
      const ContainerSlot slot = FindLive(id);
      if (slot.valid()) {
        Complete(slot, {End::kKilled, model::kExitPreempted, "Container preempted by scheduler"});
      } else if (apps_.Current(apps_.Find(id.attempt.app)).valid()) {
        UpdateAvailable();
      }
    }
  }
  kills_.erase(kills_.begin(), kills_.begin() + static_cast<ptrdiff_t>(due));
}

std::vector<Core::StarvedRequest> Core::StarvedRequests(const Attempt& attempt) const {
  std::vector<StarvedRequest> requests;
  std::map<std::pair<int32_t, std::array<int64_t, Resources::kMaxTypes>>, Visited> visited;
  Resources pending = Starvation(attempt);
  attempt.asks.ForEach([&](const RequestKey& key, NameId name, const Request& request) {
    if (pending.IsZero()) return;
    Visited& seen = visited[{key.priority, request.capability.amount}];
    if (!Visit(seen, name)) return;
    const int32_t fit = HowOften(request.capability, pending);
    if (fit == 0) return;
    // A cut request is made anew in Hadoop and forgets a strict locality.
    const bool cut = fit < request.count;
    const int32_t count = cut ? fit : request.count;
    requests.push_back({name, cut || request.relax, request.capability, count});
    SubtractNonNegative(pending, MultiplyDown(request.capability, count));
  });
  return requests;
}

template <class Seen>
bool Core::Visit(Seen& seen, NameId name) const {
  if (name == Names::kAny) return seen.VisitAny();
  const std::vector<NodeIndex> nodes = nodes_.Named(name);
  if (nodes.empty()) return false;
  if (nodes.size() == 1 && nodes_[nodes[0]].host == name) return seen.VisitNode(nodes_[nodes[0]].rack);
  return seen.VisitRack(name);
}

/// FSPreemptionThread.identifyContainersToPreempt.
std::vector<ContainerSlot> Core::ChooseVictims(AttemptId starved) {
  std::vector<ContainerSlot> all;
  for (const StarvedRequest& request : StarvedRequests(attempts_[starved])) {
    const std::vector<NodeIndex> nodes = nodes_.Named(request.name);
    for (int32_t i = 0; i < request.count; ++i) {
      const std::optional<Victims> best = BestVictims(request, nodes);
      if (!best) break;  // nothing changes until the next victims are marked
      if (best->taken.empty()) break;
      const std::vector<ContainerSlot> victims = InApplicationOrder(*best);
      all.insert(all.end(), victims.begin(), victims.end());
      Promise(containers_[victims.front()].node, starved, victims);
      for (const ContainerSlot slot : victims) {
        const Container& container = containers_[slot];
        const AttemptId owner = apps_.Current(container.app);
        if (!owner.valid() || container.marked) continue;
        containers_.SetMarked(slot, true);
        attempts_[owner].to_be_preempted += container.resources;
        Emit(ms::PreemptionNotice{container.app, container.id, false});
      }
    }
  }
  return all;
}

std::optional<Core::Victims> Core::BestVictims(const StarvedRequest& request,
                                               const std::vector<NodeIndex>& nodes) const {
  std::optional<Victims> best = VictimsAmong(request, nodes);
  if (!request.relax || request.name == Names::kAny || !best || best->masters == 0) return best;
  std::vector<NodeIndex> others;
  for (const NodeIndex id : nodes_.InHashOrder()) {
    if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) others.push_back(id);
  }
  const std::optional<Victims> spare = VictimsAmong(request, others);
  return spare && spare->masters < best->masters ? spare : best;
}

/// The node with the fewest masters among its victims; the first without any ends the search.
std::optional<Core::Victims> Core::VictimsAmong(const StarvedRequest& request,
                                                const std::vector<NodeIndex>& nodes) const {
  std::optional<Victims> best;
  int32_t most_masters = INT32_MAX;
  for (const NodeIndex id : nodes) {
    std::optional<Victims> victims = VictimsOn(request.capability, id, most_masters);
    if (!victims) continue;
    best = std::move(victims);
    most_masters = best->masters;
    if (most_masters == 0) break;
  }
  return best;
}

/// FSPreemptionThread.identifyContainersToPreemptOnNode: others' containers in reverse hash order, masters last.
std::optional<Core::Victims> Core::VictimsOn(const Resources& size, NodeIndex id, int32_t most_masters) const {
  const Node& node = nodes_[id];
  std::vector<ContainerSlot> candidates;
  std::vector<ContainerSlot> masters;
  for (const ContainerSlot slot : containers_.InHashOrder(node.containers, node.most_containers)) {
    if (!containers_[slot].set_apart) (containers_[slot].is_master ? masters : candidates).push_back(slot);
  }
  std::reverse(candidates.begin(), candidates.end());
  candidates.insert(candidates.end(), masters.begin(), masters.end());
  Victims victims;
  std::map<AppIndex, Resources> taken_of;
  Resources potential = node.unallocated;
  const Resources held = !node.reserved.valid() ? Resources{} : containers_[node.reserved].resources;
  SubtractNonNegative(potential, held + promises_.total(id));
  for (const ContainerSlot slot : candidates) {
    const Container& container = containers_[slot];
    if (!apps_.Current(container.app).valid()) continue;
    Resources& taken = taken_of[container.app];
    if (MayPreempt(container, taken)) {
      if (container.is_master && ++victims.masters >= most_masters) return std::nullopt;
      victims.taken.push_back(slot);
      taken += container.resources;
      potential += container.resources;
    }
    if (!size.FitsIn(potential)) continue;
    if (!config_.quirks.victims_not_minimal) DropUnneeded(victims, size, potential);
    return victims;
  }
  return std::nullopt;
}

void Core::DropUnneeded(Victims& victims, const Resources& size, Resources potential) const {
  std::erase_if(victims.taken, [&](ContainerSlot slot) {
    const Container& container = containers_[slot];
    if (!size.FitsIn(potential - container.resources)) return false;
    potential -= container.resources;
    if (container.is_master) --victims.masters;
    return true;
  });
}

/// FSAppAttempt.canContainerBePreempted.
bool Core::MayPreempt(const Container& container, const Resources& also_taken) const {
  const AttemptId id = apps_.Current(container.app);
  const Attempt& owner = attempts_[id];
  if (!queues_[owner.queue].preemptable) return false;
  if (container.is_master && !owner.am_preemptable) return false;
  if (!container.live || container.marked || container.attempt != id) return false;
  const Resources left = owner.used - owner.to_be_preempted - container.resources - also_taken;
  return !IsUsageBelowShare(owner, left, FairShareOf(owner));
}

/// PreemptableContainers.getAllContainers: grouped by application, groups in HashMap order of ApplicationId.
std::vector<ContainerSlot> Core::InApplicationOrder(const Victims& victims) const {
  std::vector<AppIndex> apps;
  std::vector<int32_t> hashes;
  for (const ContainerSlot slot : victims.taken) {
    const AppIndex app = containers_[slot].app;
    if (std::find(apps.begin(), apps.end(), app) != apps.end()) continue;
    apps.push_back(app);
    hashes.push_back(hadoop::HashOf(apps_[app].id));
  }
  std::vector<ContainerSlot> ordered;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(apps.size()))) {
    for (const ContainerSlot slot : victims.taken) {
      if (containers_[slot].app == apps[i]) ordered.push_back(slot);
    }
  }
  return ordered;
}

/// FSSchedulerNode.addContainersForPreemption.
void Core::Promise(NodeIndex node, AttemptId starved, const std::vector<ContainerSlot>& victims) {
  Resources space;
  for (const ContainerSlot slot : victims) {
    if (containers_[slot].set_apart) continue;
    containers_.SetApart(slot);
    space += containers_[slot].resources;
  }
  if (!space.IsZero() && promises_.Add(node, starved, space)) ++attempts_[starved].pins;
}

}  // namespace fairlead::scheduler::yarn_fair

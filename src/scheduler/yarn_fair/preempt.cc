#include "scheduler/yarn_fair/preempt.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/taken_back.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/starvation.h"

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

struct StarvedRequest {
  NameId name;
  bool relax;
  Resources capability;
  int32_t count;
};
struct Victims {
  std::vector<ContainerSlot> taken;  // in the order met
  int32_t masters = 0;
};

static std::vector<StarvedRequest> StarvedRequests(const Books& books, const Attempt& attempt);
static bool VisitPlace(const Books& books, Visited& seen, NameId name);
static std::vector<ContainerSlot> ChooseVictims(Books& books, AttemptId starved);
static std::optional<Victims> BestVictims(const Books& books, const StarvedRequest& request,
                                          const std::vector<NodeIndex>& nodes);
static std::optional<Victims> VictimsAmong(const Books& books, const StarvedRequest& request,
                                           const std::vector<NodeIndex>& nodes);
static std::optional<Victims> VictimsOn(const Books& books, const Resources& size, NodeIndex id, int32_t most_masters);
static void DropUnneeded(const Books& books, Victims& victims, const Resources& size, Resources potential);
static bool MayPreempt(const Books& books, const Container& container, const Resources& also_taken);
static std::vector<ContainerSlot> InApplicationOrder(const Books& books, const Victims& victims);
static void PromiseSpace(Books& books, NodeIndex node, AttemptId starved, const std::vector<ContainerSlot>& victims);

void PreemptPass(Books& books) {
  const int64_t heartbeats =
      books.config.quirks.starvation_delay_without_heartbeats ? 0 : 4 * books.config.nm_heartbeat_ms;
  const int64_t allocation_delay = books.config.continuous ? 10 * books.config.continuous_sleep_ms : heartbeats;
  const int64_t next_check =
      books.config.wait_before_kill_ms + allocation_delay + books.config.wait_before_next_starvation_check_ms;
  while (!books.preemption.starved.empty()) {
    const AttemptId id =
        books.preemption.starved.Poll([&books](AttemptId a, AttemptId b) { return CompareStarvation(books, a, b); });
    books.attempts[id].in_starved_queue = false;
    ms::VictimsChosen chosen{books.attempts[id].app, Starvation(books.attempts[id]), {}};
    for (const ContainerSlot slot : ChooseVictims(books, id)) chosen.victims.push_back(books.containers[slot].id);
    if (!chosen.victims.empty())
      books.preemption.kills.push_back({books.now_ms + books.config.wait_before_kill_ms, chosen.victims});
    books.Emit(std::move(chosen));
    books.attempts[id].next_starvation_check = books.now_ms + next_check;
    Unpin(books, id);
  }
}

void KillPass(Books& books) {
  size_t due = 0;
  for (; due < books.preemption.kills.size() && books.preemption.kills[due].at_ms <= books.now_ms; ++due) {
    const std::vector<model::ContainerId> victims = books.preemption.kills[due].victims;
    for (const model::ContainerId& id : victims) {
      const ContainerSlot slot = FindLive(books, id);
      if (slot.valid()) {
        Complete(books, slot, {End::kKilled, model::kExitPreempted, model::DiagnosticsOf(model::TakenBackFor::kQueue)});
      } else if (books.apps.Current(books.apps.Find(id.attempt.app)).valid()) {
        books.UpdateAvailable();
      }
    }
  }
  books.preemption.kills.erase(books.preemption.kills.begin(),
                               books.preemption.kills.begin() + static_cast<ptrdiff_t>(due));
}

std::vector<StarvedRequest> StarvedRequests(const Books& books, const Attempt& attempt) {
  std::vector<StarvedRequest> requests;
  std::map<std::pair<int32_t, std::array<int64_t, Resources::kMaxTypes>>, Visited> visited;
  Resources pending = Starvation(attempt);
  attempt.asks.ForEach([&](const RequestKey& key, NameId name, const Request& request) {
    if (pending.IsZero()) return;
    Visited& seen = visited[{key.priority, request.capability.amount}];
    if (!VisitPlace(books, seen, name)) return;
    const int32_t fit = HowOften(request.capability, pending);
    if (fit == 0) return;
    // A cut request is made again in Hadoop and forgets a strict locality.
    const bool cut = fit < request.count;
    const int32_t count = cut ? fit : request.count;
    requests.push_back({name, cut || request.relax, request.capability, count});
    SubtractNonNegative(pending, MultiplyDown(request.capability, count));
  });
  return requests;
}

bool VisitPlace(const Books& books, Visited& seen, NameId name) {
  if (name == Names::kAny) return seen.VisitAny();
  const std::vector<NodeIndex> nodes = books.nodes.Named(name);
  if (nodes.empty()) return false;
  if (nodes.size() == 1 && books.nodes[nodes[0]].host == name) return seen.VisitNode(books.nodes[nodes[0]].rack);
  return seen.VisitRack(name);
}

/// FSPreemptionThread.identifyContainersToPreempt.
std::vector<ContainerSlot> ChooseVictims(Books& books, AttemptId starved) {
  std::vector<ContainerSlot> all;
  for (const StarvedRequest& request : StarvedRequests(books, books.attempts[starved])) {
    const std::vector<NodeIndex> nodes = books.nodes.Named(request.name);
    for (int32_t i = 0; i < request.count; ++i) {
      const std::optional<Victims> best = BestVictims(books, request, nodes);
      if (!best) break;  // nothing changes until the next victims are marked
      if (best->taken.empty()) break;
      const std::vector<ContainerSlot> victims = InApplicationOrder(books, *best);
      all.insert(all.end(), victims.begin(), victims.end());
      PromiseSpace(books, books.containers[victims.front()].node, starved, victims);
      for (const ContainerSlot slot : victims) {
        const Container& container = books.containers[slot];
        const AttemptId owner = books.apps.Current(container.app);
        if (!owner.valid() || container.marked) continue;
        books.containers.SetMarked(slot, true);
        books.attempts[owner].to_be_preempted += container.resources;
        books.Emit(ms::PreemptionNotice{container.app, container.id, false});
      }
    }
  }
  return all;
}

std::optional<Victims> BestVictims(const Books& books, const StarvedRequest& request,
                                   const std::vector<NodeIndex>& nodes) {
  std::optional<Victims> best = VictimsAmong(books, request, nodes);
  if (!request.relax || request.name == Names::kAny || !best || best->masters == 0) return best;
  std::vector<NodeIndex> others;
  for (const NodeIndex id : books.nodes.InHashOrder()) {
    if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) others.push_back(id);
  }
  const std::optional<Victims> spare = VictimsAmong(books, request, others);
  return spare && spare->masters < best->masters ? spare : best;
}

/// The node with the fewest masters among its victims; the first without any ends the search.
std::optional<Victims> VictimsAmong(const Books& books, const StarvedRequest& request,
                                    const std::vector<NodeIndex>& nodes) {
  std::optional<Victims> best;
  int32_t most_masters = INT32_MAX;
  for (const NodeIndex id : nodes) {
    std::optional<Victims> victims = VictimsOn(books, request.capability, id, most_masters);
    if (!victims) continue;
    best = std::move(victims);
    most_masters = best->masters;
    if (most_masters == 0) break;
  }
  return best;
}

/// FSPreemptionThread.identifyContainersToPreemptOnNode: others' containers in reverse hash order, masters last.
std::optional<Victims> VictimsOn(const Books& books, const Resources& size, NodeIndex id, int32_t most_masters) {
  const Node& node = books.nodes[id];
  std::vector<ContainerSlot> candidates;
  std::vector<ContainerSlot> masters;
  for (const ContainerSlot slot : books.containers.InHashOrder(node.containers, node.most_containers)) {
    if (!books.containers[slot].set_apart) (books.containers[slot].is_master ? masters : candidates).push_back(slot);
  }
  std::reverse(candidates.begin(), candidates.end());
  candidates.insert(candidates.end(), masters.begin(), masters.end());
  Victims victims;
  std::map<AppIndex, Resources> taken_of;
  Resources potential = node.unallocated;
  const Resources held = !node.reserved.valid() ? Resources{} : books.containers[node.reserved].resources;
  SubtractNonNegative(potential, held + books.promises.total(id));
  for (const ContainerSlot slot : candidates) {
    const Container& container = books.containers[slot];
    if (!books.apps.Current(container.app).valid()) continue;
    Resources& taken = taken_of[container.app];
    if (MayPreempt(books, container, taken)) {
      if (container.is_master && ++victims.masters >= most_masters) return std::nullopt;
      victims.taken.push_back(slot);
      taken += container.resources;
      potential += container.resources;
    }
    if (!size.FitsIn(potential)) continue;
    if (!books.config.quirks.victims_not_minimal) DropUnneeded(books, victims, size, potential);
    return victims;
  }
  return std::nullopt;
}

void DropUnneeded(const Books& books, Victims& victims, const Resources& size, Resources potential) {
  std::erase_if(victims.taken, [&](ContainerSlot slot) {
    const Container& container = books.containers[slot];
    if (!size.FitsIn(potential - container.resources)) return false;
    potential -= container.resources;
    if (container.is_master) --victims.masters;
    return true;
  });
}

/// FSAppAttempt.canContainerBePreempted.
bool MayPreempt(const Books& books, const Container& container, const Resources& also_taken) {
  const AttemptId id = books.apps.Current(container.app);
  const Attempt& owner = books.attempts[id];
  if (!books.queues[owner.queue].preemptable) return false;
  if (container.is_master && !owner.am_preemptable) return false;
  if (!container.live || container.marked || container.attempt != id) return false;
  const Resources left = owner.used - owner.to_be_preempted - container.resources - also_taken;
  return !IsUsageBelowShare(books, owner, left, books.FairShareOf(owner));
}

/// PreemptableContainers.getAllContainers: grouped by application, groups in HashMap order of ApplicationId.
std::vector<ContainerSlot> InApplicationOrder(const Books& books, const Victims& victims) {
  std::vector<AppIndex> apps;
  std::vector<int32_t> hashes;
  for (const ContainerSlot slot : victims.taken) {
    const AppIndex app = books.containers[slot].app;
    if (std::find(apps.begin(), apps.end(), app) != apps.end()) continue;
    apps.push_back(app);
    hashes.push_back(hadoop::HashOf(books.apps[app].id));
  }
  std::vector<ContainerSlot> ordered;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(apps.size()))) {
    for (const ContainerSlot slot : victims.taken) {
      if (books.containers[slot].app == apps[i]) ordered.push_back(slot);
    }
  }
  return ordered;
}

/// FSSchedulerNode.addContainersForPreemption.
void PromiseSpace(Books& books, NodeIndex node, AttemptId starved, const std::vector<ContainerSlot>& victims) {
  Resources space;
  for (const ContainerSlot slot : victims) {
    if (books.containers[slot].set_apart) continue;
    books.containers.SetApart(slot);
    space += books.containers[slot].resources;
  }
  if (!space.IsZero() && books.promises.Add(node, starved, space)) ++books.attempts[starved].pins;
}

}  // namespace fairlead::scheduler::yarn_fair

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/books/shares.h"
#include "scheduler/fairlead/policy.h"

// Taking back from queues above their fair share what a queue below its share has waited for. A queue is given at most
// its share, nobody is brought below its own: so no chain of preemptions can come back to where it began. Nothing is
// taken unless the whole ask then fits on one node; the node is reserved for it, the victims are told, and they end
// after the grace time, if the reservation still stands.

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

/// What is lost with a container that ends now: the time for which it has run, less when its application says so, and
/// of a gang that of all its members, for the others can do nothing without it.
struct FairPolicy::LostWork {
  using Gang = std::pair<AppSlot, Instant>;  // of an application all that were granted at that moment

  explicit LostWork(const Books& books_) : books(books_) {
    for (const ContainerSlot slot : books.containers) {
      const Container& one = books.containers[slot];
      if (one.gang && one.app.valid()) gang_ms[{one.app, one.granted}] += OneMs(one);
    }
  }
  int64_t OneMs(const Container& one) const { return (books.now - one.lost_since).millis(); }
  int64_t OfMs(const Container& one) const { return one.gang ? gang_ms.at({one.app, one.granted}) : OneMs(one); }
  /// A gang with several ended members is lost once.
  int64_t OfMs(const std::vector<ContainerSlot>& victims) const {
    int64_t sum = 0;
    std::set<Gang> counted;
    for (const ContainerSlot victim : victims) {
      const Container& one = books.containers[victim];
      if (!one.gang || counted.insert({one.app, one.granted}).second) sum += OfMs(one);
    }
    return sum;
  }

  const Books& books;
  std::map<Gang, int64_t> gang_ms;
};

/// What one round of preemption goes by.
struct FairPolicy::Plan {
  const Amounts& shares;
  const LostWork& lost_work;
  std::vector<std::vector<ContainerSlot>> eligible;  // by node
  Amounts lost;                                      // by leaf: told, still running
};

/// The leaf's first ask in order that found no room and, with what is already on its way to it, would stay within the
/// leaf's share; null: none.
Ask* FairPolicy::Starving(Core& core, QueueId leaf, const Resources& share, const Resources& planned,
                          AppSlot& slot) const {
  Books& books = core.books();
  slot = order_.FirstIn(leaf, ~order_.Blocked(leaf));
  if (!slot.valid()) return nullptr;
  const bool master = books.apps[slot].needs_master;
  for (Ask& ask : books.apps.asks(slot)) {
    const Shape& shape = books.shapes[ask.shape];
    if (ask.count <= ask.reserved || ask.park != Park::kNo || !shape.blocked) continue;
    if (!(books.queues[leaf].used + planned + shape.size).FitsIn(share)) continue;
    if (budgets_.FindLimit(books, books.apps[slot], shape.size, master).kind == Limit::Kind::kFree) return &ask;
  }
  return nullptr;
}

void FairPolicy::Preempt(Core& core) {
  const Books& books = core.books();
  const Amounts shares = QueueShares(books.queues, books.types, books.nodes.schedulable());
  Amounts planned = KeptByLeaf(books);
  std::vector<std::pair<OrderKey, QueueId>> starving;
  for (const QueueId leaf : books.queues) {
    if (!books.queues[leaf].leaf) continue;
    Instant& since = starving_since_[leaf.value];
    AppSlot slot;
    if (!Starving(core, leaf, shares[leaf.value], planned[leaf.value], slot)) {
      since = Instant::Max();
      continue;
    }
    if (since == Instant::Max()) since = books.now;
    if (books.now < since + config_.preemption.starvation) continue;
    const Share share = books.queues.ShareOf(model::OrderPolicy::kDrf, books.queues[leaf].used);
    const auto weight = static_cast<uint64_t>(books.queues[leaf].weight);
    starving.push_back({{0, leaf.value, share.used, static_cast<unsigned __int128>(share.of) * weight}, leaf});
  }
  if (starving.empty()) return;
  std::sort(starving.begin(), starving.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<QueueId> leaves;
  for (const auto& [key, leaf] : starving) leaves.push_back(leaf);
  TakeBack(core, leaves, shares, planned);
}

/// Containers that may be taken, by node, those first with which least work is lost. Masters, and what has just
/// started, are spared.
std::vector<std::vector<ContainerSlot>> FairPolicy::Eligible(const Books& books, const Amounts& shares,
                                                             const LostWork& lost) const {
  std::vector<std::vector<ContainerSlot>> by_node(books.nodes.size());
  std::vector<bool> gives(books.queues.size());
  for (const QueueId leaf : books.queues) {
    bool preemptable = books.queues[leaf].leaf && !books.queues[leaf].used.FitsIn(shares[leaf.value]);
    for (QueueId q = leaf; preemptable && q.valid(); q = books.queues[q].parent) {
      preemptable = books.queues[q].preemptable;
    }
    gives[leaf.value] = preemptable;
  }
  const Containers& all = books.containers;
  for (const ContainerSlot slot : all) {
    const Container& container = all[slot];
    if (!container.app.valid() || container.is_master || container.chosen()) continue;
    if (!gives[books.apps[container.app].leaf.value] || !books.nodes[container.node].reservations.empty()) continue;
    if (books.now - container.granted < config_.preemption.minimum_run) continue;
    by_node[container.node.value].push_back(slot);
  }
  for (std::vector<ContainerSlot>& slots : by_node) {
    std::sort(slots.begin(), slots.end(), [&](ContainerSlot a, ContainerSlot b) {
      if (lost.OfMs(all[a]) != lost.OfMs(all[b])) return lost.OfMs(all[a]) < lost.OfMs(all[b]);
      if (all[a].granted != all[b].granted) return all[a].granted > all[b].granted;
      return all[a].id() > all[b].id();
    });
  }
  return by_node;
}

/// The victims on `node` that make room for the ask with the least work lost; none when that is impossible. Taken
/// cheapest first, then given back dearest first as far as the rest still suffices: every victim is needed.
std::vector<ContainerSlot> FairPolicy::VictimsOn(const Books& books, const Plan& plan, NodeIndex node, AppSlot slot,
                                                 const Ask& ask) const {
  std::vector<ContainerSlot> victims;
  const App& app = books.apps[slot];
  if (!Finder(books, config_).MayReserve(app, ask, node)) return victims;
  const auto size_of = [&](ContainerSlot victim) { return books.shapes[books.containers[victim].shape].size; };
  const Resources& need = books.shapes[ask.shape].size;
  Resources room = books.nodes[node].free();
  std::map<QueueId, Resources> taken;  // of this plan, by leaf
  for (const ContainerSlot victim : plan.eligible[node.value]) {
    if (need.FitsIn(room)) break;
    const Container& container = books.containers[victim];
    const QueueId leaf = books.apps[container.app].leaf;
    const Resources size = size_of(victim);
    if (leaf == app.leaf || container.chosen()) continue;
    const Resources left = books.queues[leaf].used - plan.lost[leaf.value] - taken[leaf];
    if (!CanLose(left, size, plan.shares[leaf.value], books.types)) continue;
    victims.push_back(victim);
    taken[leaf] += size;
    room += size;
  }
  if (!need.FitsIn(room)) return {};
  for (size_t i = victims.size(); i-- > 0;) {
    const Resources size = size_of(victims[i]);
    if (!need.FitsIn(room - size)) continue;
    room -= size;
    victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return victims;
}

void FairPolicy::TakeBack(Core& core, const std::vector<QueueId>& starving, const Amounts& shares, Amounts& planned) {
  const Books& books = core.books();
  const LostWork lost_work(books);
  Plan plan{shares, lost_work, Eligible(books, shares, lost_work), Amounts(books.queues.size())};
  for (const ContainerSlot slot : books.containers) {  // told earlier, still running
    const Container& container = books.containers[slot];
    if (!container.app.valid() || !container.chosen()) continue;
    plan.lost[books.apps[container.app].leaf.value] += books.shapes[container.shape].size;
  }
  int32_t left = config_.preemption.round_cap;
  for (const QueueId leaf : starving) {
    // The nodes of one ask, cheapest last; a node's victims are chosen again when it is its turn.
    std::vector<NodeIndex> nodes;
    uint64_t planned_for = 0;
    AppSlot slot;
    while (Ask* ask = left > 0 ? Starving(core, leaf, shares[leaf.value], planned[leaf.value], slot) : nullptr) {
      if (planned_for != ask->serial) {
        planned_for = ask->serial;
        nodes = RankNodes(books, plan, slot, *ask);
      }
      std::vector<ContainerSlot> victims;
      while (victims.empty() && !nodes.empty()) {
        const NodeIndex node = nodes.back();
        nodes.pop_back();
        victims = VictimsOn(books, plan, node, slot, *ask);
        if (static_cast<int32_t>(victims.size()) > left) victims.clear();
        if (!victims.empty()) Announce(core, slot, *ask, node, victims, plan.lost);
      }
      if (victims.empty()) break;
      left -= static_cast<int32_t>(victims.size());
      planned[leaf.value] += books.shapes[ask->shape].size;
    }
  }
}

std::vector<NodeIndex> FairPolicy::RankNodes(const Books& books, const Plan& plan, AppSlot slot, const Ask& ask) const {
  std::vector<std::pair<int64_t, NodeIndex>> ranked;
  for (uint32_t i = 0; i < plan.eligible.size(); ++i) {
    if (plan.eligible[i].empty()) continue;
    if (maintenance_.any() && !EndsBeforeWindow(books, slot, ask, NodeIndex{i})) continue;
    const std::vector<ContainerSlot> victims = VictimsOn(books, plan, NodeIndex{i}, slot, ask);
    if (victims.empty()) continue;
    ranked.emplace_back(plan.lost_work.OfMs(victims), NodeIndex{i});
  }
  std::sort(ranked.begin(), ranked.end(), std::greater<>());
  std::vector<NodeIndex> nodes;
  for (const auto& [lost, node] : ranked) nodes.push_back(node);
  return nodes;
}

void FairPolicy::Announce(Core& core, AppSlot slot, Ask& ask, NodeIndex node, const std::vector<ContainerSlot>& victims,
                          Amounts& lost) const {
  Books& books = core.books();
  const base::Duration grace = config_.preemption.grace;
  // The reservation outlives the grace time: a node may need a while to report the end.
  const ReservationId reservation = core.Reserve(slot, ask, node, grace + config_.reservations.duration);
  for (const ContainerSlot victim : victims) {
    const Container& container = books.containers[victim];
    books.containers.SetTakenBack(victim, books.now + grace + base::Duration::Nanos(1));
    books.reservations.AddVictim(reservation, container.id());
    lost[books.apps[container.app].leaf.value] += books.shapes[container.shape].size;
    core.Emit(ev::PreemptionNotice{books.apps[container.app].index, container.id(), false});
  }
  books.timers.Push(
      {books.now + grace, TimerKind::kTakeVictims, reservation.value, books.reservations[reservation].serial});
}

}  // namespace fairlead::scheduler::native

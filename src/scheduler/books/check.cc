#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scheduler/books/core.h"

// Recomputes from the containers and asks alone what the parts keep as sums, and compares; each part then checks
// itself. And the hash of all state that decides.

namespace fairlead::scheduler::native {
namespace {

/// Adds to a leaf and all queues above it.
void Up(const Queues& queues, std::vector<Resources>& sums, QueueId leaf, const Resources& size) {
  for (QueueId q = leaf; q.valid(); q = queues[q].parent) sums[q.value] += size;
}

/// What containers and asks add up to.
struct Sums {
  explicit Sums(const Books& books)
      : node_used(books.nodes.size()),
        node_containers(books.nodes.size()),
        app_used(books.apps.size()),
        app_masters(books.apps.size()),
        used(books.queues.size()),
        demand(books.queues.size()),
        masters(books.queues.size()),
        running(books.queues.size()),
        uses(books.shapes.size()),
        wanted(books.shapes.size()),
        mentions(books.places.size()),
        standing(books.places.waiter_slots()) {
    for (const ContainerSlot slot : books.containers) Count(books, books.containers[slot]);
    for (const AppSlot slot : books.apps) Count(books, books.apps[slot]);
    for (uint32_t i = 0; i < books.nodes.size(); ++i) {
      const Node& node = books.nodes[NodeIndex{i}];
      if (!node.alive) continue;
      ++mentions[node.host.value];
      ++mentions[node.rack.value];
    }
  }

  void Count(const Books& books, const Container& container) {
    const Resources& size = books.shapes[container.shape].size;
    node_used[container.node.value] += size;
    ++node_containers[container.node.value];
    ++uses[container.shape.value];
    if (!container.app.valid()) return;
    const QueueId leaf = books.apps[container.app].leaf;
    app_used[container.app.value] += size;
    ForHolders(books.apps[container.app], [&](UserId holder) { user_used[holder] += size; });
    Up(books.queues, used, leaf, size);
    Up(books.queues, demand, leaf, size);
    if (!container.is_master) return;
    app_masters[container.app.value] += size;
    Up(books.queues, masters, leaf, size);
  }

  void Count(const Books& books, const App& app) {
    for (const Ask& ask : app.asks) {
      Up(books.queues, demand, app.leaf, books.shapes[ask.shape].size * ask.count);
      ++uses[ask.shape.value];
      wanted[ask.shape.value] += ask.count > 0 ? 1 : 0;
      for (const NamedPlace& one : ask.places) ++mentions[one.place.value];
      for (const PlaceId place : ask.excluded) ++mentions[place.value];
      if (ask.waiter.valid()) standing[ask.waiter.value] = true;
    }
    for (const PlaceId place : app.excluded) ++mentions[place.value];
    if (!app.runnable) return;
    ++user_running[app.user];
    for (const UserId group : app.groups) ++user_running[group];
    for (QueueId q = app.leaf; q.valid(); q = books.queues[q].parent) ++running[q.value];
  }

  std::vector<Resources> node_used;
  std::vector<int32_t> node_containers;
  std::vector<Resources> app_used;
  std::vector<Resources> app_masters;
  std::vector<Resources> used;
  std::vector<Resources> demand;
  std::vector<Resources> masters;
  std::vector<int32_t> running;
  std::vector<uint32_t> uses;
  std::vector<uint32_t> wanted;
  std::vector<uint32_t> mentions;
  std::vector<bool> standing;
  std::map<UserId, int32_t> user_running;
  std::map<UserId, Resources> user_used;
};

std::string AppError(const Books& books, const Sums& sums, AppSlot slot) {
  const App& app = books.apps[slot];
  const std::string name = model::ToString(app.id);
  if (sums.app_used[slot.value] != app.used) return name + ": usage";
  if (sums.app_masters[slot.value] != app.master_used) return name + ": master's usage";
  Resources pending;
  uint64_t classes = 0;
  for (const Ask& ask : app.asks) {
    pending += books.shapes[ask.shape].size * ask.count;
    if (ask.open()) classes |= books.shapes.ClassOf(ask.shape);
    if (!ask.waiter.valid()) {
      if (ask.park == Park::kPlace) return name + ": waits for places that do not know it";
      continue;
    }
    const Waiter& waiter = books.places.waiter(ask.waiter);
    const WaitsFor what = books.places.waits_for(ask.waiter);
    const bool waits = what == WaitsFor::kPlace || what == WaitsFor::kHost;
    if (waiter.app != slot || waiter.serial != ask.serial || waits != (ask.park == Park::kPlace)) {
      return name + ": stands at its places as another";
    }
  }
  if (pending != app.pending) return name + ": pending";
  return classes == app.classes ? "" : name + ": classes";
}

std::string SumErrors(const Books& books, const Sums& sums) {
  for (uint32_t i = 0; i < books.nodes.size(); ++i) {
    const Node& node = books.nodes[NodeIndex{i}];
    if (sums.node_used[i] != node.used || sums.node_containers[i] != node.containers.count() ||
        (!node.alive && node.containers.count() > 0)) {
      return "node " + std::to_string(i) + ": usage";
    }
  }
  for (const AppSlot slot : books.apps) {
    if (std::string error = AppError(books, sums, slot); !error.empty()) return error;
  }
  for (const QueueId q : books.queues) {
    const Queue& queue = books.queues[q];
    if (queue.used != sums.used[q.value]) return queue.name + ": usage";
    if (queue.demand != sums.demand[q.value]) return queue.name + ": demand";
    if (queue.master_used != sums.masters[q.value]) return queue.name + ": masters' usage";
    if (queue.running != sums.running[q.value]) return queue.name + ": running applications";
  }
  return "";
}

/// A blocked shape fits no open node, an exact one none but its candidates.
std::string RoomUnseen(const Books& books) {
  for (const ShapeId id : books.shapes.tight()) {
    const Shape& shape = books.shapes[id];
    for (uint32_t i = 0; i < books.nodes.size(); ++i) {
      const NodeIndex node{i};
      if (!books.nodes.Fits(node, shape.size, shape.label)) continue;
      if (std::find(shape.candidates.begin(), shape.candidates.end(), node) == shape.candidates.end()) {
        return "shape " + std::to_string(id.value) + ": node " + std::to_string(i) + " has room unseen";
      }
    }
  }
  return "";
}

}  // namespace

std::string Core::CheckInvariants() const {
  const Sums sums(books_);
  std::string error = SumErrors(books_, sums);
  if (error.empty()) error = books_.users.Check(sums.user_running, sums.user_used);
  if (error.empty()) error = books_.queues.Check();
  if (error.empty()) error = books_.nodes.Check();
  if (error.empty()) error = books_.places.Check(sums.mentions, sums.standing);
  if (error.empty()) error = books_.shapes.Check(sums.uses, sums.wanted);
  if (error.empty()) error = books_.reservations.Check(books_.nodes);
  if (error.empty() && !books_.timers.Consistent()) error = "timers";
  if (error.empty()) error = RoomUnseen(books_);
  return error.empty() ? policy_->Check(books_) : error;
}

/// Left out, since it follows from the rest: indexes of free resources and of racks, tables by name or id, sums of the
/// cluster. And the configuration, which does not change, but for the queues'.
uint64_t Core::StateHash() const {
  base::StateHasher hash;
  books_.users.Mix(hash);
  books_.queues.Mix(hash);
  books_.nodes.Mix(hash);
  books_.places.Mix(hash);
  books_.shapes.Mix(hash);
  books_.containers.Mix(hash);
  books_.apps.Mix(hash);
  books_.reservations.Mix(hash);
  books_.gangs.Mix(hash);
  books_.timers.Mix(hash);
  hash.Mix(books_.next_serial);
  hash.Mix(uint64_t{total_changed_});
  policy_->Mix(hash);
  return hash.value();
}

}  // namespace fairlead::scheduler::native

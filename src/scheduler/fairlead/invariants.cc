#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"

// Recomputes from the containers and requests alone what the state keeps as sums, and compares.

namespace fairlead::scheduler::native {

std::string Core::BookErrors() const {
  std::vector<Resources> node_used(nodes_.size());
  std::vector<int32_t> node_containers(nodes_.size());
  std::vector<Resources> app_used(apps_.size());
  std::vector<Resources> app_masters(apps_.size());
  std::vector<Resources> used(queues_.size());
  std::vector<Resources> demand(queues_.size());
  std::vector<Resources> masters(queues_.size());
  const auto up = [&](std::vector<Resources>& sums, uint32_t leaf, const Resources& size) {
    for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) sums[q] += size;
  };
  for (uint32_t i = 0; i < containers_.slots(); ++i) {
    const Container& container = containers_[i];
    if (!container.in_use) continue;
    const Resources& size = shapes_[container.shape].size;
    node_used[container.node] += size;
    ++node_containers[container.node];
    if (!nodes_[container.node].alive)
      return "container " + model::ToString(container.id()) + " on a node that is gone";
    if (container.app == kNone) continue;
    app_used[container.app] += size;
    up(used, apps_[container.app].leaf, size);
    up(demand, apps_[container.app].leaf, size);
    if (!container.is_master) continue;
    app_masters[container.app] += size;
    up(masters, apps_[container.app].leaf, size);
  }
  std::vector<Resources> held(nodes_.size());
  for (uint32_t i = 0; i < holds_.size(); ++i) {
    const Hold& hold = holds_[i];
    if (hold.node == kNone) continue;
    held[hold.node] += hold.size;
    const std::vector<uint32_t>& listed = nodes_[hold.node].holds;
    if (!nodes_[hold.node].alive || std::find(listed.begin(), listed.end(), i) == listed.end())
      return "hold " + std::to_string(i);
  }
  Resources closed_used;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].schedulable) closed_used += nodes_[i].used;
    if (held[i] != nodes_[i].held) return "node " + std::to_string(i) + ": held";
    if (node_used[i] != nodes_[i].used || node_containers[i] != nodes_[i].containers)
      return "node " + std::to_string(i) + ": usage";
  }
  if (closed_used != closed_used_) return "usage of the nodes that take no containers";
  std::vector<int32_t> running(queues_.size());
  std::vector<int32_t> user_running(users_.size());
  for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
    const App& app = apps_[slot];
    if (!app.used_slot) continue;
    Resources pending;
    for (const Want& want : app.wants) pending += shapes_[want.shape].size * want.count;
    const std::string name = model::ToString(app.id);
    if (app_used[slot] != app.used) return name + ": usage";
    if (app_masters[slot] != app.master_used) return name + ": master's usage";
    if (pending != app.pending) return name + ": pending";
    up(demand, app.leaf, pending);
    if (!app.runnable) continue;
    ++user_running[app.user];
    for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) ++running[q];
  }
  for (uint32_t q = 0; q < queues_.size(); ++q) {
    const Queue& queue = queues_[q];
    if (!queue.alive) continue;
    if (queue.used != used[q]) return queue.name + ": usage";
    if (queue.demand != demand[q]) return queue.name + ": demand";
    if (queue.master_used != masters[q]) return queue.name + ": masters' usage";
    if (queue.running != running[q]) return queue.name + ": running applications";
    int64_t active = 0;
    for (const uint32_t child : queue.children) active += queues_[child].running > 0 ? queues_[child].weight : 0;
    if (active != queue.active_weight) return queue.name + ": weight of active children";
  }
  for (size_t user = 0; user < users_.size(); ++user) {
    if (users_[user].running != user_running[user])
      return "user " + users_by_name_.Name(static_cast<uint32_t>(user)) + ": running";
  }
  return "";
}

std::string Core::OrderErrors() const {
  for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
    const App& app = apps_[slot];
    if (!app.used_slot) continue;
    uint64_t classes = 0;
    for (const Want& want : app.wants) {
      if (want.count > 0 && want.park == Park::kNo) classes |= uint64_t{1} << shapes_[want.shape].shape_class;
    }
    const Tournament& order = app.starting ? queues_[app.leaf].starting : queues_[app.leaf].order;
    const std::string name = model::ToString(app.id);
    if (classes != app.classes) return name + ": classes";
    if (order.item(app.slot) != slot) return name + ": slot";
    if (!in_order_) continue;
    if (order.classes(app.slot) != (app.runnable && app.active ? classes : 0)) return name + ": classes in the order";
    if (!keys_stale_ && !(order.key(app.slot) == AppKey(app))) return name + ": key";
  }
  for (uint32_t q = 0; in_order_ && q < queues_.size(); ++q) {
    const Queue& queue = queues_[q];
    if (!queue.alive) continue;
    if (!queue.order.Consistent() || !queue.starting.Consistent()) return queue.name + ": order of children";
    if (queue.parent == kNone) continue;
    const Tournament& order = queues_[queue.parent].order;
    if (order.classes(queue.slot) != OpenClasses(queue)) return queue.name + ": classes in the parent's order";
    if (!keys_stale_ && !(order.key(queue.slot) == QueueKey(queue))) return queue.name + ": key in the parent's order";
  }
  return "";
}

/// A blocked shape fits no open node, an exact one none but its candidates.
std::string Core::ShapeErrors(uint32_t index) const {
  const Shape& shape = shapes_[index];
  if (!shape.blocked && !shape.exact) return "";
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!Open(nodes_[node]) || !HasLabel(node, shape.label) || !shape.size.FitsIn(Free(nodes_[node]))) continue;
    if (std::find(shape.candidates.begin(), shape.candidates.end(), node) == shape.candidates.end()) {
      return "shape " + std::to_string(index) + ": node " + std::to_string(node) + " has room unseen";
    }
  }
  return "";
}

/// Who stands at a place is a request that names it, or is no more.
std::string Core::WaiterErrors() const {
  std::vector<uint32_t> entries(waiters_.size());
  for (const Place& place : places_) {
    for (const uint32_t waiter : place.waiters) ++entries[waiter];
  }
  std::vector<bool> alive(waiters_.size());
  for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
    for (const Want& want : apps_[slot].wants) {
      if (want.waiter == kNone) {
        if (want.park == Park::kPlace) return "a request waits for places that do not know it";
        continue;
      }
      const Waiter& waiter = waiters_[want.waiter];
      alive[want.waiter] = true;
      const WaitsFor what = waits_for_[want.waiter];
      const bool waits = what == WaitsFor::kPlace || what == WaitsFor::kHost;
      if (waiter.app != slot || waiter.serial != want.serial || waits != (want.park == Park::kPlace))
        return "waiter " + std::to_string(want.waiter) + ": another request";
    }
  }
  for (uint32_t i = 0; i < waiters_.size(); ++i) {
    if (waiters_[i].entries != entries[i] || (waits_for_[i] != WaitsFor::kGone) != alive[i])
      return "waiter " + std::to_string(i) + ": entries";
  }
  return "";
}

std::string Core::CheckInvariants() const {
  if (std::string error = BookErrors(); !error.empty()) return error;
  if (std::string error = WaiterErrors(); !error.empty()) return error;
  if (std::string error = OrderErrors(); !error.empty()) return error;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].alive && Free(nodes_[i]).AnyNegative()) {
      // Only a node that shrank, or came back with more than it holds, may be over-committed; the index must say so.
      for (const auto& [partition, position] : nodes_[i].places) {
        if (partitions_[partition].index.FindFrom(position, Resources{}) == position)
          return "node " + std::to_string(i) + ": index";
      }
    }
  }
  for (const Partition& partition : partitions_) {
    if (!partition.index.Consistent()) return "index of free resources";
  }
  std::array<uint32_t, 64> shapes{};
  std::array<uint32_t, 64> open{};
  std::vector<uint32_t> wanted(shapes_.size());
  std::vector<uint32_t> uses(shapes_.size());
  for (const App& app : apps_) {
    for (const Want& want : app.wants) {
      ++uses[want.shape];
      if (want.count > 0) ++wanted[want.shape];
    }
  }
  for (uint32_t i = 0; i < containers_.slots(); ++i) {
    if (containers_[i].in_use) ++uses[containers_[i].shape];
  }
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].uses != uses[i] || (uses[i] && shapes_[i].wanted != wanted[i]))
      return "shape " + std::to_string(i) + ": uses";
    if (wanted[i] == 0) continue;
    if (const std::string error = ShapeErrors(static_cast<uint32_t>(i)); !error.empty()) return error;
    ++shapes[shapes_[i].shape_class];
    if (!shapes_[i].blocked) ++open[shapes_[i].shape_class];
  }
  if (shapes != class_shapes_ || open != class_open_) return "classes of shapes";
  return "";
}

}  // namespace fairlead::scheduler::native

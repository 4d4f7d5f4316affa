#include <algorithm>

#include "base/hash.h"
#include "scheduler/fairlead/core.h"
#include "scheduler/shared/water_fill.h"

// What readers see: shares, usage, and the hash and check of the whole state.

namespace fairlead::scheduler::native {
namespace {

std::string_view PolicyName(model::OrderPolicy policy) {
  switch (policy) {
    case model::OrderPolicy::kFair:
      return "fair";
    case model::OrderPolicy::kDrf:
      return "drf";
    case model::OrderPolicy::kFifo:
      return "fifo";
  }
  return "?";
}

}  // namespace

/// Exact fair shares of a queue's children, type by type: min(max(weight * x, minimum), maximum, demand) adding up to
/// the queue's own share (steady: among all children, demand or not).
std::vector<Resources> Core::ChildShares(const Queue& queue, const Resources& share, bool steady) const {
  std::vector<Resources> shares(queue.children.size());
  std::vector<FillItem> items(queue.children.size());
  for (size_t t = 0; t < types_; ++t) {
    for (size_t i = 0; i < items.size(); ++i) {
      const Queue& child = queues_[queue.children[i]];
      items[i] = {child.weight, child.low[t], std::min(child.high[t], steady ? share[t] : child.demand[t])};
    }
    const std::vector<int64_t> amounts = WaterFill(items, share[t], WhenLowsExceed::kScale);
    for (size_t i = 0; i < items.size(); ++i) shares[i][t] = amounts[i];
  }
  return shares;
}

void Core::ViewQueue(uint32_t index, const Resources& share, const Resources& steady, View& view) const {
  const Queue& queue = queues_[index];
  QueueView out;
  out.name = queue.name;
  out.parent = queue.parent == kNone ? "" : queues_[queue.parent].name;
  out.leaf = queue.leaf;
  out.policy = PolicyName(queue.policy);
  out.weight = static_cast<double>(queue.weight) / static_cast<double>(kWeightOne);
  out.fair_share = share;
  out.steady_share = steady;
  out.min_share = queue.low;
  out.max_share = queue.high;
  out.demand = queue.demand;
  out.used = queue.used;
  out.master_used = queue.master_used;
  out.runnable_apps = queue.running;
  out.waiting_apps = static_cast<int32_t>(queue.waiting.size());
  out.max_running_apps = queue.max_running;
  out.preemptable = queue.preemptable;
  view.queues.push_back(std::move(out));
  const std::vector<Resources> shares = ChildShares(queue, share, false);
  const std::vector<Resources> steadies = ChildShares(queue, steady, true);
  std::vector<size_t> order(queue.children.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return queues_[queue.children[a]].name < queues_[queue.children[b]].name; });
  for (const size_t i : order) ViewQueue(queue.children[i], shares[i], steadies[i], view);
  if (!queue.leaf) return;
  std::vector<uint32_t> slots;
  for (const uint32_t slot : app_slots_) {
    if (slot != kNone && apps_[slot].leaf == index) slots.push_back(slot);
  }
  std::vector<Resources> app_shares(slots.size());
  std::vector<FillItem> items(slots.size());
  for (size_t t = 0; t < types_; ++t) {
    for (size_t i = 0; i < slots.size(); ++i) {
      const App& app = apps_[slots[i]];
      items[i] = {kWeightOne, 0, app.runnable ? app.used[t] + app.pending[t] : 0};
    }
    const std::vector<int64_t> amounts = WaterFill(items, share[t], WhenLowsExceed::kScale);
    for (size_t i = 0; i < slots.size(); ++i) app_shares[i][t] = amounts[i];
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const App& app = apps_[slots[i]];
    Resources held;
    for (const Hold& hold : holds_) {
      if (hold.node != kNone && hold.app == slots[i]) held += hold.size;
    }
    view.apps.push_back(
        {app.index, queue.name, app.runnable, app_shares[i], app.used + app.pending, app.used, held, app.containers});
  }
}

View Core::GetView() const {
  View view;
  view.cluster = total_;
  ViewQueue(kRoot, total_, total_, view);
  std::sort(view.apps.begin(), view.apps.end(), [](const AppView& a, const AppView& b) { return a.app < b.app; });
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].alive) view.nodes.push_back({NodeIndex{i}, nodes_[i].capacity, nodes_[i].used, nodes_[i].containers});
  }
  return view;
}

uint64_t Core::StateHash() const {
  base::StateHasher hash;
  const auto mix = [&](const Resources& r) {
    for (size_t t = 0; t < types_; ++t) hash.Mix(static_cast<uint64_t>(r[t]));
  };
  for (const Queue& queue : queues_) {
    hash.Mix(queue.name);
    hash.Mix(static_cast<uint64_t>(queue.weight));
    hash.Mix(static_cast<uint64_t>(queue.running));
    hash.Mix(queue.blocked);
    mix(queue.used);
    mix(queue.demand);
    mix(queue.master_used);
    mix(queue.low);
    mix(queue.high);
  }
  for (const Node& node : nodes_) {
    hash.Mix(uint64_t{node.alive} * 2 + uint64_t{node.schedulable});
    hash.Mix(node.first_container);
    mix(node.capacity);
    mix(node.used);
  }
  for (const App& app : apps_) {
    hash.Mix(app.index.value);
    hash.Mix(static_cast<uint64_t>(app.next_sequence));
    hash.Mix(uint64_t{app.runnable} * 4 + uint64_t{app.active} * 2 + uint64_t{app.needs_master});
    hash.Mix(static_cast<uint64_t>(app.priority));
    mix(app.used);
    for (const Want& want : app.wants) {
      hash.Mix(static_cast<uint64_t>(want.priority));
      hash.Mix(static_cast<uint64_t>(want.request_id));
      hash.Mix(static_cast<uint64_t>(want.count));
      hash.Mix(static_cast<uint64_t>(want.park));
      hash.Mix(want.serial);
      hash.Mix(static_cast<uint64_t>(want.gang));
      hash.Mix(static_cast<uint64_t>(want.refusing_since.ns));
      mix(shapes_[want.shape].size);
      for (const Line& line : want.lines) {
        hash.Mix(line.name);
        hash.Mix(static_cast<uint64_t>(line.count));
      }
    }
  }
  for (uint32_t i = 0; i < containers_.slots(); ++i) {
    const Container& container = containers_[i];
    if (!container.in_use) continue;
    hash.Mix(static_cast<uint64_t>(container.value));
    hash.Mix(static_cast<uint64_t>(container.app_number));
    hash.Mix(container.node);
    hash.Mix(uint64_t{container.acquired} * 4 + uint64_t{container.launched} * 2 + uint64_t{container.is_master});
  }
  for (const Partition& partition : partitions_) hash.Mix(partition.cursor);
  return hash.value();
}

}  // namespace fairlead::scheduler::native

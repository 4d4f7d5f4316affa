#include <algorithm>
#include <numeric>

#include "scheduler/books/core.h"
#include "scheduler/books/shares.h"
#include "scheduler/shared/water_fill.h"

// What readers see of queues, applications and nodes.

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

void ViewApps(const Books& books, QueueId leaf, const Resources& share, View& view) {
  std::vector<AppSlot> slots;
  for (uint32_t index = 0; index < books.apps.indices(); ++index) {
    const AppSlot slot = books.apps.Find(AppIndex{index});
    if (slot.valid() && books.apps[slot].leaf == leaf) slots.push_back(slot);
  }
  std::vector<Resources> shares(slots.size());
  std::vector<FillItem> items(slots.size());
  for (size_t t = 0; t < books.types; ++t) {
    for (size_t i = 0; i < slots.size(); ++i) {
      const App& app = books.apps[slots[i]];
      items[i] = {kWeightOne, 0, app.runnable ? app.used[t] + app.pending[t] : 0};
    }
    const std::vector<int64_t> amounts = WaterFill(items, share[t], WhenLowsExceed::kScale);
    for (size_t i = 0; i < slots.size(); ++i) shares[i][t] = amounts[i];
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const App& app = books.apps[slots[i]];
    Resources reserved;
    for (const ReservationId id : books.reservations) {
      if (books.reservations[id].app == slots[i]) reserved += books.reservations[id].size;
    }
    view.apps.push_back({app.index, books.queues[leaf].name, app.runnable, shares[i], app.used + app.pending, app.used,
                         reserved, app.containers.count()});
  }
}

enum class Of : uint8_t { kQueues, kQueuesAndApps };

void ViewQueue(const Books& books, const Policy& policy, QueueId id, const Resources& share, const Resources& steady,
               Of what, View& view) {
  const Queue& queue = books.queues[id];
  QueueView out;
  out.name = queue.name;
  out.parent = queue.parent.valid() ? books.queues[queue.parent].name : "";
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
  out.tasks = policy.TasksOf(books, id);
  policy.ViewSpending(books, id, out);
  view.queues.push_back(std::move(out));
  const std::vector<Resources> shares = ChildShares(books.queues, books.types, id, share, false);
  const std::vector<Resources> steadies = ChildShares(books.queues, books.types, id, steady, true);
  std::vector<size_t> order(queue.children.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return books.queues[queue.children[a]].name < books.queues[queue.children[b]].name;
  });
  for (const size_t i : order) ViewQueue(books, policy, queue.children[i], shares[i], steadies[i], what, view);
  if (queue.leaf && what == Of::kQueuesAndApps) ViewApps(books, id, share, view);
}

}  // namespace

View Core::GetView() const {
  View view;
  view.cluster = books_.nodes.total();
  ViewQueue(books_, *policy_, kRoot, view.cluster, view.cluster, Of::kQueuesAndApps, view);
  std::sort(view.apps.begin(), view.apps.end(), [](const AppView& a, const AppView& b) { return a.app < b.app; });
  for (uint32_t i = 0; i < books_.nodes.size(); ++i) {
    const Node& node = books_.nodes[NodeIndex{i}];
    if (node.alive) view.nodes.push_back({NodeIndex{i}, node.capacity, node.used, node.containers.count()});
  }
  return view;
}

View Core::GetQueues() const {
  View view;
  view.cluster = books_.nodes.total();
  ViewQueue(books_, *policy_, kRoot, view.cluster, view.cluster, Of::kQueues, view);
  return view;
}

int64_t Core::PendingContainers(AppIndex app) const {
  const AppSlot slot = books_.apps.Find(app);
  int64_t count = 0;
  if (slot.valid()) {
    for (const Ask& ask : books_.apps[slot].asks) count += ask.count;
  }
  return count;
}

}  // namespace fairlead::scheduler::native

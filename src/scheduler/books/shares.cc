#include "scheduler/books/shares.h"

#include <algorithm>

#include "scheduler/shared/water_fill.h"

namespace fairlead::scheduler::native {

using model::Resources;

std::vector<Resources> ChildShares(const Queues& queues, size_t types, QueueId queue, const Resources& share,
                                   bool steady) {
  const std::vector<QueueId>& children = queues[queue].children;
  std::vector<Resources> shares(children.size());
  std::vector<FillItem> items(children.size());
  for (size_t t = 0; t < types; ++t) {
    for (size_t i = 0; i < items.size(); ++i) {
      const Queue& child = queues[children[i]];
      items[i] = {child.weight, child.low[t], std::min(child.high[t], steady ? share[t] : child.demand[t])};
    }
    const std::vector<int64_t> amounts = WaterFill(items, share[t], WhenLowsExceed::kScale);
    for (size_t i = 0; i < items.size(); ++i) shares[i][t] = amounts[i];
  }
  return shares;
}

namespace {

void SharesBelow(const Queues& queues, size_t types, QueueId queue, const Resources& share,
                 std::vector<Resources>& shares) {
  shares[queue.value] = share;
  if (queues[queue].children.empty()) return;
  const std::vector<Resources> children = ChildShares(queues, types, queue, share, false);
  for (size_t i = 0; i < children.size(); ++i) {
    SharesBelow(queues, types, queues[queue].children[i], children[i], shares);
  }
}

}  // namespace

std::vector<Resources> QueueShares(const Queues& queues, size_t types, const Resources& all) {
  std::vector<Resources> shares(queues.size());
  SharesBelow(queues, types, kRoot, all, shares);
  return shares;
}

}  // namespace fairlead::scheduler::native

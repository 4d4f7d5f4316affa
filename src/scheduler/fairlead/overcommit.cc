#include "scheduler/fairlead/overcommit.h"

#include <algorithm>

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

/// `percent` of `whole`, which is no larger than a node.
int64_t Part(int64_t whole, int64_t percent) { return whole / 100 * percent + whole % 100 * percent / 100; }

const Resources& SizeOf(const Books& books, ContainerSlot at) { return books.shapes[books.containers[at].shape].size; }

/// What the node's containers within its capacity book.
Resources Within(const Books& books, NodeIndex node) {
  Resources sum;
  for (ContainerSlot at = books.nodes[node].containers.first(); at.valid(); at = books.containers[at].node_next) {
    if (!books.containers[at].above) sum += SizeOf(books, at);
  }
  return sum;
}

/// The newest first.
std::vector<ContainerSlot> Above(const Books& books, NodeIndex node) {
  std::vector<ContainerSlot> above;
  for (ContainerSlot at = books.nodes[node].containers.first(); at.valid(); at = books.containers[at].node_next) {
    if (books.containers[at].above) above.push_back(at);
  }
  return above;
}

}  // namespace

Resources MayOffer(const OvercommitConfig& config, const UseForecast& forecast, const Node& node,
                   const UseForecast::Measured& measured, int64_t least_percent) {
  Resources extra;
  const UseForecast::Amounts expected = forecast.Expected(node, measured);
  const auto offer = [&](size_t type, int64_t machine, int64_t use, int64_t unit) {
    if (use == model::MeasuredUse::kUnknown) return;
    const int64_t room = (Part(machine, config.fill_percent) - use) / std::max<int64_t>(unit, 1) * 100 / least_percent;
    extra[type] = std::clamp<int64_t>(node.used[type] + std::max<int64_t>(room, 0) - node.capacity[type], 0,
                                      Part(node.capacity[type], config.percent));
  };
  offer(0, measured.machine.mib, expected.mib, 1);
  offer(1, measured.machine.milli_cores, expected.milli_cores, measured.milli_per_vcore);
  return extra;
}

bool FitsAbove(const OvercommitConfig& config, const UseForecast& forecast, const Node& node,
               const UseForecast::Measured& measured, const Resources& size, const UseAmounts& expected_of_it) {
  const UseAmounts expected = forecast.Expected(node, measured);
  const UseAmounts more = measured.Of(size, expected_of_it);
  return expected.mib + more.mib <= Part(measured.machine.mib, config.fill_percent) &&
         expected.milli_cores + more.milli_cores <= Part(measured.machine.milli_cores, config.fill_percent);
}

bool FitsWithin(const Books& books, NodeIndex node, const Resources& size) {
  return (Within(books, node) + size).FitsIn(books.nodes[node].capacity);
}

void NoteAbove(Books& books, ContainerSlot container) {
  const NodeIndex node = books.containers[container].node;
  if (books.nodes[node].used.FitsIn(books.nodes[node].capacity)) return;
  books.containers.SetAbove(container, !Within(books, node).FitsIn(books.nodes[node].capacity));
}

void BringWithin(Books& books, NodeIndex node) {
  const std::vector<ContainerSlot> above = Above(books, node);
  if (above.empty()) return;
  Resources within = Within(books, node);
  for (size_t i = above.size(); i-- > 0;) {
    within += SizeOf(books, above[i]);
    if (!within.FitsIn(books.nodes[node].capacity)) return;
    books.containers.SetAbove(above[i], false);
  }
}

std::vector<ContainerSlot> ToReclaim(const Books& books, const OvercommitConfig& config, NodeIndex index,
                                     const UseForecast::Measured& measured) {
  std::vector<ContainerSlot> victims;
  const auto excess = [&](int64_t use, int64_t machine) {
    return use > Part(machine, config.reclaim_percent) ? use - Part(machine, config.fill_percent) : 0;
  };
  int64_t mib = excess(measured.use.mib, measured.machine.mib);
  int64_t milli_cores = excess(measured.use.milli_cores, measured.machine.milli_cores);
  const auto take = [&](ContainerSlot at) {
    const Resources& size = SizeOf(books, at);
    mib -= size.memory_mib();
    milli_cores -= size.vcores() * measured.milli_per_vcore;
  };
  if (mib <= 0 && milli_cores <= 0) return victims;
  const std::vector<ContainerSlot> above = Above(books, index);
  for (const ContainerSlot at : above) {
    if (!books.containers[at].app.valid()) take(at);  // is ending
  }
  for (const ContainerSlot at : above) {
    if (mib <= 0 && milli_cores <= 0) break;
    if (!books.containers[at].app.valid()) continue;
    take(at);
    victims.push_back(at);
  }
  return victims;
}

}  // namespace fairlead::scheduler::native

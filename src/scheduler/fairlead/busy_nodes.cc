#include "scheduler/fairlead/busy_nodes.h"

#include <algorithm>

namespace fairlead::scheduler::native {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kUnknown = model::MeasuredUse::kUnknown;

/// `part` in percent of `whole`; unknown when either is. Both are bounded: no product overflows.
int64_t Percent(int64_t part, int64_t whole) {
  return part == kUnknown || whole <= 0 ? kUnknown : std::min<int64_t>(part, INT64_MAX / 100) * 100 / whole;
}

}  // namespace

BusyNodes::Excess BusyNodes::Find(const Node& node, const ev::NodeMeasured& event, int64_t percent) const {
  const model::MeasuredUse& use = event.use;
  // A manager that does not say what its machine has is taken to offer all of it.
  const int64_t cores = event.physical.vcores() > 0 ? event.physical.vcores() : node.capacity.vcores();
  const int64_t mib = event.physical.memory_mib() > 0 ? event.physical.memory_mib() : node.capacity.memory_mib();
  const int64_t used_mib = use.physical_bytes == kUnknown ? kUnknown : use.physical_bytes / kMiB;
  const int64_t core_percent = use.milli_cores == kUnknown ? kUnknown : use.milli_cores / 10;
  const Excess amounts[] = {
      {Excess::Amount::kCpu, cores > 0 && core_percent != kUnknown ? core_percent / cores : kUnknown,
       config_.cpu_percent},
      {Excess::Amount::kMemory, Percent(used_mib, mib), config_.memory_percent},
      {Excess::Amount::kDisks, use.disk_busy == kUnknown ? kUnknown : use.disk_busy / 10, config_.disk_percent},
      {Excess::Amount::kNetwork, use.network_bytes == kUnknown ? kUnknown : use.network_bytes / 125'000,
       config_.network_mbit},
  };
  for (const Excess& one : amounts) {
    if (one.threshold > 0 && one.measured * 100 > one.threshold * percent) return one;
  }
  return {};
}

bool BusyNodes::Take(const Node& node, const ev::NodeMeasured& event, base::Instant now) {
  const Excess excess = Find(node, event, node.busy ? config_.calm_percent : 100);
  if (excess.threshold == 0) {
    busy_.erase(event.node);
    return false;
  }
  busy_[event.node] = {excess, now};
  return true;
}

std::vector<NodeIndex> BusyNodes::TakeStale(base::Instant now, bool all) {
  std::vector<NodeIndex> stale;
  std::erase_if(busy_, [&](const auto& one) {
    if (!all && now < one.second.heard + config_.stale) return false;
    stale.push_back(one.first);
    return true;
  });
  return stale;
}

base::Instant BusyNodes::NextStale() const {
  base::Instant next = base::Instant::Max();
  for (const auto& [node, busy] : busy_) next = std::min(next, busy.heard + config_.stale);
  return next;
}

std::string BusyNodes::TextOf(NodeIndex node) const {
  const auto found = busy_.find(node);
  if (found == busy_.end()) return "";
  static constexpr std::pair<const char*, const char*> kWords[] = {// by Excess::Amount
                                                                   {"CPU", " %"},
                                                                   {"memory", " %"},
                                                                   {"disks busy", " %"},
                                                                   {"network", " Mbit/s"}};
  const Excess& excess = found->second.excess;
  const auto [name, unit] = kWords[static_cast<size_t>(excess.amount)];
  const auto amount = [unit = unit](int64_t number) { return std::to_string(number) + unit; };
  return std::string(name) + " " + amount(excess.measured) + ", threshold " + amount(excess.threshold);
}

std::string BusyNodes::Check(const Nodes& nodes) const {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes.Alive(NodeIndex{i}) && nodes[NodeIndex{i}].busy && !busy_.contains(NodeIndex{i}))
      return "node " + std::to_string(i) + " is busy, nobody knows why";
  }
  return "";
}

void BusyNodes::Mix(base::StateHasher& hash) const {
  for (const auto& [node, busy] : busy_) {
    hash.Mix(node.value);
    hash.Mix(static_cast<uint64_t>(busy.heard.ns));
  }
}

}  // namespace fairlead::scheduler::native

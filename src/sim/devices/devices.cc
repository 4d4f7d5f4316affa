#include "sim/devices/devices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace fairlead::sim {
namespace {

// FGD's authors scale by the largest node.
constexpr double kMostCpuMilli = 128'000;
constexpr double kMostDeviceMilli = 8'000;
constexpr double kTypicalPart = 0.95;
// A whole node that stays free weighs as much as the loss of a twentieth of a device: less than what fragmentation
// tells apart, more than its noise.
constexpr double kPackingWeight = 0.05 * kWholeDevice;
constexpr size_t kMostKnownAsks = 4096;

/// The highest score; among equals the first node.
class Best {
 public:
  void Offer(int64_t score, size_t node, size_t device) {
    if (choice_.node >= 0 && score <= score_) return;
    score_ = score;
    choice_ = {static_cast<int32_t>(node), device};
  }
  DevicePlacement::Choice choice() const { return choice_; }

 private:
  int64_t score_ = 0;
  DevicePlacement::Choice choice_;
};

bool IsShare(const DeviceAsk& ask) { return ask.devices == 1 && ask.share < kWholeDevice; }

/// Of the devices that have the share the one with the least room.
size_t FullestDevice(const DeviceNode& node, int32_t share) {
  size_t best = kMostDevices;
  for (size_t i = 0; i < static_cast<size_t>(node.devices); ++i) {
    if (node.free[i] >= share && (best == kMostDevices || node.free[i] < node.free[best])) best = i;
  }
  return best;
}

int64_t SigmoidScore(double less_fragmentation) {
  return static_cast<int64_t>(100.0 / (1.0 + std::exp(-less_fragmentation / kWholeDevice)));
}

}  // namespace

int64_t DeviceNode::free_milli() const { return std::accumulate(free.begin(), free.begin() + devices, int64_t{0}); }

bool DeviceNode::FitsButMemory(const DeviceAsk& ask) const {
  if (cpu_milli < ask.cpu_milli) return false;
  if (ask.devices == 0) return true;
  if ((model & ask.models) == 0) return false;
  return std::count_if(free.begin(), free.begin() + devices, [&](int32_t left) { return left >= ask.share; }) >=
         ask.devices;
}

bool DeviceNode::Fits(const DeviceAsk& ask) const { return memory_mib >= ask.memory_mib && FitsButMemory(ask); }

void DeviceNode::Take(const DeviceAsk& ask, size_t device) {
  cpu_milli -= ask.cpu_milli;
  memory_mib -= ask.memory_mib;
  if (IsShare(ask)) {
    free[device] -= ask.share;
    return;
  }
  int32_t left = ask.devices;
  for (size_t i = 0; left > 0; ++i) {
    if (free[i] < kWholeDevice) continue;
    free[i] = 0;
    --left;
  }
}

std::vector<TypicalAsk> TypicalAsks(std::span<const DeviceAsk> asks) {
  std::map<DeviceAsk, int64_t> counts;
  for (DeviceAsk ask : asks) {
    ask.memory_mib = 0;
    ++counts[ask];
  }
  std::vector<std::pair<int64_t, DeviceAsk>> by_count;
  for (const auto& [ask, count] : counts) by_count.emplace_back(count, ask);
  std::sort(by_count.rbegin(), by_count.rend());
  std::vector<TypicalAsk> typical;
  double sum = 0;
  for (const auto& [count, ask] : by_count) {
    if (sum >= kTypicalPart * static_cast<double>(asks.size())) break;
    typical.push_back({ask, static_cast<double>(count)});
    sum += static_cast<double>(count);
  }
  for (TypicalAsk& one : typical) one.part /= sum;
  return typical;
}

double Fragmentation(const DeviceNode& node, std::span<const TypicalAsk> typical) {
  const auto total = static_cast<double>(node.free_milli());
  if (total == 0) return 0;
  double sum = 0;
  for (const auto& [ask, part] : typical) {
    double lost = total;
    if (ask.devices > 0 && node.FitsButMemory(ask)) {
      lost = 0;
      for (size_t i = 0; i < static_cast<size_t>(node.devices); ++i) {
        if (node.free[i] < ask.share) lost += node.free[i];
      }
    }
    sum += part * lost;
  }
  return sum;
}

DevicePlacement::Choice BestFit::Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) {
  std::vector<std::pair<size_t, int64_t>> scores;
  int64_t lowest = 0;
  int64_t highest = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const DeviceNode& node = nodes[i];
    if (!node.Fits(ask)) continue;
    const double left = 0.5 * static_cast<double>(node.cpu_milli - ask.cpu_milli) / kMostCpuMilli +
                        0.5 * static_cast<double>(node.free_milli() - ask.device_milli()) / kMostDeviceMilli;
    const auto score = static_cast<int64_t>((1.0 - left) * 100);
    lowest = scores.empty() ? score : std::min(lowest, score);
    highest = scores.empty() ? score : std::max(highest, score);
    scores.emplace_back(i, score);
  }
  Best best;
  for (const auto& [i, score] : scores) {
    const int64_t normal = highest == lowest ? 0 : (score - lowest) * 100 / (highest - lowest);
    best.Offer(normal, i, IsShare(ask) ? FullestDevice(nodes[i], ask.share) : 0);
  }
  return best.choice();
}

DevicePlacement::Choice LeastFragmentation::Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) {
  Best best;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const DeviceNode& node = nodes[i];
    if (!node.Fits(ask)) continue;
    const double before = Fragmentation(node, typical_);
    int64_t score = -1;
    size_t device = 0;
    for (size_t d = 0; d < (IsShare(ask) ? static_cast<size_t>(node.devices) : 1); ++d) {
      if (IsShare(ask) && node.free[d] < ask.share) continue;
      DeviceNode after = node;
      after.Take(ask, d);
      const int64_t of = SigmoidScore(before - Fragmentation(after, typical_));
      if (of <= score) continue;
      score = of;
      device = d;
    }
    best.Offer(score, i, device);
  }
  return best.choice();
}

std::map<uint64_t, double> ModelPrices(std::span<const DeviceNode> nodes, std::span<const TypicalAsk> typical) {
  std::map<uint64_t, double> there;   // device room, by model
  std::map<uint64_t, double> prices;  // 0 for a model that no typical ask may have
  double all = 0;
  for (const DeviceNode& node : nodes) {
    if (node.devices == 0) continue;
    const auto room = static_cast<double>(node.free_milli());
    there[node.model] += room;
    prices[node.model] = 0;
    all += room;
  }
  double wanted_of_all = 0;
  for (const auto& [ask, part] : typical) {
    const double wanted = part * static_cast<double>(ask.device_milli());
    wanted_of_all += wanted;
    double room = 0;
    for (const auto& [model, of_it] : there) room += (model & ask.models) != 0 ? of_it : 0;
    if (room == 0) continue;
    for (const auto& [model, of_it] : there) prices[model] += (model & ask.models) != 0 ? wanted / room : 0;
  }
  for (auto& [model, price] : prices) price *= wanted_of_all > 0 ? all / wanted_of_all : 0;
  return prices;
}

LeastLoss::Loss LeastLoss::LossOf(const DeviceNode& node, double fragmentation, const DeviceAsk& ask) const {
  Loss least{.loss = std::numeric_limits<double>::infinity()};
  if (!node.Fits(ask)) return least;
  const double price = ask.devices > 0 ? prices_.at(node.model) * static_cast<double>(ask.device_milli()) : 0;
  for (size_t d = 0; d < (IsShare(ask) ? static_cast<size_t>(node.devices) : 1); ++d) {
    if (IsShare(ask) && node.free[d] < ask.share) continue;
    DeviceNode after = node;
    after.Take(ask, d);
    const double loss = price + Fragmentation(after, typical_) - fragmentation +
                        kPackingWeight *
                            (static_cast<double>(after.cpu_milli) / kMostCpuMilli +
                             static_cast<double>(after.free_milli()) / kMostDeviceMilli) /
                            2;
    if (loss < least.loss) least = {.loss = loss, .device = d};
  }
  return least;
}

LeastLoss::Known& LeastLoss::KnownOf(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) {
  if (known_.size() > kMostKnownAsks) known_.clear();
  const auto [found, is_new] = known_.try_emplace(ask);
  Known& known = found->second;
  const auto look = [&](size_t node) {
    Loss& loss = known.losses[node];
    if (loss.version == versions_[node]) return;
    loss = LossOf(nodes[node], fragmentation_[node], ask);
    loss.version = versions_[node];
  };
  if (is_new) {
    known.losses.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) look(i);
    known.looked_at = changes_.size();
  }
  for (; known.looked_at < changes_.size(); ++known.looked_at) look(changes_[known.looked_at]);
  return known;
}

DevicePlacement::Choice LeastLoss::Place(const std::vector<DeviceNode>& nodes, const DeviceAsk& ask) {
  if (fragmentation_.empty()) {
    for (const DeviceNode& node : nodes) fragmentation_.push_back(Fragmentation(node, typical_));
    versions_.resize(nodes.size());
    prices_ = ModelPrices(nodes, typical_);
  }
  if (chosen_ >= 0) {
    const auto node = static_cast<size_t>(chosen_);
    fragmentation_[node] = Fragmentation(nodes[node], typical_);
    ++versions_[node];
    changes_.push_back(node);
    chosen_ = -1;
  }
  const Known& known = KnownOf(nodes, ask);
  const auto least = std::min_element(known.losses.begin(), known.losses.end(),
                                      [](const Loss& a, const Loss& b) { return a.loss < b.loss; });
  if (least == known.losses.end() || std::isinf(least->loss)) return {};
  chosen_ = least - known.losses.begin();
  return {static_cast<int32_t>(chosen_), least->device};
}

std::vector<DeviceAsk> ArrivingAsks(std::vector<DeviceAsk> asks, int64_t device_milli, double load, uint64_t seed) {
  base::Rng rng(seed);
  const std::vector<DeviceAsk> all = asks;
  for (size_t i = asks.size(); i > 1; --i) std::swap(asks[i - 1], asks[rng.Below(i)]);
  const double wanted = load * static_cast<double>(device_milli);
  double sum = 0;
  for (const DeviceAsk& ask : asks) sum += static_cast<double>(ask.device_milli());
  while (sum > wanted && !asks.empty()) {
    const auto gone = asks.begin() + static_cast<int64_t>(rng.Below(asks.size()));
    sum -= static_cast<double>(gone->device_milli());
    asks.erase(gone);
  }
  while (sum < wanted) {
    asks.push_back(all[rng.Below(all.size())]);
    sum += static_cast<double>(asks.back().device_milli());
  }
  return asks;
}

std::vector<AllocationPoint> PlaceAll(std::vector<DeviceNode> nodes, std::span<const DeviceAsk> asks,
                                      DevicePlacement& placement) {
  int64_t all = 0;
  for (const DeviceNode& node : nodes) all += node.free_milli();
  int64_t arrived = 0;
  int64_t given = 0;
  std::vector<AllocationPoint> points;
  for (const DeviceAsk& ask : asks) {
    const DevicePlacement::Choice choice = placement.Place(nodes, ask);
    arrived += ask.device_milli();
    if (choice.node >= 0) {
      nodes[static_cast<size_t>(choice.node)].Take(ask, choice.device);
      given += ask.device_milli();
    }
    points.push_back({static_cast<double>(arrived) / static_cast<double>(all),
                      static_cast<double>(given) / static_cast<double>(all)});
  }
  return points;
}

double AllocatedAt(std::span<const AllocationPoint> points, int32_t percent) {
  double sum = 0;
  int64_t number = 0;
  for (const AllocationPoint& point : points) {
    if (std::lround(point.arrived * 100) != percent) continue;
    sum += point.allocated * 100;
    ++number;
  }
  return number == 0 ? 0 : sum / static_cast<double>(number);
}

}  // namespace fairlead::sim

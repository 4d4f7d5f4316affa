#include "scheduler/fairlead/use_forecast.h"

#include <algorithm>

namespace fairlead::scheduler::native {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kMilli = 1000;
constexpr int64_t kUnknown = model::MeasuredUse::kUnknown;
/// Above all that a machine has: no product of it overflows.
constexpr int64_t kMost = int64_t{1} << 40;

constexpr UseAmounts kAsBooked{INT64_MAX, INT64_MAX};

/// The expected use of an amount: it was `measured` while `booked` was booked; `change` was booked (or ended) since,
/// and what was booked since uses `saved` less than it books.
int64_t Grown(int64_t measured, int64_t booked, int64_t recent, int64_t change, int64_t saved) {
  if (change < 0) {
    // Assume that what ended used its booked share of the measured use, and never more than it had booked.
    const auto gone = static_cast<int64_t>(static_cast<__int128>(std::min(measured, booked)) * -change /
                                           std::max<int64_t>(booked, 1));
    return std::max<int64_t>(measured - gone, 0) + recent;
  }
  return measured + recent + std::max<int64_t>(change - saved, 0);
}

int64_t Permille(int64_t part, int64_t whole) { return whole <= 0 ? 0 : std::min(part, kMost) * kMilli / whole; }

}  // namespace

UseForecast::Amounts UseForecast::Measured::Of(const model::Resources& size, const Amounts& expected) const {
  return {std::min(size.vcores() * milli_per_vcore, expected.milli_cores), std::min(size.memory_mib(), expected.mib)};
}

void UseForecast::Take(const Books& books, const model::scheduler::NodeMeasured& event, const UseLearner* learner) {
  const Node& node = books.nodes[event.node];
  if (nodes_.size() <= event.node.value) nodes_.resize(event.node.value + 1);
  Measured& measured = nodes_[event.node.value];
  const base::Instant before = measured.told ? measured.heard : books.now;
  measured = Measured{};
  // A manager that does not say what its machine has is taken to offer all of it.
  const auto has = [](int64_t told, int64_t offered) {
    return std::clamp<int64_t>(told > 0 ? told : offered, 0, kMost);
  };
  const int64_t cores = has(event.physical.vcores(), node.capacity.vcores());
  measured.machine = {cores * kMilli, has(event.physical.memory_mib(), node.capacity.memory_mib())};
  const auto bounded = [](int64_t amount, int64_t unit) {
    return amount == kUnknown ? kUnknown : std::clamp<int64_t>(amount / unit, 0, kMost);
  };
  measured.use = {bounded(event.use.milli_cores, 1), bounded(event.use.physical_bytes, kMiB)};
  measured.disk_permille = std::clamp<int64_t>(event.use.disk_busy, 0, kMilli);
  measured.told = measured.use.milli_cores != kUnknown || measured.use.mib != kUnknown;
  any_ = any_ || measured.told;
  measured.heard = books.now;
  measured.interval = std::min(books.now - before, stale_);
  measured.milli_per_vcore =
      node.capacity.vcores() > cores ? measured.machine.milli_cores / node.capacity.vcores() : kMilli;
  measured.booked = node.used;
  const base::Duration unseen = std::max(config_.settle, measured.interval);
  for (ContainerSlot at = node.containers.first(); at.valid(); at = books.containers[at].node_next) {
    const Container& container = books.containers[at];
    if (books.now - container.granted >= unseen) break;  // the newest come first
    const model::Resources& size = books.shapes[container.shape].size;
    const Amounts one = measured.Of(size, learner ? learner->ExpectedOf(books, container) : kAsBooked);
    measured.recent.milli_cores += one.milli_cores;
    measured.recent.mib += one.mib;
  }
}

void UseForecast::Placed(NodeIndex node, const model::Resources& size, const Amounts& expected) {
  if (node.value >= nodes_.size()) return;
  Measured& measured = nodes_[node.value];
  const Amounts one = measured.Of(size, expected);
  measured.saved.milli_cores += size.vcores() * measured.milli_per_vcore - one.milli_cores;
  measured.saved.mib += size.memory_mib() - one.mib;
}

void UseForecast::Forget() {
  any_ = false;
  nodes_.clear();
}

const UseForecast::Measured* UseForecast::Fresh(NodeIndex node, base::Instant now) const {
  if (node.value >= nodes_.size()) return nullptr;
  const Measured& measured = nodes_[node.value];
  return measured.told && now < measured.heard + std::max(stale_, measured.interval * 2) ? &measured : nullptr;
}

UseForecast::Amounts UseForecast::Expected(const Node& node, const Measured& measured) const {
  const model::Resources change = node.used - measured.booked;
  const int64_t scale = measured.milli_per_vcore;
  Amounts expected = measured.use;
  if (expected.milli_cores != kUnknown) {
    expected.milli_cores = Grown(expected.milli_cores, measured.booked.vcores() * scale, measured.recent.milli_cores,
                                 change.vcores() * scale, measured.saved.milli_cores);
  }
  if (expected.mib != kUnknown) {
    expected.mib =
        Grown(expected.mib, measured.booked.memory_mib(), measured.recent.mib, change.memory_mib(), measured.saved.mib);
  }
  return expected;
}

int64_t UseForecast::LoadWith(const Books& books, NodeIndex index, const model::Resources& size,
                              const Amounts& expected_of_it) const {
  const Node& node = books.nodes[index];
  const Measured* measured = Fresh(index, books.now);
  if (measured == nullptr) {
    int64_t load = 0;
    for (size_t t = 0; t < books.types; ++t) load = std::max(load, Permille(node.used[t] + size[t], node.capacity[t]));
    return load;
  }
  const Amounts expected = Expected(node, *measured);
  const Amounts more = measured->Of(size, expected_of_it);
  int64_t load = measured->disk_permille;
  if (expected.milli_cores != kUnknown) {
    load = std::max(load, Permille(expected.milli_cores + more.milli_cores, measured->machine.milli_cores));
  }
  if (expected.mib != kUnknown) {
    load = std::max(load, Permille(expected.mib + more.mib, measured->machine.mib));
  }
  return load;
}

void UseForecast::Mix(base::StateHasher& hash) const {
  for (const Measured& one : nodes_) {
    hash.Mix(uint64_t{one.told});
    if (!one.told) continue;
    for (const int64_t amount : {one.heard.ns, one.interval.ns, one.machine.milli_cores, one.machine.mib,
                                 one.use.milli_cores, one.use.mib, one.disk_permille, one.milli_per_vcore,
                                 one.recent.milli_cores, one.recent.mib, one.saved.milli_cores, one.saved.mib}) {
      hash.Mix(static_cast<uint64_t>(amount));
    }
    for (const int64_t amount : one.booked.amount) hash.Mix(static_cast<uint64_t>(amount));
  }
}

}  // namespace fairlead::scheduler::native

#include "scheduler/fairlead/use_learner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/codec.h"

namespace fairlead::scheduler::native {
namespace {

using model::LearnedAmount;
using model::LearnedUse;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kMilli = 1000;
constexpr int64_t kUnknown = model::MeasuredUse::kUnknown;
/// Above all that a container uses: no sum of kMostMeasures of them overflows.
constexpr int64_t kMost = int64_t{1} << 46;
constexpr int64_t kMostMeasures = 1024;
/// Of a machine's cores, percent: when so many are used, its containers may want more than they get.
constexpr int64_t kCrowded = 90;
constexpr int64_t kMostHalvings = 62;

constexpr LearnedAmount LearnedUse::*kAmounts[] = {&LearnedUse::milli_cores, &LearnedUse::memory_mib,
                                                   &LearnedUse::disk_bytes, &LearnedUse::network_bytes};

/// So many measures are left, and as large as they were in the mean.
void Keep(LearnedAmount& amount, int64_t count) {
  amount.sum = amount.mean() * count;
  amount.count = count;
}

void Learn(LearnedAmount& amount, int64_t measured, int64_t most) {
  if (measured == kUnknown) return;
  if (amount.count >= kMostMeasures) Keep(amount, kMostMeasures / 2);
  const int64_t value = std::clamp<int64_t>(measured, 0, std::min(most, kMost));
  ++amount.count;
  amount.sum += value;
  amount.peak = std::max(amount.peak, value);
}

bool MakesSense(const LearnedAmount& amount) {
  return amount.count >= 0 && amount.count <= kMostMeasures && amount.peak >= 0 && amount.peak <= kMost &&
         amount.sum >= 0 && amount.sum <= amount.count * amount.peak;
}

bool Crowded(const Node& node, const model::scheduler::NodeMeasured& event) {
  const int64_t cores = event.physical.vcores() > 0 ? event.physical.vcores() : node.capacity.vcores();
  return event.use.milli_cores == kUnknown || cores <= 0 || event.use.milli_cores / 10 / cores >= kCrowded;
}

}  // namespace

void UseLearner::Came(AppSlot slot, const std::string& user, const std::string& name) {
  if (named_.size() <= slot.value) named_.resize(slot.value + 1);
  named_[slot.value] = {user, name};
}

Kind UseLearner::KindOf(AppSlot slot, int32_t priority, const model::Resources& size) const {
  Kind kind;
  kind.user = named_[slot.value].user;
  if (config_.by_name) kind.name = named_[slot.value].name;
  if (config_.by_priority) kind.priority = priority;
  if (config_.by_size) kind.size = size.amount;
  return kind;
}

Kind UseLearner::KindOf(const LearnedUse& use) { return {use.user, use.name, use.priority, use.size.amount}; }

void UseLearner::Take(const Books& books, const model::scheduler::NodeMeasured& event) {
  const Node& node = books.nodes[event.node];
  const bool crowded = Crowded(node, event);
  const size_t most = std::min(event.each.size(), static_cast<size_t>(node.containers.count()));
  for (size_t i = 0; i < most; ++i) {
    const model::MeasuredUse& use = event.each[i].use;
    const ContainerSlot slot = books.containers.Find(event.each[i].container);
    if (!slot.valid()) continue;
    const Container& container = books.containers[slot];
    if (container.node != event.node || !container.app.valid() || container.is_master) continue;
    if (books.now - container.granted < settle_) continue;
    const model::Resources& size = books.shapes[container.shape].size;
    const Kind kind = KindOf(container.app, container.priority, size);
    if (kind.TooLong()) continue;
    Row& row = RowOf(kind, books.now);
    Learn(row.use.milli_cores, crowded ? kUnknown : use.milli_cores, size.vcores() * kMilli);
    Learn(row.use.memory_mib, use.physical_bytes == kUnknown ? kUnknown : use.physical_bytes / kMiB, size.memory_mib());
    Learn(row.use.disk_bytes, use.disk_bytes, kMost);
    Learn(row.use.network_bytes, use.network_bytes, kMost);
    row.unstored = true;
  }
}

UseLearner::Row& UseLearner::RowOf(const Kind& kind, base::Instant now) {
  const auto [at, made] = rows_.Hear(kind, now);
  Row& row = rows_[at];
  if (made) {
    row.halved = now;
    row.use.row = at;
    row.use.user = kind.user;
    row.use.name = kind.name;
    row.use.priority = kind.priority;
    row.use.size.amount = kind.size;
  }
  Age(row, now);
  return row;
}

int64_t UseLearner::HalvingsOf(const Row& row, base::Instant now) const {
  return std::clamp<int64_t>((now - row.halved).ns / std::max<int64_t>(config_.half_life.ns, 1), 0, kMostHalvings);
}

void UseLearner::Age(Row& row, base::Instant now) {
  const int64_t halvings = HalvingsOf(row, now);
  if (halvings == 0) return;
  row.halved = halvings == kMostHalvings ? now : row.halved + config_.half_life * halvings;
  for (LearnedAmount LearnedUse::*const one : kAmounts) {
    LearnedAmount& amount = row.use.*one;
    amount.peak = amount.mean() + ((amount.peak - amount.mean()) >> halvings);
    Keep(amount, amount.count >> halvings);
    if (amount.count == 0) amount.peak = 0;
  }
}

UseAmounts UseLearner::Expected(const Books& books, AppSlot slot, int32_t priority,
                                const model::Resources& size) const {
  const UseAmounts booked{size.vcores() * kMilli, size.memory_mib()};
  const auto* known = rows_.Find(KindOf(slot, priority, size));
  if (!known) return booked;
  const Row& row = known->row;
  const int64_t halvings = HalvingsOf(row, books.now);
  const auto expected = [&](const LearnedAmount& amount, int64_t use, int64_t of) {
    if (amount.count >> halvings < config_.enough) return of;
    return std::clamp(use, of / 100 * config_.least_percent + of % 100 * config_.least_percent / 100, of);
  };
  // Cores are shared: in the mean they are enough. Memory is not.
  return {expected(row.use.milli_cores, row.use.milli_cores.mean(), booked.milli_cores),
          expected(row.use.memory_mib, row.use.memory_mib.peak, booked.mib)};
}

UseAmounts UseLearner::ExpectedOf(const Books& books, const Container& container) const {
  const model::Resources& size = books.shapes[container.shape].size;
  if (!container.app.valid() || container.is_master) return {size.vcores() * kMilli, size.memory_mib()};
  return Expected(books, container.app, container.priority, size);
}

std::vector<LearnedUse> UseLearner::TakeUnstored(base::Instant now) {
  std::vector<LearnedUse> rows;
  if (now < stored_at_ + kStoreEvery) return rows;
  stored_at_ = now;
  for (auto& entry : rows_.entries()) {
    if (rows.size() >= kStored) break;
    if (std::exchange(entry.row.unstored, false)) rows.push_back(entry.row.use);
  }
  return rows;
}

void UseLearner::Recall(const model::scheduler::UseRecalled& event, base::Instant now) {
  for (const LearnedUse& use : event.rows) {
    const bool sound = std::all_of(std::begin(kAmounts), std::end(kAmounts),
                                   [&](const auto& amount) { return MakesSense(use.*amount); });
    const Kind kind = KindOf(use);
    if (!sound || kind.TooLong() || use.size.AnyNegative()) continue;
    const int64_t age_ms = std::clamp<int64_t>(event.now.ms - use.stored.ms, 0, int64_t{1} << 40);
    const base::Instant then = now - base::Duration::Millis(age_ms);
    rows_.PutBack(use.row, kind, then, {.unstored = false, .halved = then, .use = use});
  }
}

void UseLearner::Mix(base::StateHasher& hash) const {
  for (const Naming& one : named_) {
    base::HashInto(hash, one.user);
    base::HashInto(hash, one.name);
  }
  for (const auto& [known, kind, heard, row] : rows_.entries()) {
    hash.Mix(uint64_t{known} * 2 + uint64_t{row.unstored});
    if (!known) continue;
    base::HashInto(hash, row.use);
    hash.Mix(static_cast<uint64_t>(heard.ns));
    hash.Mix(static_cast<uint64_t>(row.halved.ns));
  }
  hash.Mix(static_cast<uint64_t>(stored_at_.ns));
}

}  // namespace fairlead::scheduler::native

#include "scheduler/yarn_capacity/order.h"

#include <cmath>
#include <utility>

namespace fairlead::scheduler::yarn_capacity {

/// FairOrderingPolicy.getMagnitude.
AppOrder::Entry AppOrder::Make(AttemptId id, const Rank& rank) const {
  Entry entry{static_cast<double>(rank.used_memory), rank, id, static_cast<uint8_t>(kind_)};
  if (size_based_ && entry.magnitude != 0) {
    const double weight = std::log1p(static_cast<double>(rank.demand_memory)) / std::log(2.0);
    if (weight != 0) entry.magnitude /= weight;
  }
  return entry;
}

namespace {

template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

int AppOrder::CompareEntries(const Entry& a, const Entry& b) {
  const auto kind = static_cast<Kind>(a.kind);
  int order = 0;
  if (kind == Kind::kFair) {
    order = Order(a.magnitude, b.magnitude);
    if (order == 0) order = Order(a.rank.start, b.rank.start);
    if (order == 0) order = Order(a.rank.demand_memory == 0, b.rank.demand_memory == 0);
  } else {
    if (kind == Kind::kPending) order = Order(b.rank.recovering, a.rank.recovering);
    if (order == 0) order = Order(b.rank.priority, a.rank.priority);
  }
  if (order == 0) order = Order(a.rank.app, b.rank.app);
  if (order == 0) order = Order(a.rank.start, b.rank.start);
  return order;
}

bool AppOrder::Less(const Entry& a, const Entry& b) { return CompareEntries(a, b) < 0; }

int AppOrder::Compare(const Rank& a, const Rank& b) const { return CompareEntries(Make({}, a), Make({}, b)); }

void AppOrder::Add(AttemptId id, const Rank& rank) {
  if (Has(id) || !entries_.insert(Make(id, rank)).second) return;
  ranks_.emplace(id, rank);
}

bool AppOrder::Remove(AttemptId id) {
  touched_.erase(id);
  const auto held = ranks_.find(id);
  if (held == ranks_.end()) return false;
  entries_.erase(Make(id, held->second));
  ranks_.erase(held);
  return true;
}

void AppOrder::Touch(AttemptId id, bool demand) {
  if (kind_ == Kind::kFair && (size_based_ || !demand)) touched_.insert(id);
}

void AppOrder::Refresh(const std::function<Rank(AttemptId)>& rank) {
  const std::set<AttemptId> touched = std::exchange(touched_, {});
  for (const AttemptId id : touched) {
    const auto held = ranks_.find(id);
    if (held == ranks_.end()) {
      Add(id, rank(id));
      continue;
    }
    auto moved = entries_.extract(Make(id, held->second));
    held->second = rank(id);
    moved.value() = Make(id, held->second);
    if (!entries_.insert(std::move(moved)).inserted) ranks_.erase(held);
  }
}

std::vector<AttemptId> AppOrder::InOrder() const {
  std::vector<AttemptId> ids;
  ids.reserve(entries_.size());
  for (const Entry& entry : entries_) ids.push_back(entry.id);
  return ids;
}

}  // namespace fairlead::scheduler::yarn_capacity

#include <algorithm>

#include "scheduler/shared/water_fill.h"
#include "scheduler/tdw/rounds.h"

// Taking back in a full cluster: hungry pools get what the share equation gives them, from the young grants of those
// whom FAIR would serve last.

namespace fairlead::scheduler::tdw {
namespace {

std::vector<int64_t> Shares(const std::vector<Entry>& entries, int64_t total) {
  std::vector<FillItem> items;
  for (const Entry& entry : entries) {
    items.push_back({entry.weight, entry.low, std::min(entry.high, entry.granted + entry.waiting)});
  }
  return WaterFill(items, total, WhenLowsExceed::kKeep);
}

/// The index of the entry that FAIR serves last among those in `open`.
size_t LastInOrder(const std::vector<Entry>& entries, const std::vector<size_t>& open) {
  size_t last = open.front();
  for (const size_t i : open) {
    if (FairBefore(entries[last], entries[i])) last = i;
  }
  return last;
}

/// Pools of all groups side by side (the group level has no part in shares), not preemptable where their group is not.
std::vector<Entry> FlatPools(Entry root) {
  std::vector<Entry> pools;
  for (Entry& group : root.below) {
    for (Entry& pool : group.below) {
      pool.preemptable = pool.preemptable && group.preemptable;
      pools.push_back(std::move(pool));
    }
  }
  // Shares that do not divide evenly are rounded up in FAIR order.
  std::sort(pools.begin(), pools.end(), FairBefore);
  return pools;
}

}  // namespace

void TdwCore::Preempt(TaskType type) {
  std::vector<Entry> pools = FlatPools(Snapshot(type, true));
  int64_t total = 0;
  for (const Entry& pool : pools) total += pool.granted;
  const std::vector<int64_t> shares = Shares(pools, total);
  int64_t need = 0;
  std::vector<size_t> open;
  for (size_t i = 0; i < pools.size(); ++i) {
    const bool hungry = pools[i].granted < pools[i].low;
    if (hungry) need += std::max<int64_t>(0, std::min(pools[i].waiting, shares[i] - pools[i].granted));
    if (pools[i].preemptable && pools[i].granted > shares[i]) open.push_back(i);
  }
  while (need > 0 && !open.empty()) {
    const size_t victim = LastInOrder(pools, open);
    Entry& pool = pools[victim];
    std::vector<size_t> sessions(pool.below.size());
    for (size_t i = 0; i < sessions.size(); ++i) sessions[i] = i;
    std::sort(pool.below.begin(), pool.below.end(), FairBefore);
    const std::vector<int64_t> session_shares = Shares(pool.below, shares[victim]);
    while (need > 0 && !sessions.empty() && pool.granted > shares[victim]) {
      const size_t i = LastInOrder(pool.below, sessions);
      const int64_t surplus = pool.below[i].granted - session_shares[i];
      const int64_t most = settings_.over_kill ? surplus : std::min(surplus, need);
      const int64_t taken = most > 0 ? TakeFrom(pool.below[i].id, type, most) : 0;
      pool.below[i].granted -= taken;
      pool.granted -= taken;
      need -= taken;
      std::erase(sessions, i);  // it has given what it can: its surplus, or its young grants
    }
    std::erase(open, victim);
  }
}

/// Ends the newest grants of the session that are young enough, at most `most`; gives how many.
int64_t TdwCore::TakeFrom(uint32_t slot, TaskType type, int64_t most) {
  std::vector<uint32_t> young;
  for (uint32_t c = apps_[slot].first_container; c != kNone; c = containers_[c].app_next) {
    if (TypeOf(containers_[c]) != type) continue;
    if (now_.ns - containers_[c].granted_ns <= settings_.victim_age.ns) young.push_back(c);
  }
  std::sort(young.begin(), young.end(), [&](uint32_t a, uint32_t b) {
    if (containers_[a].granted_ns != containers_[b].granted_ns)
      return containers_[a].granted_ns > containers_[b].granted_ns;
    return containers_[a].id() > containers_[b].id();
  });
  const auto count = std::min<int64_t>(most, static_cast<int64_t>(young.size()));
  for (int64_t i = 0; i < count; ++i) {
    FinishContainer(young[static_cast<size_t>(i)], -102, "Container preempted by scheduler");
  }
  if (count > 0) round_due_ = true;  // what is free now goes out with the next round
  return count;
}

}  // namespace fairlead::scheduler::tdw

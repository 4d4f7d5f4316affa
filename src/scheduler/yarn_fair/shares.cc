#include "scheduler/yarn_fair/shares.h"

#include <algorithm>
#include <span>

#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::yarn_fair {
namespace {

constexpr int kIterations = 25;

/// Equal sharers get equal shares, so they are looked at once.
struct Group {
  double weight;
  int64_t min_share;
  int64_t max_share;
  int64_t count;
};

int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t MultiplySaturating(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t ShareAt(double ratio, double weight, int64_t min_share, int64_t max_share) {
  double share = weight * ratio;
  share = std::max(share, static_cast<double>(min_share));
  share = std::min(share, static_cast<double>(max_share));
  return hadoop::java::ToLong(share);
}

int64_t UsedAt(double ratio, std::span<const Group> groups) {
  int64_t used = 0;
  for (const Group& group : groups) {
    const int64_t share = ShareAt(ratio, group.weight, group.min_share, group.max_share);
    used = AddSaturating(used, MultiplySaturating(share, group.count));
    if (used == INT64_MAX) break;
  }
  return used;
}

bool IsFixed(const Sharer& s) { return s.max_share <= 0 || !s.active || s.weight <= 0.0F; }

int64_t FixedShare(const Sharer& s) {
  if (s.max_share <= 0 || !s.active) return 0;
  return std::max<int64_t>(s.min_share, 0);
}

std::vector<Group> GroupsOf(const std::vector<Sharer>& sharers, int64_t times) {
  constexpr size_t kSearched = 8;  // few kinds are found by looking, the rest stands alone
  std::vector<Group> groups;
  for (const Sharer& s : sharers) {
    if (IsFixed(s)) continue;
    const double weight = s.weight;
    const auto same = [&](const Group& g) {
      return g.weight == weight && g.min_share == s.min_share && g.max_share == s.max_share;
    };
    const auto end = groups.begin() + static_cast<ptrdiff_t>(std::min(groups.size(), kSearched));
    const auto it = std::find_if(groups.begin(), end, same);
    if (it != end) {
      it->count += times;
    } else {
      groups.push_back({weight, s.min_share, s.max_share, times});
    }
  }
  return groups;
}

/// The ratio at which the groups take `total`: the bound of the last interval on the chosen side.
double RatioFor(int64_t total, std::span<const Group> groups, bool round_up) {
  double high = 1.0;
  while (UsedAt(high, groups) < total) high *= 2.0;
  double low = 0;
  for (int i = 0; i < kIterations; ++i) {
    const double middle = (low + high) / 2.0;
    const int64_t used = UsedAt(middle, groups);
    if (used == total) return middle;
    (used < total ? low : high) = middle;
  }
  return round_up ? high : low;
}

}  // namespace

void ComputeShares(std::vector<Sharer>& sharers, int64_t total, bool round_up, size_t times) {
  const auto count = static_cast<int64_t>(times);
  int64_t taken = 0;
  int64_t total_max = 0;
  bool any = false;
  for (Sharer& s : sharers) {
    if (s.weight != s.weight) s.weight = 0;  // NaN would never reach the total
    if (IsFixed(s)) {
      s.share = FixedShare(s);
      taken = AddSaturating(taken, MultiplySaturating(s.share, count));
    } else {
      any = true;
      total_max = AddSaturating(total_max, MultiplySaturating(s.max_share, count));
    }
  }
  if (!any) return;
  const std::vector<Group> groups = GroupsOf(sharers, count);
  const int64_t left = std::min(total_max, std::max<int64_t>(total - taken, 0));
  const double ratio = RatioFor(left, groups, round_up);
  for (Sharer& s : sharers) {
    if (!IsFixed(s)) s.share = ShareAt(ratio, s.weight, s.min_share, s.max_share);
  }
}

}  // namespace fairlead::scheduler::yarn_fair

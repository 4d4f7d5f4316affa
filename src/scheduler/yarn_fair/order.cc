#include "scheduler/yarn_fair/order.h"

#include <algorithm>
#include <array>
#include <span>

#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::yarn_fair {
namespace {

int CompareStartAndName(const Subject& a, const Subject& b) {
  if (a.start_ms != b.start_ms) return a.start_ms < b.start_ms ? -1 : 1;
  return a.name < b.name ? -1 : b.name < a.name;
}

struct NeedyMemory {
  bool needy;
  double ratio;  // usage over min share
};

NeedyMemory FairNeed(const Subject& s) {
  const int64_t min_share = std::min(s.min_share[0], s.demand[0]);
  auto ratio = static_cast<double>(s.used[0]);
  if (min_share > 1) ratio /= static_cast<double>(min_share);
  return {s.used[0] < min_share, ratio};
}

int CompareFairUse(const Subject& a, const Subject& b) {
  const double weight_a = a.weight;
  const double weight_b = b.weight;
  if (weight_a > 0.0 && weight_b > 0.0) {
    return java::Sign(static_cast<double>(a.used[0]) / weight_a - static_cast<double>(b.used[0]) / weight_b);
  }
  if (weight_a == weight_b) return java::Sign(static_cast<double>(a.used[0]) - static_cast<double>(b.used[0]));
  return java::Sign(-weight_a - -weight_b);
}

int CompareFair(const Subject& a, const Subject& b) {
  if (a.demand[0] == 0 && b.demand[0] > 0) return 1;
  if (b.demand[0] == 0 && a.demand[0] > 0) return -1;
  const NeedyMemory need_a = FairNeed(a);
  const NeedyMemory need_b = FairNeed(b);
  if (need_a.needy != need_b.needy) return need_a.needy ? -1 : 1;
  int order = need_a.needy ? java::Sign(need_a.ratio - need_b.ratio) : 0;
  if (order == 0) order = CompareFairUse(a, b);
  return order != 0 ? order : CompareStartAndName(a, b);
}

struct DominantShares {
  std::array<double, 2> share;  // over the weight
  size_t dominant;
};

DominantShares SharesOf(const Subject& s, const Resources& cluster) {
  DominantShares d{};
  for (size_t i = 0; i < 2; ++i) d.share[i] = static_cast<double>(s.used[i]) / static_cast<double>(cluster[i]);
  d.dominant = d.share[1] > d.share[0] ? 1 : 0;
  for (double& share : d.share) share /= static_cast<double>(s.weight);
  return d;
}

double MinRatio(const Subject& s, size_t type) {
  return static_cast<double>(s.used[type]) / static_cast<double>(s.min_share[type]);
}

int CompareDominant(const CompareContext& context, const Subject& a, const Subject& b) {
  const DominantShares x = SharesOf(a, context.cluster);
  const DominantShares y = SharesOf(b, context.cluster);
  const Subject& tested = context.needy_test_uses_first_usage ? a : b;
  const bool needy_a = a.used[x.dominant] < a.min_share[x.dominant];
  const bool needy_b = tested.used[y.dominant] < b.min_share[y.dominant];
  if (needy_a != needy_b) return needy_a ? -1 : 1;
  int order = 0;
  if (needy_a) {
    order = java::Sign(MinRatio(a, x.dominant) - MinRatio(b, y.dominant));
    if (order == 0) order = java::Sign(MinRatio(a, 1 - x.dominant) - MinRatio(b, 1 - y.dominant));
  } else {
    order = java::Sign(x.share[x.dominant] - y.share[y.dominant]);
    if (order == 0) order = java::Sign(x.share[1 - x.dominant] - y.share[1 - y.dominant]);
  }
  return order != 0 ? order : CompareStartAndName(a, b);
}

/// Usage over cluster, that over the weight, usage over min share: of one type, in Java's float.
struct Ratios {
  float cluster;
  float weighted;
  float minimum;
};

size_t RatiosOf(const CompareContext& context, const Subject& s, std::span<Ratios> ratios) {
  size_t largest = 0;
  for (size_t i = 0; i < context.types; ++i) {
    ratios[i].cluster = static_cast<float>(s.used[i]) / static_cast<float>(context.cluster[i]);
    if (ratios[i].cluster > ratios[largest].cluster) largest = i;
    ratios[i].weighted = ratios[i].cluster / s.weight;
    ratios[i].minimum = static_cast<float>(s.used[i]) / static_cast<float>(s.min_share[i]);
  }
  return largest;
}

int CompareDominantOfMany(const CompareContext& context, const Subject& a, const Subject& b) {
  std::array<Ratios, Resources::kMaxTypes> all_a{};
  std::array<Ratios, Resources::kMaxTypes> all_b{};
  const std::span<Ratios> x(all_a.data(), context.types);
  const std::span<Ratios> y(all_b.data(), context.types);
  const size_t dominant_a = RatiosOf(context, a, x);
  const size_t dominant_b = RatiosOf(context, b, y);
  const bool needy_a = a.used[dominant_a] < a.min_share[dominant_a];
  const bool needy_b = b.used[dominant_b] < b.min_share[dominant_b];
  if (needy_a != needy_b) return needy_a ? -1 : 1;
  const auto descending = [](const Ratios& l, const Ratios& r) { return java::Sign(r.cluster - l.cluster); };
  java::SortSmall(x, descending);
  java::SortSmall(y, descending);
  for (size_t i = 0; i < context.types; ++i) {
    const int order = needy_a ? java::Sign(x[i].minimum - y[i].minimum) : java::Sign(x[i].weighted - y[i].weighted);
    if (order != 0) return order;
  }
  return CompareStartAndName(a, b);
}

OrderKey DominantKey(const CompareContext& context, const Subject& s) {
  OrderKey key;
  const DominantShares d = SharesOf(s, context.cluster);
  const bool needy = s.used[d.dominant] < s.min_share[d.dominant];
  key.group = needy ? 0 : 1;
  key.first = needy ? MinRatio(s, d.dominant) : d.share[d.dominant];
  key.second = needy ? MinRatio(s, 1 - d.dominant) : d.share[1 - d.dominant];
  const bool has_min = s.min_share[0] > 0 || s.min_share[1] > 0;
  key.exact = key.first == key.first && key.second == key.second && context.types == 2 &&
              !(context.needy_test_uses_first_usage && has_min);
  if (!key.exact) key.first = key.second = 0;
  return key;
}

OrderKey FairKey(const Subject& s) {
  OrderKey key;
  const NeedyMemory need = FairNeed(s);
  key.group = s.demand[0] == 0 ? 2 : need.needy ? 0 : 1;
  if (need.needy) key.first = need.ratio;
  key.weightless = s.weight > 0.0F ? 0 : 1;
  key.second = static_cast<double>(s.used[0]);
  if (s.weight > 0.0F) key.second /= static_cast<double>(s.weight);
  key.exact = s.weight >= 0.0F && s.demand[0] >= 0;
  return key;
}

}  // namespace

int Compare(const CompareContext& context, const Subject& a, const Subject& b) {
  switch (context.policy) {
    case Policy::kFair:
      return CompareFair(a, b);
    case Policy::kFifo:
      return CompareStartAndName(a, b);
    case Policy::kDrf:
      break;
  }
  return context.types == 2 ? CompareDominant(context, a, b) : CompareDominantOfMany(context, a, b);
}

OrderKey KeyOf(const CompareContext& context, const Subject& subject) {
  OrderKey key;
  if (context.policy == Policy::kFair) key = FairKey(subject);
  if (context.policy == Policy::kDrf) key = DominantKey(context, subject);
  key.start_ms = subject.start_ms;
  key.name = subject.name;
  return key;
}

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "base/state.h"
#include "model/queues.h"
#include "scheduler/hadoop/apps.h"
#include "scheduler/hadoop/asks.h"
#include "scheduler/hadoop/blacklist.h"
#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/hadoop/names.h"
#include "scheduler/hadoop/nodes.h"

namespace fairlead::scheduler::yarn_fair {

namespace java = hadoop::java;
using hadoop::App;
using hadoop::AppIndex;
using hadoop::Asks;
using hadoop::AttemptId;
using hadoop::Blacklist;
using hadoop::ComponentwiseMax;
using hadoop::ComponentwiseMin;
using hadoop::Container;
using hadoop::ContainerSlot;
using hadoop::ContainerState;
using hadoop::KeyLines;
using hadoop::MultiplyDown;
using hadoop::MultiplyUp;
using hadoop::NameId;
using hadoop::Names;
using hadoop::Node;
using hadoop::NodeIndex;
using hadoop::QueueId;
using hadoop::Request;
using hadoop::RequestKey;
using hadoop::SubtractNonNegative;
using hadoop::Taken;
using hadoop::Unbounded;
using model::Resources;

/// SchedulingPolicy of a queue.
using Policy = model::OrderPolicy;
constexpr hadoop::Calculator CalculatorOf(Policy policy) {
  return policy == Policy::kDrf ? hadoop::Calculator::kDominant : hadoop::Calculator::kMemory;
}

/// A name's place in the text order: two numbers for applications, a rank among siblings for queues.
struct NameKey {
  uint64_t first = 0;
  uint64_t second = 0;
  friend auto operator<=>(const NameKey&, const NameKey&) = default;
  FL_STATE(first, second)
};

/// A Schedulable as the comparators see it; its amounts stay where they are.
struct Subject {
  const Resources& used;
  const Resources& demand;
  const Resources& min_share;
  float weight = 1.0F;
  int64_t start_ms = 0;
  NameKey name;
};

/// What a comparator is asked about.
struct CompareContext {
  Policy policy = Policy::kFair;
  Resources cluster;
  size_t types = 2;
  bool needy_test_uses_first_usage = false;
};

/// Comparator of the policy: negative when `a` is served before `b`. FairSharePolicy.FairShareComparator,
/// DominantResourceFairnessPolicy.DominantResourceFairnessComparator2 and ...N, FifoPolicy.FifoComparator. Not always
/// an order (zero weights and NaN under DRF; the 3.3.5 test).
int Compare(const CompareContext& context, const Subject& a, const Subject& b);

/// The comparator as a key, where it is one: equal signs of Compare and of key comparison. `exact` is false where a
/// NaN, more than two types or the 3.3.5 test makes Compare something else than the comparison of keys.
struct OrderKey {
  uint8_t group = 0;  // fair: below min share, others, without demand; drf: below min share, others
  uint8_t weightless = 0;
  bool exact = true;
  double first = 0;
  double second = 0;
  int64_t start_ms = 0;
  NameKey name;
  bool operator<(const OrderKey& other) const {
    if (group != other.group) return group < other.group;
    if (first != other.first) return first < other.first;
    if (weightless != other.weightless) return weightless < other.weightless;
    if (second != other.second) return second < other.second;
    if (start_ms != other.start_ms) return start_ms < other.start_ms;
    return name < other.name;
  }
  FL_STATE(group, weightless, exact, first, second, start_ms, name)
};
OrderKey KeyOf(const CompareContext& context, const Subject& subject);

/// Members in the comparator's order, kept while only few of them change: changed members wait in `dirty` under the
/// key that still places them.
struct Order {
  std::vector<uint32_t> members;
  std::vector<uint32_t> starting;  // of a leaf: those without a master, in the same order; not among `members`
  std::vector<uint32_t> dirty;
  bool built = false;
  uint32_t inexact = 0;  // members whose key is not exact
  FL_STATE(members, starting, dirty, built, inexact)
};

}  // namespace fairlead::scheduler::yarn_fair

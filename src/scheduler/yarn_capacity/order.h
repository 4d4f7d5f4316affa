#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ranges>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/state.h"
#include "model/ids.h"
#include "scheduler/hadoop/ids.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::AttemptId;

/// What an order knows of an application: by it the order holds the application until it is told to look again.
struct Rank {
  bool recovering = false;
  int32_t priority = 0;
  int64_t used_memory = 0;  // cached
  int64_t demand_memory = 0;
  model::ApplicationId app;
  int64_t start = 0;
  FL_STATE(recovering, priority, used_memory, demand_memory, app, start)
};

/// The applications of a leaf in the order in which they are served (FifoOrderingPolicy, FairOrderingPolicy,
/// FifoOrderingPolicyForPendingApps). Of two that compare as equal the later is not kept, as in Java's sets. O(log n).
class AppOrder {
 public:
  enum class Kind : uint8_t { kFifo, kFair, kPending };

  AppOrder() = default;
  AppOrder(Kind kind, bool size_based) : kind_(kind), size_based_(size_based) {}

  Kind kind() const { return kind_; }
  bool size_based() const { return size_based_; }
  size_t size() const { return entries_.size(); }
  bool Has(AttemptId id) const { return ranks_.contains(id); }
  /// It is there, or will be when the order is refreshed.
  bool Knows(AttemptId id) const { return Has(id) || touched_.contains(id); }

  void Add(AttemptId id, const Rank& rank);
  /// Whether it was there. It is not looked at again either.
  bool Remove(AttemptId id);
  /// The application's usage changed: a fair order looks at it again before it is walked next. `demand`: what it asks
  /// for changed, which only a size-based order minds.
  void Touch(AttemptId id, bool demand);
  /// Puts those touched to their new places; `rank` gives their ranks.
  void Refresh(const std::function<Rank(AttemptId)>& rank);

  /// A copy, for loops that change the order.
  std::vector<AttemptId> InOrder() const;
  /// Without one: nothing is added, removed or refreshed meanwhile.
  auto ids() const { return std::views::transform(entries_, &Entry::id); }
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.id);
  }
  /// Compares as the order does: less, equal, greater than 0.
  int Compare(const Rank& a, const Rank& b) const;
  FL_STATE(kind_, size_based_, entries_, ranks_, touched_)

 private:
  struct Entry {
    double magnitude = 0;
    Rank rank;
    AttemptId id;
    uint8_t kind = 0;
    bool operator<(const Entry& other) const { return AppOrder::Less(*this, other); }
    FL_STATE(magnitude, rank, id, kind)
  };
  Entry Make(AttemptId id, const Rank& rank) const;
  static bool Less(const Entry& a, const Entry& b);
  static int CompareEntries(const Entry& a, const Entry& b);

  Kind kind_ = Kind::kFifo;
  bool size_based_ = false;
  std::set<Entry> entries_;
  std::unordered_map<AttemptId, Rank> ranks_;  // of those that are there
  std::set<AttemptId> touched_;
};

}  // namespace fairlead::scheduler::yarn_capacity

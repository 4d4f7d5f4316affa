#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/yarn_fair/order.h"

namespace fairlead::scheduler::yarn_fair {

/// Space on a node that preemption makes for an attempt, as far as it has not been granted yet.
struct Promise {
  AttemptId attempt;
  Resources left;
  FL_STATE(attempt, left)
};

/// Which space is promised to whom (FSSchedulerNode.resourcesPreemptedForApp). A node promises an attempt at most once;
/// whoever is promised something is pinned by the caller. O(promises of the node).
class Promises {
 public:
  /// In order of promise.
  const std::vector<Promise>& of(NodeIndex node) const {
    return node.value < nodes_.size() ? nodes_[node.value].list : kNone;
  }
  Resources total(NodeIndex node) const { return node.value < nodes_.size() ? nodes_[node.value].total : Resources{}; }
  bool IsPromisedTo(NodeIndex node, AttemptId attempt) const;

  /// True: the attempt was promised nothing there before.
  bool Add(NodeIndex node, AttemptId attempt, const Resources& space);
  /// The attempt got a container there. True: nothing is promised to it any more.
  bool Fulfil(NodeIndex node, AttemptId attempt, const Resources& size);
  /// Drops the promises of those for whom `stale` holds, and gives them, in order.
  template <class Stale>
  std::vector<AttemptId> DropIf(NodeIndex node, Stale stale) {
    std::vector<AttemptId> dropped;
    if (of(node).empty()) return dropped;
    OfNode& there = nodes_[node.value];
    std::erase_if(there.list, [&](const Promise& promise) {
      if (!stale(promise.attempt)) return false;
      there.total -= promise.left;
      dropped.push_back(promise.attempt);
      return true;
    });
    return dropped;
  }
  /// The node is gone.
  std::vector<AttemptId> Drop(NodeIndex node) {
    return DropIf(node, [](AttemptId) { return true; });
  }

  std::string Check() const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(nodes_)

 private:
  struct OfNode {
    std::vector<Promise> list;
    Resources total;
    FL_STATE(list, total)
  };
  static const std::vector<Promise> kNone;

  std::vector<OfNode> nodes_;  // by NodeIndex, as far as one has promised something
};

}  // namespace fairlead::scheduler::yarn_fair

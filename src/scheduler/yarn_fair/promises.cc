#include "scheduler/yarn_fair/promises.h"

#include <algorithm>

namespace fairlead::scheduler::yarn_fair {

const std::vector<Promise> Promises::kNone;

bool Promises::IsPromisedTo(NodeIndex node, AttemptId attempt) const {
  const std::vector<Promise>& list = of(node);
  return std::any_of(list.begin(), list.end(), [&](const Promise& promise) { return promise.attempt == attempt; });
}

/// FSSchedulerNode.addContainersForPreemption.
bool Promises::Add(NodeIndex node, AttemptId attempt, const Resources& space) {
  if (nodes_.size() <= node.value) nodes_.resize(node.value + size_t{1});
  OfNode& there = nodes_[node.value];
  there.total += space;
  for (Promise& promise : there.list) {
    if (promise.attempt != attempt) continue;
    promise.left += space;
    return false;
  }
  there.list.push_back({attempt, space});
  return true;
}

/// FSSchedulerNode.allocateContainer.
bool Promises::Fulfil(NodeIndex node, AttemptId attempt, const Resources& size) {
  if (of(node).empty()) return false;
  OfNode& there = nodes_[node.value];
  for (auto it = there.list.begin(); it != there.list.end(); ++it) {
    if (it->attempt != attempt) continue;
    const Resources fulfilled = ComponentwiseMin(it->left, size);
    it->left -= fulfilled;
    there.total -= fulfilled;
    if (!it->left.IsZero()) return false;
    there.list.erase(it);
    return true;
  }
  return false;
}

std::string Promises::Check() const {
  std::string wrong;
  for (const OfNode& node : nodes_) {
    Resources total;
    for (const Promise& promise : node.list) total += promise.left;
    if (total != node.total) wrong += "promised is " + ToString(node.total) + ", counted " + ToString(total) + "\n";
  }
  return wrong;
}

void Promises::Mix(base::StateHasher& hash) const {
  for (const OfNode& node : nodes_) {
    hash.Mix(node.list.size());
    for (const Promise& promise : node.list) {
      hash.Mix(promise.attempt.value);
      hadoop::Mix(hash, promise.left);
    }
  }
}

}  // namespace fairlead::scheduler::yarn_fair

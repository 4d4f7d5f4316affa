#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/state.h"
#include "scheduler/yarn_capacity/queues.h"

namespace fairlead::scheduler::yarn_capacity {

/// Limits of users that passes computed, each until the state of the leaf's users changes
/// (AbstractLeafQueue.getUserLimitCache). O(log leaves).
class UserLimitCache {
 public:
  /// CachedUserLimit: with which reservation the user was found to be at the limit.
  struct Known {
    Resources limit;
    bool may_get = true;
    Resources reservation;
    FL_STATE(limit, may_get, reservation)
  };
  using OfUsers = std::map<std::string, Known>;

  OfUsers& Of(QueueId leaf, uint64_t version, PartitionId partition, bool ignoring) {
    OfLeaf& of_leaf = leaves_[leaf];
    if (of_leaf.version != version) of_leaf = {version, {}};
    return of_leaf.users[{partition, ignoring}];
  }
  void Forget(QueueId leaf) { leaves_.erase(leaf); }
  FL_STATE(leaves_)

 private:
  struct OfLeaf {
    uint64_t version = 0;
    std::map<std::pair<PartitionId, bool>, OfUsers> users;
    FL_STATE(version, users)
  };
  std::map<QueueId, OfLeaf> leaves_;
};

}  // namespace fairlead::scheduler::yarn_capacity

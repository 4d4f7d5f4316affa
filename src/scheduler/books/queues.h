#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/state.h"
#include "model/queues.h"
#include "model/resources.h"
#include "scheduler/books/ids.h"
#include "scheduler/books/limits.h"
#include "scheduler/books/users.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

// Large on purpose: a grant looks at most of it, so it stands side by side.
struct Queue {
  // What every grant and every end touches, side by side.
  QueueId parent;
  bool in_use = false;
  bool leaf = true;
  bool configured = false;
  bool has_low = false;
  bool preemptable = true;
  model::OrderPolicy policy = model::OrderPolicy::kDrf;
  int64_t weight = kWeightOne;
  model::Resources used;
  model::Resources demand;  // used and pending, of runnable applications and of waiting ones
  model::Resources high;    // maximum
  model::Resources low;     // minimum

  std::string name;
  int32_t priority = 0;
  int64_t start_time = 0;  // milliseconds since 1970
  std::vector<QueueId> children;
  std::optional<model::ConfiguredResources> min_setting;
  std::optional<model::ConfiguredResources> max_setting;
  std::optional<model::ConfiguredResources> child_max_setting;  // of children that are not configured
  std::optional<model::ConfiguredResources> container_setting;  // of one container here or below
  int32_t max_running = INT32_MAX;
  int64_t master_share = 500'000;  // millionths of the base; below 0: no limit
  model::Resources master_used;
  int32_t masters = 0;
  int32_t running = 0;
  std::set<AppIndex> waiting;  // applications that may not run yet
  int32_t applications = 0;    // in this leaf, running or not
  int64_t active_weight = 0;   // of children with running applications
  FL_STATE(parent, in_use, leaf, configured, has_low, preemptable, policy, weight, used, demand, high, low, name,
           priority, start_time, children, min_setting, max_setting, child_max_setting, container_setting, max_running,
           master_share, master_used, masters, running, waiting, applications, active_weight)
};

/// Why a queue, the masters' share or a user's maximum refuses.
struct Limit {
  enum class Kind : uint8_t { kFree, kQueueMaximum, kLeafMasters, kClusterMasters, kUserMaximum };
  Kind kind = Kind::kFree;
  QueueId queue;
  UserId user{};  // of kUserMaximum
};

/// What is used, of the amount that makes it a share.
struct Share {
  uint64_t used = 0;
  uint64_t of = 0;
};

/// A queue that came or went.
struct TreeChange {
  QueueId queue;
  QueueId parent;
  bool added = true;
  FL_STATE(queue, parent, added)
};

/// The tree of queues: settings, what is used, wanted and running below each, and the limits that follow. Sums are kept
/// from leaf to root: O(depth) a change. Queues nobody declared are made when an application names them and dropped
/// when the last one leaves.
class Queues {
 public:
  /// `cluster_master_share`: what all masters together may use, in thousandths of the cluster.
  Queues(size_t types, int32_t cluster_master_share, const model::QueueTree& tree);

  const Queue& operator[](QueueId queue) const { return queues_[queue]; }
  Pool<Queue, QueueTag>::Iterator begin() const { return queues_.begin(); }
  Pool<Queue, QueueTag>::Iterator end() const { return queues_.end(); }
  /// One past the largest number.
  size_t size() const { return queues_.size(); }
  /// Not valid when there is none.
  QueueId Find(std::string_view name) const;
  /// The leaf of that name, made (with its parents) when it does not exist; not valid when a leaf stands in the way.
  QueueId LeafFor(const std::string& name);
  void DropIfUnused(QueueId queue);
  /// Queues that came and went since the last call, in order.
  std::vector<TreeChange> TakeChanges() { return std::exchange(changes_, {}); }
  /// Grows with each change of the queues or their settings.
  uint64_t version() const { return version_; }

  /// Settings.
  const model::QueueTree& tree() const { return tree_; }
  /// Whether ApplyTree can be done: no queue with applications would become a parent.
  base::Status CheckReload(const model::QueueTree& tree) const;
  void ApplyTree(const model::QueueTree& tree);
  int32_t UserLimit(const UserName& user) const;
  /// Whether some user or group has a maximum in all queues.
  bool LimitsUsers() const {
    return tree_.user_max_resources_default || !tree_.user_max_resources.empty() || !tree_.group_max_resources.empty();
  }
  /// What the user may use in all queues, of the cluster as it is now; absent: no limit.
  std::optional<model::Resources> UserMaximum(const UserName& user) const;
  /// What one container of the leaf may have: the nearest setting upwards, of the cluster as it is now; absent: no
  /// limit.
  std::optional<model::Resources> ContainerMaximum(QueueId leaf) const;
  /// The cluster has another size: percentages and shares are of that. ResolveLimits follows before the next placing.
  void SetTotal(const model::Resources& total) { total_ = total; }
  void ResolveLimits();

  /// Sums.
  void AddUsage(QueueId leaf, const model::Resources& size);
  void AddDemand(QueueId leaf, const model::Resources& size);
  /// Masters of the leaf: `count` more (less, when it is negative), which use `size` more.
  void AddMasters(QueueId leaf, const model::Resources& size, int32_t count);

  /// Applications, and how many run.
  void Enter(QueueId leaf) { ++queues_[leaf].applications; }
  void Leave(QueueId leaf) { --queues_[leaf].applications; }
  bool MayRun(QueueId leaf) const;
  void Start(QueueId leaf);
  /// True when a queue has no running application any more: the shares for masters grow.
  bool Stop(QueueId leaf);
  void Wait(QueueId leaf, AppIndex app) { queues_[leaf].waiting.insert(app); }
  void StopWaiting(QueueId leaf, AppIndex app) { queues_[leaf].waiting.erase(app); }
  /// Waiting applications below the queue may be able to run now.
  void Reopen(QueueId queue) { reopened_.push_back(queue); }
  bool AnyReopened() const { return !reopened_.empty(); }
  /// Who waits below queues that were reopened since the last call.
  std::vector<const std::set<AppIndex>*> TakeReopened();

  /// Limits.
  Limit FindLimit(QueueId leaf, const model::Resources& size, bool master) const;
  /// One more master of that size is above the leaf's share for masters; the first one never is.
  bool LeafMastersExceed(QueueId leaf, const model::Resources& size) const;
  bool ClusterMastersExceed(const model::Resources& size) const;
  /// What masters of the leaf, or of the cluster (kRoot), may use together.
  model::Resources MasterLimits(QueueId leaf) const;
  /// What those who use the queue may still get: the least that it and the queues above leave of `room`.
  model::Resources Headroom(QueueId leaf, model::Resources room) const;

  /// Shares, for orders.
  Share ShareOf(model::OrderPolicy policy, const model::Resources& used) const;
  /// How much of its minimum the queue has, by the type that is nearest to it; of 0 when it needs no more.
  Share ShareOfMinimum(const Queue& queue) const;

  /// Recomputes weights from running applications; empty when all agree.
  std::string Check() const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(types_, cluster_master_share_, tree_, total_, queues_, by_name_, changes_, reopened_, version_)

 private:
  QueueId Add(const std::string& name, QueueId parent, bool leaf);
  QueueId Declare(const std::string& name);
  void Apply(QueueId queue, const model::QueueConfig* config);
  void ResolveQueue(Queue& queue);
  /// A configured minimum or maximum in amounts of the cluster as it is now.
  model::Resources Resolve(const model::ConfiguredResources& configured) const;
  /// What masters of the leaf may use: its part of the cluster by weight among queues with running applications, times
  /// its maxAMShare, rounded up. O(depth).
  int64_t MasterLimit(QueueId leaf, size_t type) const;
  void GatherWaiting(QueueId queue, std::vector<const std::set<AppIndex>*>& lists) const;

  size_t types_;
  int32_t cluster_master_share_;
  model::QueueTree tree_;
  model::Resources total_;
  Pool<Queue, QueueTag> queues_;
  std::map<std::string, QueueId, std::less<>> by_name_;
  std::vector<TreeChange> changes_;
  std::vector<QueueId> reopened_;
  uint64_t version_ = 0;
};

}  // namespace fairlead::scheduler::native

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/state.h"
#include "model/capacity_queues.h"
#include "scheduler/shared/pool.h"
#include "scheduler/yarn_capacity/order.h"
#include "scheduler/yarn_capacity/shares.h"
#include "scheduler/yarn_capacity/usage.h"
#include "scheduler/yarn_capacity/users.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::QueueId;
using model::CapacityQueueState;

/// What a queue's keys say, with all that it inherits: set whole when the queue is set up.
struct QueueSettings {
  std::set<PartitionId> labels;  // configured for it
  bool any_label = true;         // accessible-node-labels "*"
  std::set<PartitionId> accessible;
  bool has_default_label = false;
  std::string default_label;
  std::map<PartitionId, std::vector<model::CapacityEntry>> minimum;  // capacity vectors; empty: none
  std::map<PartitionId, std::vector<model::CapacityEntry>> maximum;
  bool absolute = false;  // CapacityConfigType.ABSOLUTE_RESOURCE
  Resources maximum_allocation;
  int32_t priority = 0;
  int32_t max_parallel_apps = INT32_MAX;
  bool preemption_disabled = true;
  bool intra_disabled_above = true;  // getIntraQueuePreemptionDisabledInHierarchy
  std::map<std::string, float> user_weights;
  // Of parents.
  bool by_priority = false;  // priority-utilization
  bool allow_zero_sum = false;
  // Of leaves.
  float master_percent = 0;
  float minimum_allocation_factor = 0;
  int32_t default_application_priority = 0;
  std::vector<model::CapacityPriorityGroup> priority_groups;  // the highest first

  bool intra_queue_disabled() const { return intra_disabled_above || preemption_disabled; }
  /// QueueNodeLabelsSettings.isAccessibleToPartition.
  bool Accesses(PartitionId id) const { return any_label || id == kNoLabel || accessible.contains(id); }
  FL_STATE(labels, any_label, accessible, has_default_label, default_label, minimum, maximum, absolute,
           maximum_allocation, priority, max_parallel_apps, preemption_disabled, intra_disabled_above, user_weights,
           by_priority, allow_zero_sum, master_percent, minimum_allocation_factor, default_application_priority,
           priority_groups)
};

/// What only a leaf has.
struct Leaf {
  Users users;
  AppOrder active;
  AppOrder pending{AppOrder::Kind::kPending, false};
  std::vector<AttemptId> runnable;
  std::vector<AttemptId> waiting;  // over a limit of parallel applications
  int32_t max_apps = 0;
  int32_t max_apps_per_user = 0;
  Resources last_cluster;
  Resources pass_limit;      // cachedResourceLimitsForHeadroom
  Resources headroom_limit;  // QueueResourceLimitsInfo
  /// Containers on nodes of a shared partition that were asked for without a label, by partition, by id.
  std::map<PartitionId, std::set<std::pair<model::ContainerId, hadoop::ContainerSlot>>> borrowing;

  int32_t apps() const { return static_cast<int32_t>(pending.size() + active.size() + waiting.size()); }
  FL_STATE(users, active, pending, runnable, waiting, max_apps, max_apps_per_user, last_cluster, pass_limit,
           headroom_limit, borrowing)
};

/// A queue of the tree (CSQueue).
struct Queue {
  static constexpr int64_t kNever = -(int64_t{1} << 60);
  bool in_use = false;
  std::string path;
  std::string name;  // the last part of the path
  QueueId parent;
  bool leaf = false;
  bool dynamic = false;
  bool has_state = false;  // it was set up once
  CapacityQueueState state = CapacityQueueState::kRunning;
  QueueSettings settings;
  Shares shares;
  Usage usage;
  Resources metrics_reserved;           // QueueMetrics: the default partition's
  int64_t last_submission_ms = kNever;  // as it is known to the removal of idle queues
  std::vector<QueueId> children;
  int32_t apps_below = 0;      // of parents
  int32_t runnable_below = 0;  // of parents
  /// Per partition and type: by how much the children's amounts shrink; 0: not.
  std::map<PartitionId, std::vector<float>> min_ratio;
  Leaf own;

  int32_t apps() const { return leaf ? own.apps() : apps_below; }
  int32_t runnable_apps() const { return leaf ? static_cast<int32_t>(own.runnable.size()) : runnable_below; }
  FL_STATE(in_use, path, name, parent, leaf, dynamic, has_state, state, settings, shares, usage, metrics_reserved,
           last_submission_ms, children, apps_below, runnable_below, min_ratio, own)
};

/// Names of queues: full paths, and last parts that only one queue has (CSQueueStore). O(log queues).
class QueueNames {
 public:
  void Add(const Queue& queue, QueueId id);
  void Remove(const Queue& queue);
  /// By full path or by an unambiguous last part; not valid: none.
  QueueId Find(std::string_view name) const;
  QueueId FindPath(std::string_view path) const;
  bool Ambiguous(std::string_view name) const;
  /// In order of their paths.
  const std::map<std::string, QueueId, std::less<>>& paths() const { return paths_; }
  /// The paths in the order of a Java HashMap (CSQueueStore.getFullNameQueues). O(queues log queues).
  std::vector<std::string> InHashOrder() const;
  FL_STATE(paths_, of_name_, most_)

 private:
  std::map<std::string, QueueId, std::less<>> paths_;
  std::map<std::string, std::set<std::string>, std::less<>> of_name_;
  size_t most_ = 0;  // paths at once, ever
};

/// The path of the queue above; empty: none.
std::string PathAbove(const std::string& path);

/// All queues, those of a tree that is being read included.
class Queues {
 public:
  Queue& operator[](QueueId id) { return pool_[id]; }
  const Queue& operator[](QueueId id) const { return pool_[id]; }
  bool Has(QueueId id) const { return id.valid() && pool_.Has(id); }
  QueueId Make(const std::string& path, QueueId parent, bool leaf);
  void Drop(QueueId id) { pool_.Remove(id); }

  QueueId root() const { return root_; }
  void SetRoot(QueueId id) { root_ = id; }
  QueueNames& names() { return names_; }
  const QueueNames& names() const { return names_; }
  QueueId Find(std::string_view name) const { return names_.Find(name); }

  /// The queue and those above it.
  template <class Visit>
  void ForEachUp(QueueId id, Visit visit) {
    for (; id.valid(); id = pool_[id].parent) visit(pool_[id]);
  }
  /// The queue, then those below it, in the order of their lists.
  void ForEachDown(QueueId id, const std::function<void(QueueId)>& visit) const;
  FL_STATE(pool_, root_, names_)

 private:
  Pool<Queue, hadoop::QueueTag> pool_;
  QueueId root_;
  QueueNames names_;
};

}  // namespace fairlead::scheduler::yarn_capacity

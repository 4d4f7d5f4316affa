#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "model/capacity_queues.h"
#include "model/scheduler.h"
#include "scheduler/hadoop/apps.h"
#include "scheduler/hadoop/arithmetic.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/names.h"
#include "scheduler/hadoop/nodes.h"
#include "scheduler/scheduler.h"
#include "scheduler/shared/pool.h"
#include "scheduler/yarn_capacity/child_order.h"
#include "scheduler/yarn_capacity/config.h"
#include "scheduler/yarn_capacity/health.h"
#include "scheduler/yarn_capacity/killable.h"
#include "scheduler/yarn_capacity/parallel.h"
#include "scheduler/yarn_capacity/partitions.h"
#include "scheduler/yarn_capacity/queues.h"
#include "scheduler/yarn_capacity/user_limit_cache.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::AppIndex;
using hadoop::Container;
using hadoop::ContainerState;
using hadoop::KeyLines;
using hadoop::NameId;
using hadoop::Names;
using hadoop::Node;
using hadoop::Request;
using hadoop::RequestKey;

/// What an attempt counts for one request key.
struct KeyCounts {
  int32_t opportunities = 0;           // schedulingOpportunities
  int32_t missed = 0;                  // missedNonPartitionedReqSchedulingOpportunity
  int32_t re_reservations = 0;         // since the last reservation was made or given up
  std::vector<NodeIndex> reserved_on;  // in order of reservation
  uint32_t most_reserved = 0;          // decides the size of the hash table
  FL_STATE(opportunities, missed, re_reservations, reserved_on, most_reserved)
};

/// FiCaSchedulerApp.
struct Attempt : hadoop::AppAttempt {
  bool in_use = false;
  std::string user;
  int32_t priority = 0;
  int64_t start = 0;  // order of starts
  bool runnable = true;
  bool recovering = false;
  PartitionId master_partition = kNoLabel;
  Usage usage;              // masters: what its master is to get, for the whole of its life
  int64_t cached_used = 0;  // memory, as its leaf's order last saw it
  int64_t cached_pending = 0;
  std::map<RequestKey, KeyCounts> counts;
  uint32_t most_live = 0;  // decides the size of the hash table
  uint32_t held = 0;       // containers that name it, those included that only a node holds
  std::set<PartitionId> requested_partitions;
  QueueId headroom_of;                         // whose headroom it is told; not valid: none yet
  uint64_t headroom_user = 0;                  // and the user there (User::born)
  Usage headroom_usage;                        // of that user, if the leaf has forgotten it since
  std::vector<model::ContainerId> to_preempt;  // marked since the last allocate call
  Resources unconfirmed;                       // proposed and not yet decided
  std::vector<QueueId> moved_from;
  FL_STATE(blacklist, queue, stopped, master, asks, app, number, start_ms, used, live, numbers, reserved_nodes,
           reserved, in_use, user, priority, start, runnable, recovering, master_partition, usage, cached_used,
           cached_pending, counts, most_live, held, requested_partitions, headroom_of, headroom_user, headroom_usage,
           to_preempt, unconfirmed, moved_from)
};

/// What an application's master is to get, as the submission said it.
struct MasterAsk {
  Resources size;
  PartitionId partition = kNoLabel;
  FL_STATE(size, partition)
};

/// When containers were marked for preemption, which reservations were moved, and which dynamic queues were found idle
/// once.
struct Rounds {
  std::map<model::ContainerId, int64_t> marked_ms;
  std::set<model::ContainerId> moved;
  std::set<std::string> idle_queues;
  FL_STATE(marked_ms, moved, idle_queues)
};

/// Which leaves of managed parents have the template's share, by partition, and when that is looked at again.
struct ManagedLeaves {
  std::map<std::string, std::set<PartitionId>> entitled;  // by path
  int64_t due_ms = INT64_MAX;
  FL_STATE(entitled, due_ms)
};

/// When the next pass of asynchronous scheduling is due, and how many there were: the start node is drawn from that.
struct ProposalPasses {
  int64_t due_ms = INT64_MAX;  // none: nothing is asked for
  int64_t pause_ms = 0;
  uint64_t count = 0;
  FL_STATE(due_ms, pause_ms, count)
};

/// Everything that the profile knows: Hadoop's half in parts of scheduler/hadoop, CapacityScheduler's own parts, and
/// the effects of the running step. Plain values that name each other by number, so a fork is a copy.
// Large on purpose: one field for each part.
struct Books {
  YarnCapacityConfig config;
  Arithmetic calc;
  bool file_asynchronous = false;  // schedule-asynchronously.enable, read once
  bool legacy_at_start = true;     // CapacitySchedulerQueueCapacityHandler reads the key once
  EffectSink* out = nullptr;
  PassRecords* records = nullptr;  // of the running step
  Health health;

  int64_t now_ms = 0;
  model::CapacityQueues file;  // in force
  /// Labels that dynamic queues took from their parents' templates (ConfiguredNodeLabels).
  std::map<std::string, std::set<std::string>> labels_of_path;
  /// By path: what dynamic queues that are gone had of templates. It stays in the configuration in force, for another
  /// of the same path (AutoCreatedQueueTemplate.setTemplateEntriesForChild).
  std::map<std::string, model::CapacityQueueSettings> left_keys;
  Names names;
  hadoop::Containers containers;
  hadoop::Nodes nodes;
  hadoop::Apps apps;
  std::vector<int32_t> app_priority;          // by AppIndex: of the submission
  std::map<uint32_t, MasterAsk> master_asks;  // by AppIndex
  Pool<Attempt, hadoop::AttemptTag> attempts;
  int64_t starts = 0;
  Partitions partitions;
  Queues queues;
  ChildOrders orders;
  UserLimitCache user_limits;
  ParallelApps parallel;
  Killable killable;
  /// Labels that containers were asked for with, where it is not that of their node.
  std::map<model::ContainerId, PartitionId> asked_labels;
  /// Containers that know their leaf by a name that was that of several queues when they came (RMContainerImpl's
  /// queue).
  std::set<model::ContainerId> named_ambiguously;
  Rounds rounds;
  ProposalPasses passes;
  ManagedLeaves managed;
  std::vector<std::pair<AttemptId, ContainerSlot>> new_masters;  // of the running event
  int64_t preempt_due_ms = INT64_MAX;
  int64_t queue_check_due_ms = INT64_MAX;

  template <class Effect>
  void Emit(Effect&& effect) {
    out->emplace_back(std::forward<Effect>(effect));
  }
  const Resources& cluster() const { return nodes.total(); }
  const Resources& minimum() const { return config.minimum_allocation; }
  LimitBasis BasisOf(const Queue& leaf) const {
    return {calc, partitions, leaf.shares, config.minimum_allocation, config.quirks};
  }
  FL_STATE_PART(now_ms, file, labels_of_path, left_keys, names, containers, nodes, apps, app_priority, master_asks,
                attempts, starts, partitions, queues, user_limits, parallel, killable, asked_labels, named_ambiguously,
                rounds, passes, managed, new_masters, preempt_due_ms, queue_check_due_ms)
};

/// The label that a container was asked for with (RMContainer.getNodeLabelExpression).
inline PartitionId AskedLabel(const Books& books, const Container& container) {
  const auto asked = books.asked_labels.find(container.id);
  return asked == books.asked_labels.end() ? books.partitions.OfNode(container.node) : asked->second;
}
/// Remembers a container that was granted, reserved or that ended (SchedulerHealth).
void Note(const Books& books, NodeIndex node, QueueId leaf, const std::optional<model::ContainerId>& container,
          Health::Last& last);
/// Refuses the call.
void Refuse(Books& books, uint64_t token, model::Refusal why, std::vector<std::string> names = {});

}  // namespace fairlead::scheduler::yarn_capacity

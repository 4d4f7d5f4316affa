#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "model/scheduler.h"
#include "scheduler/hadoop/apps.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/names.h"
#include "scheduler/hadoop/nodes.h"
#include "scheduler/scheduler.h"
#include "scheduler/shared/pool.h"
#include "scheduler/yarn_fair/config.h"
#include "scheduler/yarn_fair/promises.h"
#include "scheduler/yarn_fair/state.h"
#include "scheduler/yarn_fair/users.h"

namespace fairlead::scheduler::yarn_fair {

/// Everything that the profile knows: Hadoop's half in parts of scheduler/hadoop, FairScheduler's own tables, and the
/// effects of the running step. Plain values that name each other by number, so a fork is a copy. One file a subject
/// changes them: Core takes the events to it.
struct Books {
  YarnFairConfig config;
  struct {
    size_t types = 0;               // of resources
    bool locality_matters = false;  // otherwise any level is allowed at once, and nothing is counted
    Resources reservation_threshold;
  } fixed;
  EffectSink* out = nullptr;
  int64_t now_ms = 0;

  Names names;
  hadoop::Containers containers;
  hadoop::Nodes nodes;
  hadoop::Apps apps;
  Pool<Attempt, hadoop::AttemptTag> attempts;
  Promises promises;
  Settings settings;
  Pool<Queue, hadoop::QueueTag> queues;  // removed ones, too: stopped attempts may still name them
  struct {
    std::map<std::string, QueueId> ids;  // by full name
    std::vector<QueueId> leaves;         // in order of creation
    std::vector<PendingConversion> conversions;
    std::map<std::string, AccessLists> acls;
    mutable bool steady_dirty = false;
    /// While a file of queues is applied: parents whose children are ranked at its end, once.
    std::optional<std::set<QueueId>> unranked;
  } tree;
  struct {
    std::vector<OrderKey> queues;    // under which the parent's order holds a queue
    std::vector<OrderKey> attempts;  // under which the leaf's order holds an attempt
  } keys;
  Users users;
  struct {
    Resources allocated;
    Resources available;  // as old as its last update
  } totals;
  struct {
    java::PriorityQueue<AttemptId> starved;
    std::vector<KillTask> kills;  // in order of time
  } preemption;
  std::vector<std::pair<AttemptId, ContainerSlot>> new_masters;  // of the running event
  struct {
    int64_t update_ms = kNever;
    int64_t continuous_ms = kNever;
    int64_t queue_check_ms = kNever;
  } due;

  template <class Effect>
  void Emit(Effect&& effect) {
    out->emplace_back(std::forward<Effect>(effect));
  }
  void MarkSteady() { tree.steady_dirty = true; }
  void UpdateAvailable() { totals.available = nodes.total() - totals.allocated; }
  const Resources& FairShareOf(const Attempt& attempt) const {
    return attempt.alike ? queues[attempt.queue].app_share : attempt.fair_share;
  }
  template <class Visit>
  void ForEachUp(QueueId id, Visit visit) {
    for (; id.valid(); id = queues[id].parent) visit(queues[id]);
  }
  FL_STATE_PART(now_ms, names, containers, nodes, apps, attempts, promises, settings, queues, tree.ids, tree.leaves,
                tree.conversions, tree.acls, tree.steady_dirty, keys.queues, keys.attempts, users, totals.allocated,
                totals.available, preemption.starved, preemption.kills, new_masters, due.update_ms, due.continuous_ms,
                due.queue_check_ms)
};

/// Refuses the call.
void Refuse(Books& books, uint64_t token, model::Refusal why, std::vector<std::string> names = {});

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/state.h"
#include "model/queues.h"
#include "scheduler/yarn_fair/order.h"

// The tables of the yarn-fair profile: plain values that point at each other by position, so a fork is a copy.

namespace fairlead::scheduler::yarn_fair {

inline constexpr QueueId kRoot{0};
inline constexpr int64_t kNever = INT64_MAX;
__extension__ using Wide = __int128;  // sums of amounts that may each be as large as int64 allows

/// ConfigurableResource: an amount, or shares of the cluster.
struct Limit {
  bool percent = false;
  Resources amount;
  std::array<double, Resources::kMaxTypes> share{};  // 1.0 is the whole cluster

  Resources Of(const Resources& cluster) const;
  FL_STATE(percent, amount, share)
};

/// FSQueue, FSParentQueue and FSLeafQueue. Its many fields stand in one struct, as an offer or a grant goes through all
/// of them at once: what every offer looks at lies side by side.
// Large on purpose: see above.
struct Queue {
  bool in_use = false;
  // What every offer looks at, side by side.
  uint32_t offerable = 0;  // applications with pending demand in the leaves below
  bool leaf = true;
  bool unlimited = true;   // max_share is none
  bool key_dirty = false;  // waits in the parent's order.dirty
  bool in_order = false;
  Policy policy = Policy::kFair;
  float max_am_share = 0.5F;
  Order order;  // of children, or of runnable applications with pending demand
  Resources used;
  Resources max_share;
  Resources am_used;
  bool bounded = false;   // an offer of a node in which least_ask does not fit is in vain
  Resources least_ask;    // no application below that is offered nodes asks for less, type by type
  Resources least_start;  // leaf: no application in order.starting asks for less,
  Resources most_start;   // nor for more
  Resources fair_share;

  std::string name;
  QueueId parent;
  bool alive = true;
  bool dynamic = true;
  std::vector<QueueId> children;    // in order of creation
  std::vector<AttemptId> runnable;  // leaf, in order of arrival
  std::vector<AttemptId> waiting;   // leaf
  int32_t runnable_below = 0;       // parent: runnable applications of all leaves below
  std::set<AppIndex> assigned;      // applications without an attempt yet

  float weight = 1.0F;
  Limit min_limit;
  Limit max_limit;
  std::optional<Limit> max_child_limit;
  Resources min_share;  // of the present cluster, as max_share
  std::optional<Resources> max_container;
  int32_t max_running = INT32_MAX;
  int64_t min_share_timeout = kNever;   // ms
  int64_t fair_share_timeout = kNever;  // ms
  float fair_share_threshold = 0.5F;
  bool preemptable = true;

  Resources demand;
  std::array<Wide, Resources::kMaxTypes> demand_sum{};  // leaf: of its applications, as of their last count
  std::vector<AttemptId> demand_changed;                // leaf: applications whose demand is to be counted again
  Resources app_share;                                  // leaf: the fair share of each application that is `alike`
  std::vector<AttemptId> own_shares;                    // leaf: runnable applications that are not
  mutable Resources steady_share;                       // computed when looked at
  int64_t last_at_min_share = 0;                        // ms

  uint32_t name_rank = 0;  // among its siblings
  bool demand_dirty = true;
  bool shares_dirty = true;  // what the members' fair shares are made of has changed

  int32_t NumRunnable() const { return leaf ? static_cast<int32_t>(runnable.size()) : runnable_below; }
  FL_STATE(in_use, offerable, leaf, unlimited, key_dirty, in_order, policy, max_am_share, order, used, max_share,
           am_used, bounded, least_ask, least_start, most_start, fair_share, name, parent, alive, dynamic, children,
           runnable, waiting, runnable_below, assigned, weight, min_limit, max_limit, max_child_limit, min_share,
           max_container, max_running, min_share_timeout, fair_share_timeout, fair_share_threshold, preemptable, demand,
           demand_sum, demand_changed, app_share, own_shares, steady_share, last_at_min_share, name_rank, demand_dirty,
           shares_dirty)
};

/// Locality state of a request key (SchedulerApplicationAttempt, FSAppAttempt); outlives the key's asks.
struct KeyState {
  RequestKey key;
  int64_t opportunities = 0;
  int64_t last_ms = 0;
  bool has_last = false;
  bool has_allowed = false;
  model::Locality allowed = model::Locality::kNodeLocal;
  FL_STATE(key, opportunities, last_ms, has_last, has_allowed, allowed)
};

/// FSAppAttempt: its own half, in one struct for the same reason.
// Large on purpose: see Queue.
struct Attempt : hadoop::AppAttempt {
  bool in_use = false;
  bool runnable = false;
  bool am_preemptable = true;
  uint32_t pins = 0;  // starved queue and promises that still name it
  NameKey name;

  Resources demand;
  Resources fair_share;  // see Books::FairShareOf
  Resources fair_starvation;
  Resources min_starvation;
  Resources to_be_preempted;
  int64_t last_at_fair_share = 0;
  int64_t next_starvation_check = 0;
  float weight = 1.0F;

  std::vector<KeyState> key_states;
  std::vector<NodeIndex> blacklisted_nodes;  // as the last headroom saw them
  bool in_starved_queue = false;

  bool offerable = false;  // may run and has pending demand as of the last update pass
  bool key_dirty = false;
  bool in_order = false;
  bool in_starting = false;     // in order.starting, rather than among the members
  bool demand_changed = false;  // in its leaf's list of those
  bool alike = false;           // its fair share is its leaf's app_share, not its own
  FL_STATE(blacklist, queue, stopped, master, asks, app, number, start_ms, used, live, numbers, reserved_nodes,
           reserved, in_use, runnable, am_preemptable, pins, name, demand, fair_share, fair_starvation, min_starvation,
           to_be_preempted, last_at_fair_share, next_starvation_check, weight, key_states, blacklisted_nodes,
           in_starved_queue, offerable, key_dirty, in_order, in_starting, demand_changed, alike)
};

inline Resources Starvation(const Attempt& attempt) { return attempt.fair_starvation + attempt.min_starvation; }

enum class QueueKind : uint8_t { kLeaf, kParent };
struct PendingConversion {
  std::string queue;
  QueueKind kind;
  FL_STATE(queue, kind)
};
struct AccessLists {
  model::AccessList submit;
  model::AccessList administer;
  FL_STATE(submit, administer)
};
struct KillTask {
  int64_t at_ms;
  std::vector<model::ContainerId> victims;
  FL_STATE(at_ms, victims)
};

/// Application limits, defaults, rules: AllocationConfiguration.
struct Settings {
  std::map<std::string, model::QueueConfig> queues;  // by full name
  std::vector<std::string> leaf_order;               // configured leaves and parents in Java's HashSet order
  std::vector<std::string> parent_order;
  std::set<std::string> configured;
  std::map<std::string, int32_t> user_max_apps;
  int32_t user_max_apps_default = INT32_MAX;
  int32_t queue_max_apps_default = INT32_MAX;
  Limit queue_max_default{false, Unbounded(), {}};
  float queue_max_am_share_default = 0.5F;
  int64_t root_min_share_timeout = kNever;
  int64_t root_fair_share_timeout = kNever;
  float root_fair_share_threshold = 0.5F;
  Policy default_policy = Policy::kFair;
  std::vector<model::PlacementRule> rules;
  FL_STATE(queues, leaf_order, parent_order, configured, user_max_apps, user_max_apps_default, queue_max_apps_default,
           queue_max_default, queue_max_am_share_default, root_min_share_timeout, root_fair_share_timeout,
           root_fair_share_threshold, default_policy, rules)
};

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/queues.h"
#include "scheduler/hadoop/asks.h"
#include "scheduler/hadoop/calculator.h"
#include "scheduler/yarn_fair/order.h"

// The tables of the yarn-fair profile: plain values that point at each other by position, so a fork is a copy.

namespace fairlead::scheduler::yarn_fair {

using QueueId = uint32_t;
using AttemptId = uint32_t;
using ContainerSlot = uint32_t;
inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr int64_t kNever = INT64_MAX;
__extension__ using Wide = __int128;  // sums of amounts that may each be as large as int64 allows

/// ConfigurableResource: an amount, or shares of the cluster.
struct Limit {
  bool percent = false;
  Resources amount;
  std::array<double, Resources::kMaxTypes> share{};  // 1.0 is the whole cluster

  Resources Of(const Resources& cluster) const;
};

struct Queue {
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
  QueueId parent = kNone;
  bool alive = true;
  bool dynamic = true;
  std::vector<QueueId> children;    // in order of creation
  std::vector<AttemptId> runnable;  // leaf, in order of arrival
  std::vector<AttemptId> waiting;   // leaf
  int32_t runnable_below = 0;       // parent: runnable applications of all leaves below
  std::set<uint32_t> assigned;      // applications without an attempt yet

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
  std::vector<AttemptId> demand_changed;                // leaf: applications whose demand is to be counted anew
  Resources app_share;                                  // leaf: the fair share of each application that is `alike`
  std::vector<AttemptId> own_shares;                    // leaf: runnable applications that are not
  mutable Resources steady_share;                       // computed when looked at
  int64_t last_at_min_share = 0;                        // ms

  uint32_t name_rank = 0;  // among its siblings
  bool demand_dirty = true;
  bool shares_dirty = true;  // what the members' fair shares are made of has changed

  int32_t NumRunnable() const { return leaf ? static_cast<int32_t>(runnable.size()) : runnable_below; }
};

/// Locality state of a request key (SchedulerApplicationAttempt, FSAppAttempt); outlives the key's asks.
struct KeyState {
  RequestKey key;
  int64_t opportunities = 0;
  int64_t last_ms = 0;
  bool has_last = false;
  bool has_allowed = false;
  model::Locality allowed = model::Locality::kNodeLocal;
};

/// FSAppAttempt.
struct Attempt {
  // What every offer looks at, side by side.
  Blacklist blacklist;
  QueueId queue = kNone;
  bool runnable = false;
  bool stopped = false;
  bool unmanaged = false;
  bool am_running = false;
  bool master_known = false;  // its master's container has been granted, seen from the next event on
  bool am_preemptable = true;
  Asks asks;

  uint32_t app = kNone;
  int32_t number = 0;
  uint32_t pins = 0;  // starved queue and promises that still name it
  bool in_use = false;
  int64_t start_ms = 0;
  NameKey name;

  Resources demand;
  Resources used;
  Resources fair_share;  // see Core::FairShareOf
  Resources reserved;
  Resources am_resource;
  Resources fair_starvation;
  Resources min_starvation;
  Resources to_be_preempted;
  int64_t last_at_fair_share = 0;
  int64_t next_starvation_check = 0;
  float weight = 1.0F;

  std::vector<KeyState> key_states;
  int64_t number_base = 0;  // container ids start above: the epoch of the resource manager
  int64_t next_container = 1;
  std::vector<ContainerSlot> by_number;        // container number - base - 1 -> slot while live or reserved
  std::map<int64_t, ContainerSlot> recovered;  // the same for numbers of earlier epochs
  ContainerSlot first_live = kNone;
  ContainerSlot last_live = kNone;
  int32_t live_count = 0;
  std::vector<uint32_t> reserved_nodes;     // nodes, in order of reservation
  std::vector<uint32_t> blacklisted_nodes;  // as the last headroom saw them
  bool in_starved_queue = false;

  bool offerable = false;  // may run and has pending demand as of the last update pass
  bool key_dirty = false;
  bool in_order = false;
  bool in_starting = false;     // in order.starting, rather than among the members
  bool demand_changed = false;  // in its leaf's list of those
  bool alike = false;           // its fair share is its leaf's app_share, not its own

  /// Its next container is its master's.
  bool Starts() const { return !am_running && !unmanaged; }
  Blacklist::Of BlacklistNow() const {
    return !unmanaged && !master_known ? Blacklist::Of::kSystem : Blacklist::Of::kMaster;
  }
};

struct App {
  bool alive = false;
  model::ApplicationId id;
  std::string user;
  std::vector<std::string> groups;
  QueueId queue = kNone;
  bool unmanaged = false;
  AttemptId current = kNone;
};

enum class ContainerState : uint8_t { kFree, kReserved, kAllocated, kAcquired, kRunning, kEnded };

/// RMContainer and its place in FSSchedulerNode.launchedContainers.
struct Container {
  ContainerState state = ContainerState::kFree;
  bool on_node = false;
  bool launched_on_node = false;  // the node reported it: it holds the node until the node reports its end
  bool is_master = false;
  bool marked = false;     // to be preempted (FSAppAttempt)
  bool set_apart = false;  // to be preempted (FSSchedulerNode)
  bool live = false;       // in its attempt's list
  AttemptId attempt = kNone;
  uint32_t app = kNone;
  int32_t attempt_number = 0;
  int64_t value = 0;  // container id without the attempt
  uint32_t node = kNone;
  RequestKey key;
  Resources resources;
  uint32_t taken = kNone;  // what it took from the asks: until picked up it is given back with the grant
  ContainerSlot next_on_node = kNone;
  ContainerSlot previous_on_node = kNone;
  ContainerSlot next_live = kNone;
  ContainerSlot previous_live = kNone;
};

/// FSSchedulerNode.
struct Node {
  bool alive = false;
  bool schedulable = true;
  NameId host = Names::kAny;  // its name: host, or host:port
  NameId rack = Names::kAny;
  int32_t java_hash = 0;  // of its NodeId
  uint64_t sequence = 0;  // of its insertion into the node map
  Resources total;
  Resources allocated;
  Resources unallocated;
  ContainerSlot first = kNone;  // containers in order of insertion
  ContainerSlot last = kNone;
  uint32_t container_count = 0;
  uint32_t most_containers = 0;  // decides the size of the hash table
  ContainerSlot reserved = kNone;
  struct Promise {
    AttemptId attempt;
    Resources left;
  };
  std::vector<Promise> promises;  // preempted space, in order of promise
  Resources total_promised;
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
};

}  // namespace fairlead::scheduler::yarn_fair

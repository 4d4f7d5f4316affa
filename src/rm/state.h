#pragma once

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/state.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/queues.h"
#include "model/rm.h"
#include "rm/container_table.h"
#include "rm/node_set.h"
#include "rm/owned.h"
#include "rm/running_containers.h"

// The tables of the rm core. Plain data; the rules are in the other files of this folder. A cluster has thousands of
// masters and nodes that mostly say nothing: what is rare stands behind a pointer, and small sets are flat.

namespace fairlead::rm {

/// What the core must know of the configuration; names of keys are Hadoop's (yarn-default.xml).
// Large on purpose: one field for each key that the core reads.
struct Config {
  int32_t max_attempts = 2;                                     // yarn.resourcemanager.am.max-attempts
  int32_t global_max_attempts = 2;                              // yarn.resourcemanager.am.global.max-attempts
  base::Duration master_expiry = base::Duration::Seconds(600);  // yarn.am.liveness-monitor.expiry-interval-ms
  base::Duration node_expiry = base::Duration::Seconds(600);    // yarn.nm.liveness-monitor.expiry-interval-ms
  base::Duration grant_expiry =
      base::Duration::Seconds(600);  // yarn.resourcemanager.rm.container-allocation.expiry-interval-ms
  base::Duration store_retry = base::Duration::Seconds(1);     // between tries to store a final state
  model::Resources minimum = model::Resources::Of(1024, 1);    // yarn.scheduler.minimum-allocation-*
  model::Resources maximum = model::Resources::Of(8192, 4);    // yarn.scheduler.maximum-allocation-*
  model::Resources increment = model::Resources::Of(1024, 1);  // yarn.resource-types.*.increment-allocation
  int32_t max_completed_apps = 1000;                           // yarn.resourcemanager.max-completed-applications
  int32_t max_stored_apps = 1000;    // yarn.resourcemanager.state-store.max-completed-applications
  int32_t max_priority = INT32_MAX;  // yarn.cluster.max-application-priority
  bool node_labels = false;          // yarn.node-labels.enabled
  std::string master_label;          // yarn.resourcemanager.node-labels.am.default-node-label-expression
  bool keep_work = true;             // yarn.resourcemanager.work-preserving-recovery.enabled
  base::Duration configured_maximum_for = base::Duration::Seconds(10);  // ...scheduling-wait-ms
  int32_t diagnostics_limit = 64 * 1024;                                // yarn.app.attempt.diagnostics.limit.kc
  bool log_aggregation = false;                                         // yarn.log-aggregation-enable
  std::string web_base;                                                 // "http://host:8088"
  std::string proxy_base;                  // of masters' pages when they have a port of their own; empty: web_base
  bool acls = false;                       // yarn.acl.enable
  model::QueueTree queues;                 // the scheduler's; others read Context::queues
  std::vector<std::string> include_hosts;  // yarn.resourcemanager.nodes.include-path
  std::vector<std::string> exclude_hosts;
  const std::string& ProxyBase() const { return proxy_base.empty() ? web_base : proxy_base; }
};

inline std::vector<const Container*> InOrder(const ContainerTable& containers) {
  std::vector<const Container*> sorted;
  sorted.reserve(containers.size());
  containers.ForEach([&](const Container& container) { sorted.push_back(&container); });
  std::sort(sorted.begin(), sorted.end(), [](const Container* a, const Container* b) { return a->id < b->id; });
  return sorted;
}

/// Answers to masters and nodes are numbered round and round, never below 0 (getNextResponseId of
/// ApplicationMasterService and ResourceTrackerService).
inline int32_t NextResponseId(int32_t id) { return static_cast<int32_t>((static_cast<uint32_t>(id) + 1) & INT32_MAX); }

/// What an unregistering master left behind, until it is stored.
struct Unregistration {
  model::rm::FinalStatus status = model::rm::FinalStatus::kUndefined;
  std::string diagnostics;
  std::string tracking_url;
  FL_STATE(status, diagnostics, tracking_url)
};

/// The end of a container, before its master is told. Whether its node remembers it stands with the end itself wherever
/// that is (Container, UntoldEnd, ToldEnd), not in a set at the node through which every container would have to pass.
struct UntoldEnd {
  model::rm::ContainerEnd end;
  model::NodeIndex remembered_by;  // who reported it and is still to be told to forget it; invalid: nobody
  FL_FIELDS(end, remembered_by)
};

/// One that the master's next call acknowledges.
struct ToldEnd {
  model::ContainerId id;
  model::NodeIndex remembered_by;
  FL_FIELDS(id, remembered_by)
};

// Large on purpose: one record a master; each call touches its first cache lines alone.
struct Attempt {
  // What every call and every end of a container touches, side by side.
  model::ApplicationAttemptId id;
  model::rm::AttemptState state = model::rm::AttemptState::kNew;
  bool known = false;        // the service answers calls of this attempt
  bool master_gone = false;  // the master's container ended while the final state was being stored
  int32_t response_id = -1;
  int32_t containers_allocated = 0;
  int32_t containers_preempted = 0;
  std::vector<model::ContainerId> granted;  // not yet told
  std::vector<UntoldEnd> just_finished;
  std::vector<ToldEnd> told;
  // Totals over ended containers, for reports.
  int64_t memory_ms = 0;
  int64_t vcore_ms = 0;
  boost::container::flat_set<model::ContainerId> preempt_strict;
  boost::container::flat_set<model::ContainerId> preempt_contract;
  model::rm::ContainerInfo master;               // id.value 0: none
  NodeSet token_nodes;                           // NM tokens sent
  Owned<model::rm::AllocateAnswer> last_answer;  // null: it told nothing but the headroom
  base::Instant last_seen;
  model::Resources headroom;  // last told

  model::rm::AttemptState state_before_saving = model::rm::AttemptState::kNew;
  model::rm::AttemptState target = model::rm::AttemptState::kNew;  // after FINAL_SAVING
  model::rm::FinalStatus final_status = model::rm::FinalStatus::kUndefined;
  std::string pending_diagnostics;  // become visible when the final state is stored
  std::string kill_diagnostics;
  Owned<Unregistration> unregistration;
  std::string host = "N/A";
  int32_t rpc_port = -1;
  std::string original_url = "N/A";
  std::string proxied_url;
  float progress = 0;
  std::string diagnostics;
  int32_t exit_status = model::kExitInvalid;
  base::WallTime started;
  base::WallTime finished;
  int64_t preempted_memory_ms = 0;
  int64_t preempted_vcore_ms = 0;
  std::vector<model::rm::UpdatedContainer> updated;
  std::vector<model::rm::UpdateError> update_errors;
  std::vector<model::rm::ContainerInfo> recovered;  // of earlier attempts, learnt after registration
  FL_STATE(id, state, known, master_gone, response_id, containers_allocated, containers_preempted, granted,
           just_finished, told, memory_ms, vcore_ms, preempt_strict, preempt_contract, master, token_nodes, last_answer,
           last_seen, headroom, state_before_saving, target, final_status, pending_diagnostics, kill_diagnostics,
           unregistration, host, rpc_port, original_url, proxied_url, progress, diagnostics, exit_status, started,
           finished, preempted_memory_ms, preempted_vcore_ms, updated, update_errors, recovered)
};

// What the scheduler was asked and has not answered, by the call's token. It answers within the step.

/// AppAdded.
struct PlacementAsked {
  model::AppIndex app;
  bool recovered = false;
};
/// Allocate for the container of a master.
struct MasterAsked {
  model::AppIndex app;
  int32_t attempt = 0;
};
/// Allocate for a master's call, whose updates of containers are asked for once it is accepted.
struct AllocateAsked {
  model::AppIndex app;
  int32_t attempt = 0;
  std::vector<model::rm::ContainerUpdate> updates;
  size_t resizes = 0;  // not yet answered
  model::Resources headroom;
  int32_t cluster_nodes = 0;
};
/// ContainerResized for `update` of that allocate call.
struct ResizeAsked {
  model::rm::CallToken call = 0;
  model::rm::ContainerUpdate update;
};
struct MoveAsked {
  model::AppIndex app;
};
struct PriorityAsked {
  model::AppIndex app;
  int32_t priority = 0;
};
struct ReloadAsked {
  model::rm::CallToken call = 0;
  model::QueueTree queues;
};
using Asked =
    std::variant<PlacementAsked, MasterAsked, AllocateAsked, ResizeAsked, MoveAsked, PriorityAsked, ReloadAsked>;

/// What a call about an application waits for.
enum class WaitsFor : uint8_t { kSubmitted, kKilled, kUnregistered };

// Large on purpose: one record an application, ordered by how often its fields are touched.
struct App {
  // What every end of a container touches, side by side.
  model::AppIndex index;
  bool alive = false;    // false: evicted or refused, the slot is dead
  bool touched = false;  // AppTable's; nothing is decided by it
  model::rm::AppState state = model::rm::AppState::kNew;
  bool in_scheduler = false;
  bool in_store = false;
  ContainerTable containers;  // live ones
  std::map<int32_t, Attempt> attempts;
  boost::container::flat_set<model::NodeIndex> ran_on;
  boost::container::flat_map<model::ContainerId, model::Resources> reservations;
  model::rm::Submission submission;

  model::rm::AppState state_before_saving = model::rm::AppState::kNew;
  model::rm::AppState state_before_killing = model::rm::AppState::kNew;
  model::rm::AppState target = model::rm::AppState::kNew;  // after FINAL_SAVING
  int32_t max_attempts = 2;
  int32_t next_attempt = 1;
  std::string pending_diagnostics;
  std::string diagnostics;
  base::WallTime submitted;
  base::WallTime started;
  base::WallTime launched;
  base::WallTime finished;
  base::WallTime expires;  // of the lifetime; 0: none
  base::Instant deadline = base::Instant::Max();
  std::vector<model::Ask> master_asks;  // normalized
  /// Containers of an earlier run that ended in this one; null: none. No flat set: a large application has many, and
  /// they end in any order.
  Owned<std::set<model::ContainerId>> ended_recovered;
  boost::container::flat_map<model::NodeIndex, model::rm::NodeChange> node_changes;  // not yet told
  std::vector<std::pair<WaitsFor, model::rm::CallToken>> waiting_calls;

  /// The calls that wait for it, which no longer do.
  std::vector<model::rm::CallToken> TakeWaiting(WaitsFor what) {
    std::vector<model::rm::CallToken> calls;
    std::erase_if(waiting_calls, [&](const auto& waiting) {
      if (waiting.first == what) calls.push_back(waiting.second);
      return waiting.first == what;
    });
    return calls;
  }
  void RememberEndedRecovered(const model::ContainerId& id) {
    if (!ended_recovered) ended_recovered = std::make_unique<std::set<model::ContainerId>>();
    ended_recovered->insert(id);
  }
  /// The last attempt; null when there is none.
  Attempt* current() { return const_cast<Attempt*>(std::as_const(*this).current()); }
  const Attempt* current() const { return attempts.empty() ? nullptr : &attempts.rbegin()->second; }
  FL_STATE(index, alive, touched, state, in_scheduler, in_store, containers, attempts, ran_on, reservations, submission,
           state_before_saving, state_before_killing, target, max_attempts, next_attempt, pending_diagnostics,
           diagnostics, submitted, started, launched, finished, expires, deadline, master_asks, ended_recovered,
           node_changes, waiting_calls)
};

// Large on purpose: one record a node; a heartbeat touches its first cache lines alone.
struct Node {
  // What every heartbeat touches, side by side.
  model::NodeIndex index;
  model::NodeIndex registered_as;  // healthy again it has another index, and remembers what it did
  model::rm::NodeState state = model::rm::NodeState::kNew;
  bool in_scheduler = false;
  bool touched = false;  // NodeTable's; nothing is decided by it
  bool resized = false;
  int32_t response_id = 0;
  base::Instant last_seen;
  std::optional<model::rm::CallToken> heartbeat;                  // to be answered at the end of the step
  std::shared_ptr<const model::rm::HeartbeatAnswer> last_answer;  // null: it told nothing
  RunningContainers running;
  boost::container::flat_set<model::ContainerId> cleanup;  // to be told once
  boost::container::flat_set<model::ContainerId> forget;   // to be told once
  boost::container::flat_set<model::ApplicationId> finished_apps;
  boost::container::flat_set<model::ApplicationId> running_apps;
  boost::container::flat_map<model::ContainerId, model::rm::ContainerInfo> updates;
  std::vector<model::rm::ContainerSignal> signals;
  std::string health_report;
  base::WallTime health_time;
  model::rm::NodeAddress address;
  int32_t http_port = 0;
  model::Resources capacity;
  model::Resources physical;  // of its machine; 0: not told
  model::MeasuredUse use;
  model::MeasuredUse containers_use;

  std::string ip;  // as the resource manager's machine resolves its host; empty: not looked up
  std::string rack;
  std::string version;
  std::vector<std::string> labels;
  base::Instant decommission_deadline = base::Instant::Max();
  int64_t decommission_timeout_s = -1;

  std::string HttpAddress() const { return address.host + ":" + std::to_string(http_port); }
  FL_STATE(index, registered_as, state, in_scheduler, touched, resized, response_id, last_seen, heartbeat, last_answer,
           running, cleanup, forget, finished_apps, running_apps, updates, signals, health_report, health_time, address,
           http_port, capacity, physical, use, containers_use, ip, rack, version, labels, decommission_deadline,
           decommission_timeout_s)
};

}  // namespace fairlead::rm

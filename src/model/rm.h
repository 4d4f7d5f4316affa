#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "model/exit_status.h"
#include "model/ids.h"
#include "model/measured_use.h"
#include "model/refusal.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "model/store_row.h"

// Events and effects of the rm core: life cycles of applications, attempts, containers and nodes (YARN's RMAppImpl,
// RMAppAttemptImpl, RMContainerImpl, RMNodeImpl, ApplicationMasterService, ResourceTrackerService, ClientRMService).
// Variant indices and field lists are only ever appended: journals and the store hold them.

namespace fairlead::model::rm {

/// RMAppState; EnumName gives Hadoop's names.
enum class AppState : uint8_t {
  kNew,
  kNewSaving,
  kSubmitted,
  kAccepted,
  kRunning,
  kFinalSaving,
  kFinishing,
  kFinished,
  kFailed,
  kKilling,
  kKilled,
};
/// RMAppAttemptState.
enum class AttemptState : uint8_t {
  kNew,
  kSubmitted,
  kScheduled,
  kAllocatedSaving,
  kAllocated,
  kLaunchedUnmanagedSaving,
  kLaunched,
  kRunning,
  kFinalSaving,
  kFinishing,
  kFinished,
  kFailed,
  kKilled,
};
/// RMContainerState.
enum class ContainerState : uint8_t { kAllocated, kAcquired, kRunning, kCompleted, kExpired, kKilled };
/// NodeState.
enum class NodeState : uint8_t {
  kNew,
  kRunning,
  kUnhealthy,
  kDecommissioned,
  kLost,
  kRebooted,
  kDecommissioning,
  kShutdown,
};
/// FinalApplicationStatus, in the order of the wire.
enum class FinalStatus : uint8_t { kUndefined, kSucceeded, kFailed, kKilled, kEnded };
/// What a node says of a container (ContainerStateProto).
enum class NodeContainerState : uint8_t { kNew, kRunning, kComplete };
enum class NodeAction : uint8_t { kNormal, kResync, kShutdown };
/// NodeUpdateType of a node report inside an allocate response.
enum class NodeChange : uint8_t { kUsable, kUnusable, kDecommissioning };
/// ContainerUpdateType, in the order of the wire.
enum class UpdateType : uint8_t { kIncrease, kDecrease, kPromote, kDemote };
enum class SignalCommand : uint8_t { kThreadDump = 1, kGracefulShutdown = 2, kForcefulShutdown = 3 };

std::string_view EnumName(AppState state);
std::string_view EnumName(AttemptState state);
std::string_view EnumName(ContainerState state);
std::string_view EnumName(NodeState state);
std::string_view EnumName(FinalStatus status);

/// Comes back in the answer to a call.
using CallToken = uint64_t;

/// Who a node says it is (NodeId of YARN).
struct NodeAddress {
  std::string host;
  int32_t port = 0;
  FL_FIELDS(host, port)
  friend auto operator<=>(const NodeAddress&, const NodeAddress&) = default;
};
std::string ToString(const NodeAddress& address);

/// What ApplicationSubmissionContextProto says, checked as far as no state is needed. `context` is the message itself,
/// without meaning to the core; it goes to the launcher of the master.
struct Submission {
  ApplicationId id;
  std::string user;
  std::vector<std::string> groups;
  std::string queue;
  std::string name;
  std::string type;
  std::vector<std::string> tags;
  int32_t priority = 0;
  bool unmanaged = false;
  int32_t max_attempts = 0;  // 0: the cluster's default
  bool keep_containers = false;
  int64_t failures_validity_ms = -1;
  std::vector<Ask> master_asks;  // not normalized
  std::string label;
  int64_t lifetime_s = -1;
  std::string view_acl;
  std::string modify_acl;
  std::string context;
  bool priority_given = false;  // else the queue's default counts, where the scheduler has one
  FL_FIELDS(id, user, groups, queue, name, type, tags, priority, unmanaged, max_attempts, keep_containers,
            failures_validity_ms, master_asks, label, lifetime_s, view_acl, modify_acl, context, priority_given)
};

/// The stored row of an application.
struct AppRecord {
  Submission submission;
  base::WallTime submitted;
  base::WallTime started;
  base::WallTime launched;
  base::WallTime finished;
  AppState final_state = AppState::kNew;  // kNew: not final
  std::string diagnostics;
  base::WallTime expires;  // of the lifetime; 0: none
  FL_FIELDS(submission, submitted, started, launched, finished, final_state, diagnostics, expires)
};

/// A container as rm and the wire know it.
struct ContainerInfo {
  ContainerId id;
  NodeIndex node;
  NodeAddress address;
  std::string http_address;
  Resources resources;
  int32_t priority = 0;
  int64_t allocation_request_id = -1;
  base::WallTime created;
  int32_t version = 0;
  bool is_master = false;
  FL_FIELDS(id, node, address, http_address, resources, priority, allocation_request_id, created, version, is_master)
};

/// The stored row of an attempt.
struct AttemptRecord {
  ApplicationAttemptId id;
  ContainerInfo master;  // its id.value is 0 when there is none
  base::WallTime started;
  base::WallTime finished;
  AttemptState final_state = AttemptState::kNew;  // kNew: not final
  FinalStatus final_status = FinalStatus::kUndefined;
  std::string tracking_url;
  std::string diagnostics;
  int32_t exit_status = kExitInvalid;
  int64_t memory_seconds = 0;
  int64_t vcore_seconds = 0;
  int64_t preempted_memory_seconds = 0;
  int64_t preempted_vcore_seconds = 0;
  int32_t containers_allocated = 0;
  FL_FIELDS(id, master, started, finished, final_state, final_status, tracking_url, diagnostics, exit_status,
            memory_seconds, vcore_seconds, preempted_memory_seconds, preempted_vcore_seconds, containers_allocated)
};

/// The end of a container as a master hears it.
struct ContainerEnd {
  ContainerId id;
  int32_t exit_status = kExitInvalid;
  std::string diagnostics;
  Resources resources;
  NodeIndex node;
  FL_FIELDS(id, exit_status, diagnostics, resources, node)
};

/// One container in a node's registration or heartbeat (NMContainerStatusProto, ContainerStatusProto).
struct NodeContainer {
  ContainerId id;
  NodeContainerState state = NodeContainerState::kRunning;
  Resources resources;
  int32_t priority = 0;
  std::string diagnostics;
  int32_t exit_status = kExitInvalid;
  base::WallTime created;
  int64_t allocation_request_id = -1;
  int32_t version = 0;
  FL_FIELDS(id, state, resources, priority, diagnostics, exit_status, created, allocation_request_id, version)
};

struct ContainerUpdate {
  ContainerId container;
  int32_t version = 0;
  UpdateType type = UpdateType::kIncrease;
  Resources capability;
  FL_FIELDS(container, version, type, capability)
};

// ---- Events from outside ------------------------------------------------------------------------------------------

/// A node, or with port 0 every node of a host, and its label; empty: none.
struct NodeLabelRecord {
  NodeAddress node;
  std::string label;
  FL_FIELDS(node, label)
};
/// Node labels as the store has them.
struct LabelsRecord {
  std::vector<scheduler::ClusterLabel> labels;
  std::vector<NodeLabelRecord> nodes;
  FL_FIELDS(labels, nodes)
};

/// A maintenance window of all nodes of a host.
struct HostWindow {
  std::string host;
  base::WallTime from;
  base::WallTime until;
  FL_FIELDS(host, from, until)
  friend auto operator<=>(const HostWindow&, const HostWindow&) = default;
};

/// The first event of every run: identity of this run and what the store held.
struct Started {
  static constexpr std::string_view kName = "started";
  int64_t cluster_timestamp = 0;
  int32_t epoch = 0;
  std::vector<AppRecord> apps;
  std::vector<AttemptRecord> attempts;
  std::map<std::string, int64_t>
      draining{};  // hosts whose nodes get no container: seconds they have, negative: for ever
  std::vector<LearnedUse> learned{};
  LabelsRecord labels{};
  std::vector<LearnedRuns> runs{};
  std::vector<HostWindow> windows{};
  FL_FIELDS(cluster_timestamp, epoch, apps, attempts, draining, learned, labels, runs, windows)
};
/// The store has committed or refused the rows of Persist{txn}.
struct Persisted {
  static constexpr std::string_view kName = "persisted";
  uint64_t txn = 0;
  bool ok = true;
  std::string error;
  FL_FIELDS(txn, ok, error)
};
struct NewApplication {
  static constexpr std::string_view kName = "new_application";
  CallToken call = 0;
  FL_FIELDS(call)
};
struct Submit {
  static constexpr std::string_view kName = "submit";
  CallToken call = 0;
  Submission submission;
  std::string rejected = {};  // not empty: it fails before it begins, for this reason
  FL_FIELDS(call, submission, rejected)
};
struct KillApp {
  static constexpr std::string_view kName = "kill_app";
  CallToken call = 0;
  ApplicationId app;
  std::string diagnostics;
  FL_FIELDS(call, app, diagnostics)
};
struct FailAttempt {
  static constexpr std::string_view kName = "fail_attempt";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  FL_FIELDS(call, attempt)
};
struct MoveApp {
  static constexpr std::string_view kName = "move_app";
  CallToken call = 0;
  ApplicationId app;
  std::string queue;
  FL_FIELDS(call, app, queue)
};
struct SetPriority {
  static constexpr std::string_view kName = "set_priority";
  CallToken call = 0;
  ApplicationId app;
  int32_t priority = 0;
  std::string user{};  // who asks for it
  std::vector<std::string> groups{};
  FL_FIELDS(call, app, priority, user, groups)
};
struct SetLifetime {
  static constexpr std::string_view kName = "set_lifetime";
  CallToken call = 0;
  ApplicationId app;
  base::WallTime expires;
  FL_FIELDS(call, app, expires)
};
struct SignalContainer {
  static constexpr std::string_view kName = "signal_container";
  CallToken call = 0;
  ContainerId container;
  SignalCommand command = SignalCommand::kThreadDump;
  FL_FIELDS(call, container, command)
};
struct RegisterMaster {
  static constexpr std::string_view kName = "register_master";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  std::string host;
  int32_t rpc_port = -1;
  std::string tracking_url;
  FL_FIELDS(call, attempt, host, rpc_port, tracking_url)
};
struct AllocateCall {
  static constexpr std::string_view kName = "allocate_call";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  int32_t response_id = 0;
  double progress = 0;
  std::vector<Ask> asks;
  std::vector<ContainerId> releases;
  std::vector<std::string> blacklist_add;
  std::vector<std::string> blacklist_remove;
  std::vector<ContainerUpdate> updates;
  std::string tracking_url;  // empty: unchanged
  std::vector<scheduler::Loss> losses;
  FL_FIELDS(call, attempt, response_id, progress, asks, releases, blacklist_add, blacklist_remove, updates,
            tracking_url, losses)
};
struct FinishMaster {
  static constexpr std::string_view kName = "finish_master";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  FinalStatus final_status = FinalStatus::kUndefined;
  std::string diagnostics;
  std::string tracking_url;
  FL_FIELDS(call, attempt, final_status, diagnostics, tracking_url)
};
struct RegisterNode {
  static constexpr std::string_view kName = "register_node";
  CallToken call = 0;
  NodeAddress address;
  int32_t http_port = 0;
  std::string rack;
  Resources capacity;
  std::string version;
  std::vector<NodeContainer> containers;
  std::vector<ApplicationId> running_apps;
  std::vector<std::string> labels;
  bool healthy = true;
  std::string health_report;
  std::string ip;      // of its host, for lists that name it so; empty: not looked up
  Resources physical;  // memory and cores that its machine has; 0: not told
  FL_FIELDS(call, address, http_port, rack, capacity, version, containers, running_apps, labels, healthy, health_report,
            ip, physical)
};
struct Heartbeat {
  static constexpr std::string_view kName = "heartbeat";
  CallToken call = 0;
  NodeAddress address;
  int32_t response_id = 0;
  std::vector<NodeContainer> containers;  // with more to say than that they run
  bool healthy = true;
  std::string health_report;
  base::WallTime health_time;
  std::vector<ApplicationId> keep_alive_apps;
  std::vector<ContainerId> increased;
  std::vector<ContainerId> running;
  MeasuredUse use;                       // of all that runs on the machine
  MeasuredUse containers_use;            // of the containers together
  std::vector<ContainerUse> each_use{};  // of those that were measured since the last heartbeat
  FL_FIELDS(call, address, response_id, containers, healthy, health_report, health_time, keep_alive_apps, increased,
            running, use, containers_use, each_use)
};
struct UnregisterNode {
  static constexpr std::string_view kName = "unregister_node";
  CallToken call = 0;
  NodeAddress address;
  FL_FIELDS(call, address)
};
/// The launcher's call to the node's startContainers came back.
struct MasterLaunched {
  static constexpr std::string_view kName = "master_launched";
  ApplicationAttemptId attempt;
  std::string error;  // empty: the node took it
  FL_FIELDS(attempt, error)
};
/// `rmadmin -refreshNodes`: hosts of the include and exclude files. Without a limit an empty include list lets all in.
struct RefreshNodes {
  static constexpr std::string_view kName = "refresh_nodes";
  CallToken call = 0;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool graceful = false;
  int64_t timeout_s = -1;                     // of graceful decommission; negative: for ever
  std::map<std::string, int64_t> timeouts_s;  // of excluded hosts that have their own
  std::vector<HostWindow> windows{};          // of hosts; those in one now are excluded, too
  std::vector<LearnedRuns> runs{};            // what was learned so far, where the first window is announced
  FL_FIELDS(call, include, exclude, graceful, timeout_s, timeouts_s, windows, runs)
};
/// `rmadmin -updateNodeResource`.
struct ResizeNode {
  static constexpr std::string_view kName = "resize_node";
  CallToken call = 0;
  NodeAddress address;
  Resources capacity;
  FL_FIELDS(call, address, capacity)
};
/// `rmadmin -addToClusterNodeLabels`.
struct AddLabels {
  static constexpr std::string_view kName = "add_labels";
  CallToken call = 0;
  std::vector<scheduler::ClusterLabel> labels;
  FL_FIELDS(call, labels)
};
/// `rmadmin -removeFromClusterNodeLabels`.
struct RemoveLabels {
  static constexpr std::string_view kName = "remove_labels";
  CallToken call = 0;
  std::vector<std::string> labels;
  FL_FIELDS(call, labels)
};
/// `rmadmin -replaceLabelsOnNode`.
struct ReplaceLabels {
  static constexpr std::string_view kName = "replace_labels";
  CallToken call = 0;
  std::vector<NodeLabelRecord> nodes;
  bool fail_on_unknown = false;
  FL_FIELDS(call, nodes, fail_on_unknown)
};
/// A new fair-scheduler.xml, parsed and checked.
struct ReloadQueues {
  static constexpr std::string_view kName = "reload_queues";
  QueueTree tree;
  CallToken call = 0;
  FL_FIELDS(tree, call)
};
/// Time has passed; NextDeadline() asked for it.
struct Tick {
  static constexpr std::string_view kName = "tick";
  FL_NO_FIELDS()
};

/// What comes from outside; journalled.
using OuterEvent =
    std::variant<Started, Persisted, NewApplication, Submit, KillApp, FailAttempt, MoveApp, SetPriority, SetLifetime,
                 SignalContainer, RegisterMaster, AllocateCall, FinishMaster, RegisterNode, Heartbeat, UnregisterNode,
                 MasterLaunched, RefreshNodes, ResizeNode, ReloadQueues, Tick, AddLabels, RemoveLabels, ReplaceLabels>;

// ---- Effects to the outside ---------------------------------------------------------------------------------------

using model::StoreRow;
/// Rows to commit together; Persisted{txn} must follow. Answers that depend on them wait for it.
struct Persist {
  static constexpr std::string_view kName = "persist";
  uint64_t txn = 0;
  std::vector<StoreRow> rows;
  FL_FIELDS(txn, rows)
};
/// The call is refused, and nothing of it was applied.
struct CallRefused {
  static constexpr std::string_view kName = "call_refused";
  CallToken call = 0;
  Refused refused;
  FL_FIELDS(call, refused)
};
/// The call succeeded and its answer is empty.
struct CallDone {
  static constexpr std::string_view kName = "call_done";
  CallToken call = 0;
  FL_FIELDS(call)
};
struct NewApplicationAnswer {
  static constexpr std::string_view kName = "new_application_answer";
  CallToken call = 0;
  ApplicationId app;
  Resources maximum;
  FL_FIELDS(call, app, maximum)
};
struct KillAnswer {
  static constexpr std::string_view kName = "kill_answer";
  CallToken call = 0;
  bool completed = false;
  FL_FIELDS(call, completed)
};
struct PriorityAnswer {
  static constexpr std::string_view kName = "priority_answer";
  CallToken call = 0;
  int32_t priority = 0;
  FL_FIELDS(call, priority)
};
struct LifetimeAnswer {
  static constexpr std::string_view kName = "lifetime_answer";
  CallToken call = 0;
  base::WallTime expires;
  FL_FIELDS(call, expires)
};
struct RegisterMasterAnswer {
  static constexpr std::string_view kName = "register_master_answer";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  AppIndex app;
  std::string queue;
  Resources maximum;
  std::vector<ContainerInfo> previous;  // of earlier attempts, kept
  FL_FIELDS(call, attempt, app, queue, maximum, previous)
};
struct UpdatedNode {
  NodeIndex node;
  NodeChange change = NodeChange::kUsable;
  FL_FIELDS(node, change)
};
struct UpdatedContainer {
  ContainerInfo container;
  UpdateType type = UpdateType::kIncrease;
  FL_FIELDS(container, type)
};
struct UpdateError {
  ContainerUpdate update;
  Refused refused;
  int32_t current_version = 0;
  FL_FIELDS(update, refused, current_version)
};
struct AllocateAnswer {
  static constexpr std::string_view kName = "allocate_answer";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  AppIndex app;
  int32_t response_id = 0;
  std::vector<ContainerInfo> granted;
  std::vector<NodeIndex> new_nodes;  // nodes for which the master has no NM token yet
  std::vector<ContainerEnd> completed;
  std::vector<ContainerInfo> previous;
  std::vector<UpdatedNode> nodes;
  std::vector<ContainerId> preempt_strict;
  std::vector<ContainerId> preempt_contract;
  std::vector<UpdatedContainer> updated;
  std::vector<UpdateError> update_errors;
  Resources headroom;
  int32_t cluster_nodes = 0;
  int32_t priority = 0;
  FL_FIELDS(call, attempt, app, response_id, granted, new_nodes, completed, previous, nodes, preempt_strict,
            preempt_contract, updated, update_errors, headroom, cluster_nodes, priority)
};
struct FinishMasterAnswer {
  static constexpr std::string_view kName = "finish_master_answer";
  CallToken call = 0;
  bool unregistered = false;
  FL_FIELDS(call, unregistered)
};
struct RegisterNodeAnswer {
  static constexpr std::string_view kName = "register_node_answer";
  CallToken call = 0;
  NodeIndex node;
  NodeAction action = NodeAction::kNormal;
  std::string diagnostics;
  FL_FIELDS(call, node, action, diagnostics)
};
struct ContainerSignal {
  ContainerId container;
  SignalCommand command = SignalCommand::kThreadDump;
  FL_FIELDS(container, command)
};
struct HeartbeatAnswer {
  static constexpr std::string_view kName = "heartbeat_answer";
  CallToken call = 0;
  NodeIndex node;
  NodeAction action = NodeAction::kNormal;
  std::string diagnostics;
  int32_t response_id = 0;
  std::vector<ContainerId> cleanup;
  std::vector<ContainerId> forget;  // the master has heard of their end
  std::vector<ApplicationId> finished_apps;
  std::vector<ContainerInfo> update;
  std::vector<ContainerSignal> signals;
  Resources capacity;
  bool resized = false;  // `capacity` replaces the node's own
  FL_FIELDS(call, node, action, diagnostics, response_id, cleanup, forget, finished_apps, update, signals, capacity,
            resized)
};
/// Start the master's container; MasterLaunched must follow.
struct LaunchMaster {
  static constexpr std::string_view kName = "launch_master";
  ApplicationAttemptId attempt;
  AppIndex app;
  ContainerInfo container;
  FL_FIELDS(attempt, app, container)
};
/// Ask a node to stop containers at once, beside the heartbeat's list; best effort.
struct StopContainers {
  static constexpr std::string_view kName = "stop_containers";
  NodeIndex node;
  NodeAddress address;
  ApplicationAttemptId attempt;
  std::vector<ContainerId> containers;
  FL_FIELDS(node, address, attempt, containers)
};
/// A line for the log: `subject` went from one state to another.
struct StateChanged {
  static constexpr std::string_view kName = "state_changed";
  std::string subject;
  std::string from;
  std::string to;
  std::string detail;
  ApplicationId app;  // whose; number 0: a node's
  FL_FIELDS(subject, from, to, detail, app)
};

using OuterEffect = std::variant<Persist, CallRefused, CallDone, NewApplicationAnswer, KillAnswer, PriorityAnswer,
                                 LifetimeAnswer, RegisterMasterAnswer, AllocateAnswer, FinishMasterAnswer,
                                 RegisterNodeAnswer, HeartbeatAnswer, LaunchMaster, StopContainers, StateChanged>;

}  // namespace fairlead::model::rm

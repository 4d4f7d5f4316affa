#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "model/exit_status.h"
#include "model/ids.h"
#include "model/learned_use.h"
#include "model/measured_use.h"
#include "model/queues.h"
#include "model/refusal.h"
#include "model/resources.h"

// Events and effects of the scheduler core. The rm core and the scheduler never include each other; process/rm carries
// effects of one to the other as events.
//
// Events with a `token` are calls: exactly one effect with that token answers each, in the same step. It is the call's
// own effect (AppAccepted, AllocateAnswered, MoveAnswered, ...), or CallRefused: then nothing of the call was
// applied.

namespace fairlead::model {

enum class Locality : uint8_t { kNodeLocal, kRackLocal, kOffSwitch };
std::string_view EnumName(Locality locality);

/// One line of an ask (YARN ResourceRequest): the *total* still wanted of this key, replacing an earlier line with the
/// same (priority, allocation request id, name, capability).
struct Ask {
  int32_t priority = 0;
  int64_t allocation_request_id = -1;  // -1: none given
  std::string name;                    // host, rack or "*"
  bool relax_locality = true;
  Resources capability;
  int32_t count = 0;
  std::string label;  // node label expression, empty: none
  int64_t gang = 0;   // not 0: granted with everything the application asks for under this number, or not at all
  FL_FIELDS(priority, allocation_request_id, name, relax_locality, capability, count, label, gang)
  friend bool operator==(const Ask&, const Ask&) = default;
};

namespace scheduler {

/// Tokens that rm gives to calls of its own have this bit; the token of a client's call never has it.
inline constexpr uint64_t kOwnCall = uint64_t{1} << 63;
/// The token of rm's ask for the container of the application's master.
constexpr uint64_t MasterToken(AppIndex app) { return kOwnCall | app.value; }

struct NodeAdded {
  static constexpr std::string_view kName = "node_added";
  NodeIndex node;
  std::string host;
  int32_t port = 0;
  std::string rack;
  Resources capacity;
  std::vector<std::string> labels;
  FL_FIELDS(node, host, port, rack, capacity, labels)
};
/// The node is lost, decommissioned or rebooted: its containers end with kExitAborted.
struct NodeRemoved {
  static constexpr std::string_view kName = "node_removed";
  NodeIndex node;
  FL_FIELDS(node)
};
struct NodeResized {
  static constexpr std::string_view kName = "node_resized";
  NodeIndex node;
  Resources capacity;
  FL_FIELDS(node, capacity)
};
struct Completion {
  ContainerId container;
  int32_t exit_status = 0;
  FL_FIELDS(container, exit_status)
};
/// NODE_UPDATE: launches, then completions; under a heartbeat-driven profile the node is then offered.
struct NodeUpdated {
  static constexpr std::string_view kName = "node_updated";
  NodeIndex node;
  std::vector<ContainerId> launched;
  std::vector<Completion> completed;
  FL_FIELDS(node, launched, completed)
};
/// No new container goes to a node that is not schedulable (unhealthy or decommissioning); its containers stay.
struct NodeSchedulable {
  static constexpr std::string_view kName = "node_schedulable";
  NodeIndex node;
  bool schedulable = true;
  FL_FIELDS(node, schedulable)
};
/// What an application says of itself: by its tags, which `tdw` hears, and by how often its master may start.
struct SessionTraits {
  bool preemptable = true;
  int32_t maps = 0;  // tasks that its job will have; 0: not said
  int32_t reduces = 0;
  bool restartable = true;  // its master may be ended and start again (more than one attempt)
  std::string kind{};       // its name without digits: applications of the same name do alike
  FL_FIELDS(preemptable, maps, reduces, restartable, kind)
};

struct AppAdded {
  static constexpr std::string_view kName = "app_added";
  AppIndex app;
  ApplicationId id;
  std::string queue;
  std::string user;
  std::vector<std::string> groups;  // primary first
  int32_t priority = 0;
  bool place = true;        // the queue goes through the placement rules first
  bool recovering = false;  // known from the store: placement and limits were decided before
  bool unmanaged = false;
  base::WallTime submitted;
  std::vector<Ask> master_asks;  // what the master's container will be asked with: checked against the queue's maximum
  uint64_t token = 0;            // comes back in AppAccepted
  SessionTraits session;
  std::string name{};           // of the application
  bool priority_given = false;  // else the queue's default counts
  std::vector<std::string> tags{};
  FL_FIELDS(app, id, queue, user, groups, priority, place, recovering, unmanaged, submitted, master_asks, token,
            session, name, priority_given, tags)
};
struct AttemptAdded {
  static constexpr std::string_view kName = "attempt_added";
  AppIndex app;
  int32_t attempt = 0;
  bool transfer_containers = false;  // keep_containers_across_application_attempts
  FL_FIELDS(app, attempt, transfer_containers)
};
/// Ends the current attempt: asks go; containers end with kExitAborted unless kept for the next attempt.
struct AttemptRemoved {
  static constexpr std::string_view kName = "attempt_removed";
  AppIndex app;
  int32_t attempt = 0;
  bool keep_containers = false;
  FL_FIELDS(app, attempt, keep_containers)
};
struct AppRemoved {
  static constexpr std::string_view kName = "app_removed";
  AppIndex app;
  FL_FIELDS(app)
};
/// Hosts and racks that the asks of this key avoid besides those that the application does, instead of those said
/// before. `tdw` heeds it; YARN's messages cannot say it.
struct AskExclusions {
  int32_t priority = 0;
  int64_t allocation_request_id = -1;
  std::vector<std::string> places;
  FL_FIELDS(priority, allocation_request_id, places)
};
/// What would be lost if a container ended now, as its application says: a part of the time for which it has run.
struct Loss {
  ContainerId container;
  base::Duration lost;
  FL_FIELDS(container, lost)
};
/// One allocate call of the application's master (or rm's own ask for the master's container).
struct Allocate {
  static constexpr std::string_view kName = "allocate";
  AppIndex app;
  uint64_t token = 0;  // comes back in AllocateAnswered
  std::vector<Ask> asks;
  std::vector<ContainerId> releases;
  std::vector<std::string> blacklist_add;
  std::vector<std::string> blacklist_remove;
  std::vector<AskExclusions> exclusions{};
  std::vector<Loss> losses{};
  FL_FIELDS(app, token, asks, releases, blacklist_add, blacklist_remove, exclusions, losses)
};
/// The master has been told of these grants (ALLOCATED -> ACQUIRED).
struct Acquired {
  static constexpr std::string_view kName = "acquired";
  AppIndex app;
  std::vector<ContainerId> containers;
  FL_FIELDS(app, containers)
};
/// rm ends a container for its own reasons (expired grant, lost master, kill by user).
struct ContainerEnded {
  static constexpr std::string_view kName = "container_ended";
  ContainerId container;
  int32_t exit_status = 0;
  FL_FIELDS(container, exit_status)
};
/// A container that a node reported when it registered again after a restart of the resource manager.
struct ContainerRecovered {
  static constexpr std::string_view kName = "container_recovered";
  AppIndex app;
  NodeIndex node;
  ContainerId container;
  Resources resources;
  int32_t priority = 0;
  bool is_master = false;
  FL_FIELDS(app, node, container, resources, priority, is_master)
};
struct AppMoved {
  static constexpr std::string_view kName = "app_moved";
  AppIndex app;
  uint64_t token = 0;  // comes back in MoveAnswered
  std::string queue;
  FL_FIELDS(app, token, queue)
};
struct AppPriority {
  static constexpr std::string_view kName = "app_priority";
  AppIndex app;
  int32_t priority = 0;
  uint64_t token = 0;  // comes back in PriorityAnswered
  std::string user{};  // who asks for it
  std::vector<std::string> groups{};
  FL_FIELDS(app, priority, token, user, groups)
};
/// A granted container changes its size (container update).
struct ContainerResized {
  static constexpr std::string_view kName = "container_resized";
  ContainerId container;
  Resources resources;
  uint64_t token = 0;  // comes back in ResizeAnswered
  FL_FIELDS(container, resources, token)
};
struct QueuesReloaded {
  static constexpr std::string_view kName = "queues_reloaded";
  QueueTree tree;
  uint64_t token = 0;  // comes back in ReloadAnswered
  FL_FIELDS(tree, token)
};
/// The passes of Hadoop's threads. A daemon gets them from NextDeadline(); recordings name them one by one.
enum class PassKind : uint8_t { kUpdate, kContinuous, kPreempt, kQueueCheck, kTimers };
struct Pass {
  static constexpr std::string_view kName = "pass";
  PassKind kind = PassKind::kUpdate;
  FL_FIELDS(kind)
};

/// What the node's meter said last, of all that runs on its machine. Bounded where it came in.
struct NodeMeasured {
  static constexpr std::string_view kName = "node_measured";
  NodeIndex node;
  MeasuredUse use;
  MeasuredUse containers;            // of those, the containers together
  Resources physical;                // memory and cores that the machine has; 0: not told
  std::vector<ContainerUse> each{};  // containers that were measured again, where the node tells of each
  FL_FIELDS(node, use, containers, physical, each)
};
/// What an earlier run of the resource manager had learned, as UseLearned told it.
struct UseRecalled {
  static constexpr std::string_view kName = "use_recalled";
  std::vector<LearnedUse> rows;
  base::WallTime now;
  FL_FIELDS(rows, now)
};

/// A maintenance window: nothing is to run on a node then.
struct Window {
  base::Instant from;
  base::Instant until;
  FL_FIELDS(from, until)
  friend auto operator<=>(const Window&, const Window&) = default;
};
/// The maintenance windows of the node that have not ended, by when they begin; instead of those said before.
struct NodeWindows {
  static constexpr std::string_view kName = "node_windows";
  NodeIndex node;
  std::vector<Window> windows;
  FL_FIELDS(node, windows)
};
/// How long containers ran before: of an earlier run of the resource manager, or before a window was announced.
struct RunTimesRecalled {
  static constexpr std::string_view kName = "run_times_recalled";
  std::vector<LearnedRuns> rows;
  bool windows = false;  // some node has, or will have, a window
  FL_FIELDS(rows, windows)
};

/// A node label of the cluster (`yarn rmadmin -addToClusterNodeLabels`).
struct ClusterLabel {
  std::string name;
  bool exclusive = true;
  FL_FIELDS(name, exclusive)
};
struct LabelsAdded {
  static constexpr std::string_view kName = "labels_added";
  std::vector<ClusterLabel> labels;
  FL_FIELDS(labels)
};
/// The node gets another label; empty: none.
struct NodeRelabelled {
  static constexpr std::string_view kName = "node_relabelled";
  NodeIndex node;
  std::string label;
  FL_FIELDS(node, label)
};
/// yarn-capacity, asynchronous scheduling: something is proposed on each of these nodes in this order, then all that
/// was proposed is decided on.
struct ProposalPass {
  static constexpr std::string_view kName = "proposal_pass";
  std::vector<NodeIndex> nodes;
  FL_FIELDS(nodes)
};

using Event = std::variant<NodeAdded, NodeRemoved, NodeResized, NodeUpdated, NodeSchedulable, AppAdded, AttemptAdded,
                           AttemptRemoved, AppRemoved, Allocate, Acquired, ContainerEnded, ContainerRecovered, AppMoved,
                           AppPriority, ContainerResized, QueuesReloaded, Pass, NodeMeasured, UseRecalled, LabelsAdded,
                           NodeRelabelled, ProposalPass, NodeWindows, RunTimesRecalled>;

/// The call is refused, and nothing of it was applied.
struct CallRefused {
  static constexpr std::string_view kName = "call_refused";
  uint64_t token = 0;
  Refused refused;
  FL_FIELDS(token, refused)
};
/// Answer to AppAdded.
struct AppAccepted {
  static constexpr std::string_view kName = "app_accepted";
  AppIndex app;
  std::string queue;
  bool runnable = true;
  uint64_t token = 0;
  std::optional<int32_t> priority{};  // another one than was asked for
  FL_FIELDS(app, queue, runnable, token, priority)
};
/// yarn-capacity: where the placement rules put a submission; empty: nowhere.
struct AppPlaced {
  static constexpr std::string_view kName = "app_placed";
  AppIndex app;
  std::string queue;
  FL_FIELDS(app, queue)
};
struct Granted {
  static constexpr std::string_view kName = "granted";
  AppIndex app;
  ContainerId container;
  NodeIndex node;
  int32_t priority = 0;
  int64_t allocation_request_id = -1;
  Resources resources;
  Locality locality = Locality::kOffSwitch;
  bool from_reservation = false;
  bool is_master = false;
  std::string label{};  // that was asked for
  FL_FIELDS(app, container, node, priority, allocation_request_id, resources, locality, from_reservation, is_master,
            label)
};
struct Reserved {
  static constexpr std::string_view kName = "reserved";
  AppIndex app;
  NodeIndex node;
  ContainerId container;
  Resources resources;
  int32_t priority = 0;
  FL_FIELDS(app, node, container, resources, priority)
};
struct Unreserved {
  static constexpr std::string_view kName = "unreserved";
  AppIndex app;
  NodeIndex node;
  ContainerId container;
  FL_FIELDS(app, node, container)
};
/// The container's part in the scheduler's books is over.
struct Finished {
  static constexpr std::string_view kName = "finished";
  AppIndex app;
  ContainerId container;
  NodeIndex node;
  int32_t exit_status = 0;  // from the container, or of model/exit_status.h
  bool acquired = false;    // the master has heard of it
  std::string diagnostics;
  /// yarn-fair: Hadoop's container state machine does not know this end (a grant released or finished before the master
  /// picked it up), so its master is told nothing of it.
  bool silent = false;
  FL_FIELDS(app, container, node, exit_status, acquired, diagnostics, silent)
};
/// Announced before the kill: `contract` false = the exact container will be taken (strict), true = as many resources.
struct PreemptionNotice {
  static constexpr std::string_view kName = "preemption_notice";
  AppIndex app;
  ContainerId container;
  bool contract = false;
  FL_FIELDS(app, container, contract)
};
/// Answer to Allocate; grants made by the same Step come before it.
struct AllocateAnswered {
  static constexpr std::string_view kName = "allocate_answered";
  AppIndex app;
  uint64_t token = 0;
  Resources headroom;
  int32_t cluster_nodes = 0;
  FL_FIELDS(app, token, headroom, cluster_nodes)
};
/// Answer to AppMoved: its queue from now on.
struct MoveAnswered {
  static constexpr std::string_view kName = "move_answered";
  AppIndex app;
  uint64_t token = 0;
  std::string queue;
  FL_FIELDS(app, token, queue)
};
struct PriorityAnswered {
  static constexpr std::string_view kName = "priority_answered";
  uint64_t token = 0;
  std::optional<int32_t> priority{};  // another one than was asked for
  FL_FIELDS(token, priority)
};
struct ResizeAnswered {
  static constexpr std::string_view kName = "resize_answered";
  uint64_t token = 0;
  FL_FIELDS(token)
};
struct ReloadAnswered {
  static constexpr std::string_view kName = "reload_answered";
  uint64_t token = 0;
  FL_FIELDS(token)
};
/// A gang could not start in time: nothing of it is asked for any more.
struct GangExpired {
  static constexpr std::string_view kName = "gang_expired";
  AppIndex app;
  int64_t gang = 0;
  FL_FIELDS(app, gang)
};
/// yarn-fair: Hadoop's reload throws where the removed queue `queue` was never made. The new queues are in use; what
/// the reload does after them is left out.
struct ReloadCutShort {
  static constexpr std::string_view kName = "reload_cut_short";
  std::string queue;
  FL_FIELDS(queue)
};

/// yarn-fair: a starved application was worked on; `victims` will be killed after the grace period.
struct VictimsChosen {
  static constexpr std::string_view kName = "victims_chosen";
  AppIndex app;
  Resources starvation;
  std::vector<ContainerId> victims;
  FL_FIELDS(app, starvation, victims)
};
/// Rows of learned use that are to outlive this run; each replaces the row of its number. Nothing waits for it.
struct UseLearned {
  static constexpr std::string_view kName = "use_learned";
  std::vector<LearnedUse> rows;
  FL_FIELDS(rows)
};

/// yarn-capacity: what a round of preemption decided over a container: its master is to be told; it is killed (or may
/// be, with lazy preemption); its reservation is dropped; it may no longer be killed.
enum class PreemptionStep : uint8_t { kMarked, kKilled, kDropped, kSpared };
std::string_view EnumName(PreemptionStep step);
struct PreemptionDecided {
  static constexpr std::string_view kName = "preemption_decided";
  ContainerId container;
  PreemptionStep step = PreemptionStep::kMarked;
  FL_FIELDS(container, step)
};
/// yarn-capacity: the round ended early, as Hadoop's throws, and took nothing back.
struct RoundFailed {
  static constexpr std::string_view kName = "round_failed";
  std::string why;
  FL_FIELDS(why)
};

using Effect =
    std::variant<CallRefused, AppAccepted, Granted, Reserved, Unreserved, Finished, PreemptionNotice, AllocateAnswered,
                 MoveAnswered, PriorityAnswered, ResizeAnswered, ReloadAnswered, GangExpired, ReloadCutShort,
                 VictimsChosen, UseLearned, AppPlaced, PreemptionDecided, RoundFailed>;

/// Why a request waits: the binding reason, found by a dry pass of the placing code.
enum class PendingReason : uint8_t {
  kNone,                // nothing is pending
  kNoNodes,             // no schedulable node is registered
  kLargerThanAnyNode,   // no node could ever hold it
  kClusterFull,         // no node has room now
  kNodesExcluded,       // the nodes with room are blacklisted
  kWaitingForLocality,  // a node with room exists; the ask waits for a closer one
  kStrictLocality,      // relaxLocality=false, and the named places have no room
  kQueueMaximum,        // the queue or an ancestor is at its maximum
  kFairShare,           // others are further below their share; theirs comes first
  kMasterShare,         // masters already use the queue's share for masters
  kMaxRunningApps,      // queue or user has as many running applications as allowed
  kUserLimit,
  kLabel,          // no schedulable node carries the label
  kReserved,       // room is held for another request
  kGang,           // not all members fit at once
  kLowerPriority,  // the application's own more urgent asks come first
  kNodesBusy,      // the nodes with room were measured to be overloaded
  kUserMaximum,    // the user, or a group of the user's, is at the maximum in all queues together
  kNextRound,      // it is first, and what is granted is granted in rounds
};
std::string_view EnumName(PendingReason reason);

/// One pending ask explained.
struct Pending {
  Ask ask;
  PendingReason reason = PendingReason::kNone;
  std::string detail;  // the numbers of the binding reason, for a person
  std::string remedy;  // what change would free it
  base::Instant since;
  FL_FIELDS(ask, reason, detail, remedy, since)
};

}  // namespace scheduler
}  // namespace fairlead::model

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
#include "model/measured_use.h"
#include "model/resources.h"
#include "model/store_row.h"

// Events and effects of the nm core: life of a container on one node (YARN's ContainerImpl, ApplicationImpl,
// ResourceLocalizationService, NodeStatusUpdaterImpl of the NodeManager). Field lists are only ever appended: the store
// holds what they name. Events and effects are kept nowhere.

namespace fairlead::model::nm {

/// ContainerState of Hadoop's NodeManager; EnumName gives Hadoop's names.
enum class ContainerState : uint8_t {
  kNew,
  kLocalizing,
  kLocalizationFailed,
  kScheduled,
  kRunning,
  kRelaunching,
  kExitedWithSuccess,
  kExitedWithFailure,
  kKilling,
  kDone,
  kReinitializing,  // REINITIALIZING_AWAITING_KILL
};
/// ApplicationState of Hadoop's NodeManager.
enum class AppState : uint8_t { kInitializing, kRunning, kFinishingContainersWait, kCleaningUp, kFinished };
/// In the order of the wire (LocalResourceTypeProto, LocalResourceVisibilityProto).
enum class ResourceType : uint8_t { kArchive = 1, kFile = 2, kPattern = 3 };
enum class Visibility : uint8_t { kPublic = 1, kPrivate = 2, kApplication = 3 };
enum class RetryPolicy : uint8_t { kNever, kAllErrors, kSpecificErrors };
/// In the order of the wire (SignalContainerCommandProto).
enum class SignalCommand : uint8_t { kThreadDump = 1, kGracefulShutdown = 2, kForcefulShutdown = 3 };
enum class NodeAction : uint8_t { kNormal, kResync, kShutdown };
/// Why a container's process ended, as its supervisor saw it.
enum class EndCause : uint8_t { kExit, kMemoryLimit, kAgentAway, kLost };

std::string_view EnumName(ContainerState state);
std::string_view EnumName(AppState state);
std::string_view EnumName(ResourceType type);

/// Comes back in the answer to a call.
using CallToken = uint64_t;
/// Number of a localized resource on this node, never used again while the node's store lives.
using ResourceNumber = uint64_t;

/// One entry of a launch context's local resources.
struct LocalResource {
  std::string link;  // name in the working directory; may contain '/'
  std::string url;   // scheme://[user@]host[:port]/path
  int64_t size = 0;
  int64_t timestamp_ms = 0;
  ResourceType type = ResourceType::kFile;
  Visibility visibility = Visibility::kApplication;
  std::string pattern;
  FL_FIELDS(link, url, size, timestamp_ms, type, visibility, pattern)
};
/// ContainerRetryContextProto.
struct Retry {
  RetryPolicy policy = RetryPolicy::kNever;
  std::vector<int32_t> error_codes;
  int32_t max_retries = 0;  // negative: for ever
  int64_t interval_ms = 0;
  int64_t validity_ms = -1;
  FL_FIELDS(policy, error_codes, max_retries, interval_ms, validity_ms)
};
struct ServiceData {
  std::string service;
  std::string data;
  FL_FIELDS(service, data)
};
/// A container token that verified, and the launch context that came with it. `context` is the launch context's wire
/// form, without meaning to the core; it goes to the launcher.
struct ContainerSpec {
  ContainerId id;
  std::string user;
  Resources resources;
  int32_t priority = 0;
  int32_t version = 0;
  int64_t allocation_request_id = -1;
  bool is_master = false;
  base::WallTime token_created;
  base::WallTime token_expires;
  int64_t rm_identifier = 0;
  std::string node_address;  // for which the token was made, host:port
  std::vector<LocalResource> local_resources;
  std::vector<ServiceData> service_data;
  Retry retry;
  std::string view_acl;
  std::string modify_acl;
  std::string log_context;  // LogAggregationContextProto, wire form
  std::string context;
  FL_FIELDS(id, user, resources, priority, version, allocation_request_id, is_master, token_created, token_expires,
            rm_identifier, node_address, local_resources, service_data, retry, view_acl, modify_acl, log_context,
            context)
};

/// What the store keeps of an application, a container, a localized resource.
struct AppRecord {
  ApplicationId id;
  std::string user;
  std::string view_acl;
  std::string modify_acl;
  std::string log_context;
  std::vector<ServiceData> services;  // the data that each auxiliary service was given
  bool finished = false;              // the resource manager has said so
  FL_FIELDS(id, user, view_acl, modify_acl, log_context, services, finished)
};
struct ContainerRecord {
  ContainerSpec spec;
  base::WallTime started;
  bool kill_asked = false;
  bool done = false;
  int32_t exit_status = kExitInvalid;
  std::string diagnostics;
  int32_t relaunches = 0;
  base::WallTime finished;
  bool restart_asked = false;  // restartContainer: its process is to end and to be started again
  FL_FIELDS(spec, started, kill_asked, done, exit_status, diagnostics, relaunches, finished, restart_asked)
};
struct ResourceRecord {
  ResourceNumber number = 0;
  LocalResource resource;  // its link is empty
  std::string user;        // of PRIVATE and APPLICATION
  ApplicationId app;       // of APPLICATION
  std::string path;
  int64_t bytes = 0;
  FL_FIELDS(number, resource, user, app, path, bytes)
};
/// The container token of a start: it starts nothing a second time (NMContainerTokenSecretManager).
struct SpentToken {
  ContainerId container;
  base::WallTime expires;
  FL_FIELDS(container, expires)
};

// ---- Events -------------------------------------------------------------------------------------------------------

/// The first event of every run: what the store held.
struct Started {
  static constexpr std::string_view kName = "started";
  std::vector<AppRecord> apps;
  std::vector<ContainerRecord> containers;
  std::vector<ResourceRecord> resources;
  ResourceNumber next_resource = 1;
  std::vector<SpentToken> spent_tokens;  // of containers that are forgotten
  FL_FIELDS(apps, containers, resources, next_resource, spent_tokens)
};
struct Persisted {
  static constexpr std::string_view kName = "persisted";
  uint64_t txn = 0;
  bool ok = true;
  std::string error;
  FL_FIELDS(txn, ok, error)
};
/// startContainers of a caller that holds an NM token for `attempt`; the container tokens' signatures are verified.
struct StartContainers {
  static constexpr std::string_view kName = "start_containers";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  std::vector<ContainerSpec> containers;
  FL_FIELDS(call, attempt, containers)
};
struct StopContainers {
  static constexpr std::string_view kName = "stop_containers";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  std::vector<ContainerId> containers;
  FL_FIELDS(call, attempt, containers)
};
struct SignalContainer {
  static constexpr std::string_view kName = "signal_container";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  ContainerId container;
  SignalCommand command = SignalCommand::kThreadDump;
  FL_FIELDS(call, attempt, container, command)
};
/// updateContainer: specs carry only what the token says.
struct UpdateContainers {
  static constexpr std::string_view kName = "update_containers";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  std::vector<ContainerSpec> containers;
  FL_FIELDS(call, attempt, containers)
};
/// Fetch{number} came to its end; `error` empty: the resource is at `path`. Else `error` is what Hadoop's
/// SerializedException.toString() gives (message, trace, causes), `thrown` what Throwable.toString() gives.
struct ResourceFetched {
  static constexpr std::string_view kName = "resource_fetched";
  ResourceNumber number = 0;
  std::string path;
  int64_t bytes = 0;
  std::string error;
  std::string thrown{};
  FL_FIELDS(number, path, bytes, error, thrown)
};
/// The container's process runs (again, after Attach).
struct ContainerRunning {
  static constexpr std::string_view kName = "container_running";
  ContainerId container;
  int64_t pid = 0;
  FL_FIELDS(container, pid)
};
/// The container could not be started; no process of it is left.
struct LaunchFailed {
  static constexpr std::string_view kName = "launch_failed";
  ContainerId container;
  int32_t exit_code = -1;
  std::string reason;
  FL_FIELDS(container, exit_code, reason)
};
/// The container's process and all its descendants are gone.
struct ContainerExited {
  static constexpr std::string_view kName = "container_exited";
  ContainerId container;
  int32_t exit_code = 0;  // 128 + signal where a signal ended it
  EndCause cause = EndCause::kExit;
  std::string diagnostics;  // tails of its error files
  int64_t peak_bytes = 0;   // of memory, where known
  FL_FIELDS(container, exit_code, cause, diagnostics, peak_bytes)
};
/// Attach found no trace of a start: the container can be launched.
struct ContainerAbsent {
  static constexpr std::string_view kName = "container_absent";
  ContainerId container;
  FL_FIELDS(container)
};
struct ContainerUsage {
  ContainerId container;
  MeasuredUse use;
  bool enforced = false;  // the kernel holds the physical limit itself
  FL_FIELDS(container, use, enforced)
};
struct Usage {
  static constexpr std::string_view kName = "usage";
  std::vector<ContainerUsage> containers;
  MeasuredUse node;
  FL_FIELDS(containers, node)
};
struct Health {
  static constexpr std::string_view kName = "health";
  bool healthy = true;
  std::string report;
  base::WallTime checked;
  FL_FIELDS(healthy, report, checked)
};
/// The application's directories are gone.
struct AppCleaned {
  static constexpr std::string_view kName = "app_cleaned";
  ApplicationId app;
  FL_FIELDS(app)
};
/// The application's logs were aggregated, or are due for removal.
struct LogsHandled {
  static constexpr std::string_view kName = "logs_handled";
  ApplicationId app;
  FL_FIELDS(app)
};
struct Registered {
  static constexpr std::string_view kName = "registered";
  NodeAction action = NodeAction::kNormal;
  int64_t rm_identifier = 0;
  std::string diagnostics;
  bool resized = false;
  Resources capacity;
  FL_FIELDS(action, rm_identifier, diagnostics, resized, capacity)
};
struct ContainerSignal {
  ContainerId container;
  SignalCommand command = SignalCommand::kThreadDump;
  FL_FIELDS(container, command)
};
struct ContainerResize {
  ContainerId container;
  int32_t version = 0;
  Resources resources;
  FL_FIELDS(container, version, resources)
};
struct HeartbeatAnswered {
  static constexpr std::string_view kName = "heartbeat_answered";
  NodeAction action = NodeAction::kNormal;
  int32_t response_id = 0;
  std::string diagnostics;
  int64_t next_interval_ms = 0;  // 0: as before
  std::vector<ContainerId> cleanup;
  std::vector<ContainerId> forget;
  std::vector<ApplicationId> finished_apps;
  std::vector<ContainerSignal> signals;
  std::vector<ContainerResize> updates;
  bool resized = false;
  Resources capacity;
  FL_FIELDS(action, response_id, diagnostics, next_interval_ms, cleanup, forget, finished_apps, signals, updates,
            resized, capacity)
};
/// Register or Heartbeat got no answer, or an exception.
struct RmCallFailed {
  static constexpr std::string_view kName = "rm_call_failed";
  std::string error;
  FL_FIELDS(error)
};
/// The daemon is asked to end. Kept containers wait for its return; the others are killed first.
struct Shutdown {
  static constexpr std::string_view kName = "shutdown";
  bool keep_containers = false;
  FL_FIELDS(keep_containers)
};
/// localize: more resources for a running container.
struct LocalizeContainer {
  static constexpr std::string_view kName = "localize_container";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  ContainerId container;
  std::vector<LocalResource> resources;
  FL_FIELDS(call, attempt, container, resources)
};
/// restartContainer.
struct RestartContainer {
  static constexpr std::string_view kName = "restart_container";
  CallToken call = 0;
  ApplicationAttemptId attempt;
  ContainerId container;
  FL_FIELDS(call, attempt, container)
};
/// Time has passed; NextDeadline() asked for it.
struct Tick {
  static constexpr std::string_view kName = "tick";
  FL_NO_FIELDS()
};

using Event = std::variant<Started, Persisted, StartContainers, StopContainers, SignalContainer, UpdateContainers,
                           ResourceFetched, ContainerRunning, LaunchFailed, ContainerExited, ContainerAbsent, Usage,
                           Health, AppCleaned, LogsHandled, Registered, HeartbeatAnswered, RmCallFailed, Shutdown, Tick,
                           LocalizeContainer, RestartContainer>;

// ---- Effects ------------------------------------------------------------------------------------------------------

using model::StoreRow;  // of "nm_apps", "nm_containers", "nm_resources"
/// Rows to commit together; Persisted{txn} must follow where txn is not 0.
struct Persist {
  static constexpr std::string_view kName = "persist";
  uint64_t txn = 0;
  std::vector<StoreRow> rows;
  FL_FIELDS(txn, rows)
};
struct Refusal {
  ContainerId container;
  std::string exception;  // simple class name of Hadoop, see endpoints for its package
  std::string message;
  FL_FIELDS(container, exception, message)
};
/// Ends the call of a master where it was not refused as a whole.
struct CallAnswer {
  static constexpr std::string_view kName = "call_answer";
  CallToken call = 0;
  std::vector<ContainerId> succeeded;
  std::vector<Refusal> failed;
  FL_FIELDS(call, succeeded, failed)
};
/// The whole call ends with an exception.
struct CallRefused {
  static constexpr std::string_view kName = "call_refused";
  CallToken call = 0;
  std::string exception;
  std::string message;
  FL_FIELDS(call, exception, message)
};
/// An auxiliary service hears of an application's data (InitializeApplication).
struct InitService {
  static constexpr std::string_view kName = "init_service";
  ApplicationId app;
  std::string user;
  ServiceData service;
  FL_FIELDS(app, user, service)
};
/// All auxiliary services hear of a container's start or end.
struct ServiceContainer {
  static constexpr std::string_view kName = "service_container";
  ContainerId container;
  std::string user;
  Resources resources;
  bool is_master = false;
  bool ended = false;
  FL_FIELDS(container, user, resources, is_master, ended)
};
/// ResourceFetched{number} must follow.
struct Fetch {
  static constexpr std::string_view kName = "fetch";
  ResourceNumber number = 0;
  LocalResource resource;
  std::string user;
  ApplicationId app;
  FL_FIELDS(number, resource, user, app)
};
struct RemoveResource {
  static constexpr std::string_view kName = "remove_resource";
  ResourceNumber number = 0;
  std::string path;
  std::string user;
  FL_FIELDS(number, path, user)
};
struct Link {
  std::string link;
  std::string path;
  FL_FIELDS(link, path)
};
/// ContainerRunning, LaunchFailed or ContainerExited must follow.
struct Launch {
  static constexpr std::string_view kName = "launch";
  ContainerSpec spec;
  std::vector<Link> links;
  std::string localization_counters;
  bool relaunch = false;
  FL_FIELDS(spec, links, localization_counters, relaunch)
};
/// Look for what an earlier run of this daemon started; ContainerRunning, ContainerExited or ContainerAbsent must
/// follow.
struct Attach {
  static constexpr std::string_view kName = "attach";
  ContainerSpec spec;
  FL_FIELDS(spec)
};
enum class SignalKind : uint8_t { kThreadDump, kTerminate, kKill };
/// To the container's whole process tree.
struct Signal {
  static constexpr std::string_view kName = "signal";
  ContainerId container;
  SignalKind kind = SignalKind::kTerminate;
  FL_FIELDS(container, kind)
};
/// New limits for a running container.
struct Resize {
  static constexpr std::string_view kName = "resize";
  ContainerId container;
  Resources resources;
  FL_FIELDS(container, resources)
};
/// Remove the container's working directory and private files.
struct CleanContainer {
  static constexpr std::string_view kName = "clean_container";
  ContainerId container;
  std::string user;
  FL_FIELDS(container, user)
};
/// Stop the auxiliary services' work for the application and remove its directories; AppCleaned must follow.
struct CleanApp {
  static constexpr std::string_view kName = "clean_app";
  ApplicationId app;
  std::string user;
  FL_FIELDS(app, user)
};
/// Aggregate or date for removal; LogsHandled must follow.
struct HandleLogs {
  static constexpr std::string_view kName = "handle_logs";
  ApplicationId app;
  std::string user;
  std::string view_acl;
  std::string modify_acl;
  std::string log_context;
  std::vector<ContainerId> containers;
  FL_FIELDS(app, user, view_acl, modify_acl, log_context, containers)
};
/// One container as the resource manager hears of it.
struct ContainerReport {
  ContainerId id;
  bool complete = false;
  ContainerState state = ContainerState::kNew;
  Resources resources;
  int32_t priority = 0;
  std::string diagnostics;
  int32_t exit_status = kExitInvalid;
  base::WallTime created;
  int32_t version = 0;
  int64_t allocation_request_id = -1;
  MeasuredUse use{};  // in a heartbeat, when it was measured since the last one
  FL_FIELDS(id, complete, state, resources, priority, diagnostics, exit_status, created, version, allocation_request_id,
            use)
};
/// Registered or RmCallFailed must follow.
struct Register {
  static constexpr std::string_view kName = "register";
  Resources capacity;
  std::vector<ContainerReport> containers;
  std::vector<ApplicationId> apps;
  bool healthy = true;
  std::string health_report;
  base::WallTime health_checked;
  FL_FIELDS(capacity, containers, apps, healthy, health_report, health_checked)
};
/// HeartbeatAnswered or RmCallFailed must follow.
struct Heartbeat {
  static constexpr std::string_view kName = "heartbeat";
  int32_t response_id = 0;
  std::vector<ContainerReport> containers;
  std::vector<ContainerReport> increased;
  bool healthy = true;
  std::string health_report;
  base::WallTime health_checked;
  MeasuredUse containers_use;
  MeasuredUse node_use;
  FL_FIELDS(response_id, containers, increased, healthy, health_report, health_checked, containers_use, node_use)
};
struct Unregister {
  static constexpr std::string_view kName = "unregister";
  FL_NO_FIELDS()
};
/// The daemon may end now.
struct Exit {
  static constexpr std::string_view kName = "exit";
  int32_t code = 0;
  std::string reason;
  FL_FIELDS(code, reason)
};
/// A line for the log: `subject` went from one state to another.
struct StateChanged {
  static constexpr std::string_view kName = "state_changed";
  std::string subject;
  std::string from;
  std::string to;
  std::string detail;
  FL_FIELDS(subject, from, to, detail)
};

/// Links that a container's working directory is to have besides; those that it has stay.
struct AddLinks {
  static constexpr std::string_view kName = "add_links";
  ContainerId container;
  std::string user;
  std::vector<Link> links;
  FL_FIELDS(container, user, links)
};

/// A container has ended, whether it ever ran or not; its row with the end is stored with the effects of this step.
struct ContainerEnded {
  static constexpr std::string_view kName = "container_ended";
  ContainerId container;
  bool is_master = false;
  int32_t exit_status = kExitInvalid;
  FL_FIELDS(container, is_master, exit_status)
};

using Effect = std::variant<Persist, CallAnswer, CallRefused, InitService, ServiceContainer, Fetch, RemoveResource,
                            Launch, Attach, Signal, Resize, CleanContainer, CleanApp, HandleLogs, Register, Heartbeat,
                            Unregister, Exit, StateChanged, AddLinks, ContainerEnded>;

}  // namespace fairlead::model::nm

#include "process/rm/client_service.h"

#include <algorithm>
#include <utility>

#include "base/freed_pages.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "endpoints/yarn/text_bounds.h"
#include "endpoints/yarn/utilization.h"
#include "process/rm/access.h"
#include "process/rm/queue_names.h"
#include "process/rm/reports.h"
#include "process/rm/resource_manager.h"
#include "process/rm/web_resources.h"

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;
namespace ex = endpoints::yarn::exceptions;
using endpoints::yarn::FromWire;
using endpoints::yarn::ToWire;

namespace {

constexpr char kTarget[] = "ClientRMService";

/// By node (CommonNodeLabelsManager.generateNodeLabelsInfoPerNode): active nodes with the label that counts for them,
/// and hosts, with port 0, that were given one.
std::map<m::NodeAddress, std::string> LabelledNodes(const Core& core) {
  std::map<m::NodeAddress, std::string> nodes;
  for (const auto& [node, label] : core.labels().of_nodes()) {
    if (!label.empty()) nodes[node] = label;
  }
  core.ForEachNode([&](const Node& node) {
    if (!node.labels.empty()) nodes[node.address] = node.labels.front();
  });
  return nodes;
}

w::GetNodesToLabelsResponseProto NodesToLabels(const Core& core) {
  w::GetNodesToLabelsResponseProto response;
  for (const auto& [node, label] : LabelledNodes(core)) {
    w::NodeIdToLabelsProto& entry = response.node_to_labels.emplace_back();
    entry.node_id = endpoints::yarn::ToWire(node);
    entry.node_labels.push_back(label);
  }
  return response;
}

w::GetClusterNodeLabelsResponseProto ClusterLabels(const Core& core) {
  w::GetClusterNodeLabelsResponseProto response;
  for (const auto& [name, exclusive] : core.labels().known()) {
    response.deprecated_node_labels.push_back(name);
    w::NodeLabelProto& label = response.node_labels.emplace_back();
    label.name = name;
    label.is_exclusive = exclusive;
  }
  return response;
}

}  // namespace

void ClientService::GetLabelsToNodes(const Call& call, const w::GetLabelsToNodesRequestProto& request) {
  std::map<std::string, std::vector<m::NodeAddress>> by_label;
  for (const auto& [node, label] : LabelledNodes(manager_.core())) by_label[label].push_back(node);
  w::GetLabelsToNodesResponseProto response;
  for (const auto& [label, nodes] : by_label) {
    const std::vector<std::string>& wanted = request.node_labels;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), label) == wanted.end()) continue;
    w::LabelsToNodeIdsProto& entry = response.labels_to_nodes.emplace_back();
    entry.node_labels = label;
    for (const m::NodeAddress& node : nodes) entry.node_id.push_back(endpoints::yarn::ToWire(node));
  }
  server_.ReplyMessage(call.token, response);
}

void ClientService::OnCall(const Call& call) {
  LearnCaller(call, [this](const Call& learnt) { Do(learnt); });
}

void ClientService::Do(const Call& call) {
  using Method = w::ApplicationClientProtocolMethod;
  const rpc::CallToken to = call.token;
  switch (call.As<Method>()) {
    case Method::kGetApplicationReport:
      return Take(call, &ClientService::GetReport);
    case Method::kSubmitApplication:
      return Submit(call);
    case Method::kForceKillApplication:
      return Take(call, &ClientService::Kill);
    case Method::kGetApplications:
      return Take(call, &ClientService::GetApplications);
    case Method::kGetClusterMetrics:
      return GetMetrics(call);
    case Method::kGetClusterNodes:
      return Take(call, &ClientService::GetNodes);
    case Method::kGetQueueInfo:
      return Take(call, &ClientService::GetQueueInfo);
    case Method::kGetQueueUserAcls:
      return GetQueueAcls(call);
    case Method::kGetApplicationAttempts:
      return Take(call, &ClientService::GetAttempts);
    case Method::kGetApplicationAttemptReport:
      return Take(call, &ClientService::GetAttempt);
    case Method::kGetContainers:
      return Take(call, &ClientService::GetContainers);
    case Method::kGetContainerReport:
      return Take(call, &ClientService::GetContainer);
    case Method::kMoveApplicationAcrossQueues:
      return Take(call, &ClientService::Move);
    case Method::kUpdateApplicationPriority:
      return Take(call, &ClientService::SetPriority);
    case Method::kUpdateApplicationTimeouts:
      return Take(call, &ClientService::SetTimeouts);
    case Method::kFailApplicationAttempt:
      return Take(call, &ClientService::FailAttempt);
    case Method::kSignalToContainer:
      return Take(call, &ClientService::Signal);
    case Method::kGetDelegationToken:
      return GetDelegationToken(call);
    case Method::kRenewDelegationToken:
      return RenewDelegationToken(call);
    case Method::kCancelDelegationToken:
      return CancelDelegationToken(call);
    case Method::kGetNewApplication:
      return batches_.Ask(m::NewApplication{}, [this, to](const auto& effect) {
        if (!Refused(to, effect)) server_.ReplyMessage(to, ToWire(std::get<m::NewApplicationAnswer>(effect)));
      });
    case Method::kGetResourceTypeInfo: {
      w::GetAllResourceTypeInfoResponseProto response;
      response.resource_type_info = endpoints::yarn::ResourceTypeInfos();
      return server_.ReplyMessage(to, response);
    }
    case Method::kGetNodeToLabels:
      return server_.ReplyMessage(to, NodesToLabels(manager_.core()));
    case Method::kGetLabelsToNodes:
      return Take(call, &ClientService::GetLabelsToNodes);
    case Method::kGetClusterNodeLabels:
      return server_.ReplyMessage(to, ClusterLabels(manager_.core()));
    case Method::kGetClusterNodeAttributes:
    case Method::kGetAttributesToNodes:
    case Method::kGetNodesToAttributes:
      return server_.Reply(to, "");  // there are none
    case Method::kGetResourceProfiles:
    case Method::kGetResourceProfile:
      return Refuse(
          to, "org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException",
          "Resource profile is not enabled, please enable resource profile feature before using its functions. "
          "(by setting yarn.resourcemanager.resource-profiles.enabled to true)");
    case Method::kGetNewReservation:
    case Method::kSubmitReservation:
    case Method::kUpdateReservation:
    case Method::kDeleteReservation:
    case Method::kListReservations:
      return Refuse(to, ex::kYarn, "Reservation is not enabled. Please enable & try again");
  }
}

void ClientService::Submit(const Call& call) {
  auto request = Parse<w::SubmitApplicationRequestProto>(call);
  if (!request) return;
  const rpc::CallToken to = call.token;
  if (!request->application_submission_context) return RefuseMissing(call, "application submission context");
  const w::ApplicationSubmissionContextProto& context = *request->application_submission_context;
  if (!context.am_container_spec) return RefuseMissing(call, "launch context");
  const model::ApplicationId named = FromWire(context.ApplicationId());
  if (!manager_.core().FindApp(named)) {  // else it was submitted before, and clients may ask again
    AuditWhenAnswered(call, {.name = operations::kSubmit,
                             .target = kTarget,
                             .failure = kNotSubmitted,
                             .about = AboutSubmission(ToString(named), context.queue.value_or(""),
                                                      context.node_label_expression.value_or(""))});
  }
  base::Result<m::Submission> submission = endpoints::yarn::ToSubmission(
      context, {call.caller.user, manager_.access().known().Of(call.caller.user), call.peer.host}, call.request.size());
  if (!submission.ok()) return RefuseRequest(call, submission.error(), "java.lang.IllegalArgumentException: ");
  request.reset();  // the submission has its bytes, and is stored and stepped from here on
  if (call.request.size() > kLargeSubmission) base::GiveBackFreedPages();
  // In another's name: nothing else says who it was.
  const std::string gateway = call.caller.real_user.empty() ? "" : WhoActs(call.caller);
  const model::ApplicationId id = submission->id;
  const auto submitted = [this, to, gateway, peer = call.peer.host, id](const auto& refused) {
    if (refused) return Refuse(to, *refused);
    if (!gateway.empty()) {
      manager_.NoteAction(gateway, peer, ToString(id) + " is submitted", id, "", "",
                          ResourceManager::LogHas::kOperation);
    }
    server_.ReplyMessage(to, w::SubmitApplicationResponseProto{});
  };
  manager_.SubmitApplication(std::move(*submission), submitted);
}

void ClientService::Kill(const Call& call, const w::KillApplicationRequestProto& request) {
  if (!request.application_id) return RefuseMissing(call, "application id");
  const base::Status within =
      endpoints::yarn::Within("diagnostics", request.Diagnostics().size(), endpoints::yarn::kDiagnosticsMax);
  if (!within.ok()) return RefuseRequest(call, within.error());
  m::KillApp event;
  event.app = FromWire(*request.application_id);
  const App* app = manager_.core().FindApp(event.app);
  const Operation operation = ChangeOf(operations::kKill, event.app);
  if (app && !manager_.access().Of(call.caller.user).May(*app, true)) return RefuseChange(call, event.app, operation);
  // Clients ask again and again until it has ended.
  if (!app || !fairlead::rm::IsEnding(app->state)) AuditWhenAnswered(call, operation);
  event.diagnostics =
      "Application " + ToString(event.app) + " was killed by user " + call.caller.user + " at " + call.peer.host;
  if (!request.Diagnostics().empty()) {
    event.diagnostics += " with diagnostic message: " + std::string(request.Diagnostics());
  }
  if (app && !fairlead::rm::IsEnding(app->state)) manager_.NoteKill(WhoActs(call.caller), call.peer.host, *app);
  batches_.Ask(std::move(event), [this, to = call.token](const auto& effect) {
    if (Refused(to, effect)) return;
    w::KillApplicationResponseProto response;
    response.is_kill_completed = std::get<m::KillAnswer>(effect).completed;
    server_.ReplyMessage(to, response);
  });
}

namespace {
w::ApplicationReportProto Report(const AppRow& row, bool full, const ReportFacts& facts) {
  w::ApplicationReportProto report = ReportOf(row.app, row.usage, full, facts);
  if (full && row.app.current()) report.log_aggregation_status = row.logs.At(row.app, facts.now);
  return report;
}

/// What getApplications gives, encoded.
std::string ApplicationsFor(const w::GetApplicationsRequestProto& request, const AppRows& rows, const Viewer& viewer,
                            const ReportFacts& facts) {
  w::GetApplicationsResponseProto response;
  const int64_t limit = request.limit.value_or(INT64_MAX);
  const auto scope = request.Scope();
  rows.ForEach([&](const AppRow& row) {
    if (static_cast<int64_t>(response.applications.size()) >= limit || !Matches(row.app, request)) return;
    const bool full = viewer.May(row.app, false);
    if (scope == w::ApplicationsRequestScopeProto::kOwn && row.app.submission.user != viewer.user) return;
    if (scope == w::ApplicationsRequestScopeProto::kViewable && !full) return;
    if (!viewer.Lists(row.app)) return;
    response.applications.push_back(Report(row, full, facts));
  });
  return response.Encode();
}
}  // namespace

const App* ClientService::RequireApp(const Call& call, const model::ApplicationId& id, Right right) {
  const App* app = manager_.core().FindApp(id);
  if (!app) {
    Refuse(call.token, "ApplicationNotFoundException",
           "Application with id '" + ToString(id) +
               "' doesn't exist in RM. Please check that the job submission was successful.");
    return nullptr;
  }
  if (right == Right::kView && !manager_.access().Of(call.caller.user).May(*app, false)) {
    Refuse(call.token, ex::kYarn,
           "User " + call.caller.user + " does not have privilege to see this application " + ToString(id));
    return nullptr;
  }
  return app;
}

const Attempt* ClientService::RequireAttempt(const Call& call, const model::ApplicationAttemptId& id) {
  const Attempt* attempt = manager_.core().FindAttempt(id);
  if (!attempt) {
    Refuse(call.token, "ApplicationAttemptNotFoundException",
           "ApplicationAttempt with id '" + ToString(id) + "' doesn't exist in RM.");
  }
  return attempt;
}

Operation ClientService::ChangeOf(const char* name, const model::ApplicationId& id) {
  return {.name = name, .target = kTarget, .about = AboutApp(id)};
}

const App* ClientService::RequireChangeable(const Call& call, const model::ApplicationId& id, Operation operation) {
  AuditWhenAnswered(call, operation);
  const App* app = RequireApp(call, id, Right::kAny);
  if (!app || manager_.access().Of(call.caller.user).May(*app, true)) return app;
  RefuseChange(call, id, std::move(operation));
  return nullptr;
}

void ClientService::RefuseChange(const Call& call, const model::ApplicationId& id, Operation operation) {
  operation.failure = kUnauthorized;
  AuditWhenAnswered(call, std::move(operation));
  Refuse(call.token, ex::kYarn,
         "java.security.AccessControlException: User " + call.caller.user + " cannot perform operation MODIFY_APP on " +
             ToString(id));
}

void ClientService::ReplyInTurn(const Call& call, std::function<std::function<std::string()>()> begin) {
  auto made = std::make_shared<std::string>();
  server_.HoldOthers(call.token);
  large_.Add(
      call.asker,
      [made, begin = std::move(begin)]() -> LargeAnswers::Work {
        return [made, encode = begin()] { *made = encode(); };
      },
      [this, made, to = call.token] { server_.Reply(to, *made); });
}

void ClientService::GetReport(const Call& call, const w::GetApplicationReportRequestProto& request) {
  if (!request.application_id) {
    return Refuse(call.token, "ApplicationNotFoundException", "Invalid application id: null");
  }
  const App* app = RequireApp(call, FromWire(*request.application_id), Right::kAny);
  if (!app) return;
  w::GetApplicationReportResponseProto response;
  AppRow row = RowOf(*app, manager_.scheduler(), manager_.now_wall());
  row.logs = manager_.log_aggregation().Of(*app);
  const bool full = manager_.access().Of(call.caller.user).May(*app, false);
  response.application_report = Report(row, full, manager_.FactsForReports());
  if (full) response.application_report->diagnostics = manager_.DiagnosticsOf(*app);
  const Attempt* attempt = app->current();
  if (manager_.secured() && full && attempt && attempt->state == m::AttemptState::kRunning) {
    w::ClientToAMTokenIdentifierProto identifier;
    identifier.app_attempt_id = endpoints::yarn::ToWire(attempt->id);
    identifier.client_name = call.caller.full_name.empty() ? call.caller.user : call.caller.full_name;
    response.application_report->client_to_am_token = endpoints::yarn::ToWire(
        endpoints::yarn::MintClientToAmToken(identifier, manager_.keys().ClientToMasterKey(attempt->id)));
  }
  if (app->submission.unmanaged && attempt && attempt->state == m::AttemptState::kLaunched &&
      call.caller.user == app->submission.user) {
    response.application_report->am_rm_token = endpoints::yarn::ToWire(manager_.keys().AmRmToken(attempt->id));
  }
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetApplications(const Call& call, const w::GetApplicationsRequestProto& request) {
  ReplyInTurn(call, [this, request, user = call.caller.user]() -> std::function<std::string()> {
    return [request, rows = manager_.Fresh().Rows(), viewer = manager_.access().Of(user),
            facts = manager_.FactsForReports()] { return ApplicationsFor(request, rows, viewer, facts); };
  });
}

void ClientService::GetMetrics(const Call& call) {
  w::GetClusterMetricsResponseProto response;
  const auto count = [nodes = manager_.Fresh().cluster().nodes](m::NodeState state) {
    return static_cast<int32_t>(nodes[static_cast<size_t>(state)]);
  };
  w::YarnClusterMetricsProto& metrics = response.cluster_metrics.emplace();
  metrics.num_active_nms = count(m::NodeState::kRunning);
  metrics.num_unhealthy_nms = count(m::NodeState::kUnhealthy);
  metrics.num_decommissioning_nms = count(m::NodeState::kDecommissioning);
  metrics.num_node_managers = *metrics.num_active_nms + *metrics.num_unhealthy_nms + *metrics.num_decommissioning_nms;
  metrics.num_decommissioned_nms = count(m::NodeState::kDecommissioned);
  metrics.num_lost_nms = count(m::NodeState::kLost);
  metrics.num_rebooted_nms = count(m::NodeState::kRebooted);
  metrics.num_shutdown_nms = count(m::NodeState::kShutdown);
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetNodes(const Call& call, const w::GetClusterNodesRequestProto& request) {
  ReplyInTurn(call, [this, states = request.node_states]() -> std::function<std::string()> {
    return [states, nodes = NodeRows(manager_.core())] {
      w::GetClusterNodesResponseProto response;
      for (const NodeRow& node : nodes) {
        if (!states.empty() && std::find(states.begin(), states.end(), ToWire(node.state)) == states.end()) continue;
        w::NodeReportProto& report = response.node_reports.emplace_back(ReportOf(node));
        report.containers_utilization = ToWire(node.containers_use);
        report.node_utilization = ToWire(node.use);
      }
      return response.Encode();
    };
  });
}

namespace {
w::QueueStatisticsProto StatisticsOf(const QueueSums& sums) {
  const auto count = [&](m::AppState state) { return sums.apps[static_cast<size_t>(state)]; };
  w::QueueStatisticsProto statistics;
  const int64_t running = count(m::AppState::kRunning);
  const int64_t completed = count(m::AppState::kFinishing) + count(m::AppState::kFinished);
  const int64_t killed = count(m::AppState::kKilled);
  const int64_t failed = count(m::AppState::kFailed);
  int64_t submitted = 0;
  for (const int64_t apps : sums.apps) submitted += apps;
  statistics.num_apps_submitted = submitted;
  statistics.num_apps_running = running;
  statistics.num_apps_pending = submitted - running - completed - killed - failed;
  statistics.num_apps_completed = completed;
  statistics.num_apps_killed = killed;
  statistics.num_apps_failed = failed;
  statistics.allocated_containers = sums.containers;
  statistics.reserved_containers = sums.reservations;
  statistics.reserved_memory_mb = sums.reserved.memory_mib();
  statistics.reserved_v_cores = sums.reserved.vcores();
  statistics.pending_containers = sums.pending;
  return statistics;
}

float Ratio(int64_t part, int64_t whole) {
  return whole <= 0 ? 0.0f : static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
}

/// What CSQueueInfoProvider.getQueueInfo says in place of it.
void TellCapacity(const scheduler::CapacityView& capacity, w::QueueInfoProto& info) {
  info.queue_name = info.QueuePath().substr(info.QueuePath().rfind('.') + 1);
  const scheduler::CapacityPartition& shares = capacity.partitions.at("");
  info.capacity = shares.share;
  info.maximum_capacity = shares.maximum;
  info.current_capacity = shares.used_share;
  info.state = capacity.state == model::CapacityQueueState::kRunning   ? w::QueueStateProto::kRunning
               : capacity.state == model::CapacityQueueState::kStopped ? w::QueueStateProto::kStopped
                                                                       : w::QueueStateProto::kDraining;
  info.accessible_node_labels = capacity.labels;
  if (!capacity.default_label.empty()) info.default_node_label_expression = capacity.default_label;
  info.preemption_disabled = capacity.preemption_disabled;
  info.intra_queue_preemption_disabled = capacity.intra_queue_preemption_disabled;
  info.weight = shares.weight;
  info.max_parallel_apps = capacity.max_parallel_apps;
}

/// The queue of that name: a full one, or where `view` is a CapacityScheduler's the last part of only one.
const scheduler::QueueView* FindQueue(const scheduler::View& view, const std::string& name) {
  const scheduler::QueueView* found = nullptr;
  for (const scheduler::QueueView& queue : view.queues) {
    if (queue.name == FullQueueName(name)) return &queue;
    if (!queue.capacity || !queue.name.ends_with("." + name)) continue;
    if (found) return nullptr;
    found = &queue;
  }
  return found;
}

/// What answers about queues are made of, off the thread that decides.
struct QueueFacts {
  std::string_view scheduler;
  scheduler::View view;
  std::map<std::string, QueueSums> sums;
};

/// FSQueue.getQueueInfo.
w::QueueInfoProto QueueInfoOf(const QueueFacts& facts, const QueuesBelow& below, const scheduler::QueueView& queue,
                              bool children, bool recursive) {
  const auto& [scheduler, view, sums] = facts;
  w::QueueInfoProto info;
  info.queue_name = queue.name;
  info.capacity = Ratio(queue.fair_share.memory_mib(), view.cluster.memory_mib());
  info.current_capacity = Ratio(queue.used.memory_mib(), queue.fair_share.memory_mib());
  info.state = w::QueueStateProto::kRunning;
  const auto own = sums.find(queue.name);
  w::QueueStatisticsProto statistics = StatisticsOf(own == sums.end() ? QueueSums{} : own->second);
  // QueueMetrics knows what is available of the root alone.
  const model::Resources available = queue.parent.empty() ? view.cluster - queue.used : model::Resources{};
  statistics.available_memory_mb = std::max<int64_t>(0, available.memory_mib());
  statistics.allocated_memory_mb = queue.used.memory_mib();
  statistics.available_v_cores = std::max<int64_t>(0, available.vcores());
  statistics.allocated_v_cores = queue.used.vcores();
  statistics.pending_memory_mb = std::max<int64_t>(0, queue.demand.memory_mib() - queue.used.memory_mib());
  statistics.pending_v_cores = std::max<int64_t>(0, queue.demand.vcores() - queue.used.vcores());
  info.queue_statistics = std::move(statistics);
  info.weight = static_cast<float>(queue.weight);
  info.queue_path = queue.name;
  info.scheduler_type = std::string(scheduler);
  info.max_parallel_apps = queue.max_running_apps;
  info.min_resource_memory = queue.min_share.memory_mib();
  info.min_resource_v_core = static_cast<int32_t>(queue.min_share.vcores());
  info.max_resource_memory = queue.max_share.memory_mib();
  info.max_resource_v_core = static_cast<int32_t>(std::min<int64_t>(queue.max_share.vcores(), INT32_MAX));
  info.steady_fair_share_memory = queue.steady_share.memory_mib();
  info.steady_fair_share_v_core = static_cast<int32_t>(queue.steady_share.vcores());
  info.max_running_app = queue.max_running_apps;
  if (queue.capacity) TellCapacity(*queue.capacity, info);
  if (!children) return info;
  if (const auto found = below.find(queue.name); found != below.end()) {
    for (const scheduler::QueueView* child : found->second) {
      info.child_queues.push_back(QueueInfoOf(facts, below, *child, recursive, recursive));
    }
  }
  return info;
}

/// What getQueueInfo gives, encoded.
std::string QueueInfoFor(const w::GetQueueInfoRequestProto& request, const QueueFacts& facts, const AppRows& rows,
                         const Viewer& viewer, const ReportFacts& reports) {
  w::GetQueueInfoResponseProto response;
  const scheduler::QueueView* queue = FindQueue(facts.view, request.queue_name.value_or(""));
  if (queue == nullptr) return response.Encode();
  w::QueueInfoProto& info = response.queue_info.emplace(
      QueueInfoOf(facts, GroupByParent(facts.view), *queue, request.IncludeChildQueues(), request.Recursive()));
  if (!request.IncludeApplications()) return response.Encode();
  rows.ForEach([&](const AppRow& row) {
    if (FullQueueName(row.app.submission.queue) != queue->name || Core::IsCompleted(row.app)) return;
    if (viewer.May(row.app, false)) info.applications.push_back(Report(row, true, reports));
  });
  return response.Encode();
}
}  // namespace

void ClientService::GetQueueInfo(const Call& call, const w::GetQueueInfoRequestProto& request) {
  if (!request.queue_name) return RefuseMissing(call, "queue name");
  ReplyInTurn(call, [this, request, user = call.caller.user]() -> std::function<std::string()> {
    QueueFacts facts{manager_.options().hadoop_scheduler, manager_.scheduler().GetQueues(), manager_.Fresh().queues()};
    return [request, facts = std::move(facts), rows = manager_.Fresh().Rows(), viewer = manager_.access().Of(user),
            reports = manager_.FactsForReports()] { return QueueInfoFor(request, facts, rows, viewer, reports); };
  });
}

void ClientService::GetQueueAcls(const Call& call) {
  w::GetQueueUserAclsInfoResponseProto response;
  const Viewer viewer = manager_.access().Of(call.caller.user);
  for (const scheduler::QueueView& queue : manager_.scheduler().GetQueues().queues) {
    w::QueueUserACLInfoProto& info = response.queue_user_acls.emplace_back();
    info.queue_name = queue.name;
    if (viewer.MayUse(queue.name, false)) {
      info.user_acls.push_back(w::QueueACLProto::kSubmitApplications);
    }
    if (viewer.MayUse(queue.name, true)) {
      info.user_acls.push_back(w::QueueACLProto::kAdministerQueue);
    }
  }
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetAttempts(const Call& call, const w::GetApplicationAttemptsRequestProto& request) {
  if (!request.application_id) return RefuseMissing(call, "application id");
  const App* app = RequireApp(call, FromWire(*request.application_id), Right::kView);
  if (!app) return;
  w::GetApplicationAttemptsResponseProto response;
  for (const auto& [number, attempt] : app->attempts) response.application_attempts.push_back(ReportOf(*app, attempt));
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetAttempt(const Call& call, const w::GetApplicationAttemptReportRequestProto& request) {
  if (!request.application_attempt_id) return RefuseMissing(call, "application attempt id");
  const model::ApplicationAttemptId id = FromWire(*request.application_attempt_id);
  const App* app = RequireApp(call, id.app, Right::kAny);
  if (!app) return;
  if (!manager_.access().Of(call.caller.user).May(*app, false)) {
    return Refuse(call.token, ex::kYarn,
                  "User " + call.caller.user + " does not have privilege to see this attempt " + ToString(id));
  }
  const Attempt* attempt = RequireAttempt(call, id);
  if (!attempt) return;
  w::GetApplicationAttemptReportResponseProto response;
  response.application_attempt_report = ReportOf(*app, *attempt);
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetContainers(const Call& call, const w::GetContainersRequestProto& request) {
  if (!request.application_attempt_id) return RefuseMissing(call, "application attempt id");
  const model::ApplicationAttemptId id = FromWire(*request.application_attempt_id);
  const App* app = RequireApp(call, id.app, Right::kView);
  if (!app) return;
  if (!RequireAttempt(call, id)) return;
  w::GetContainersResponseProto response;
  const bool current = app->current()->id == id;  // it has what it took over from earlier attempts, too
  for (const Container* container : InOrder(app->containers)) {
    if (!current && container->id.attempt != id) continue;
    response.containers.push_back(ReportOf(manager_.core(), *app, *container));
  }
  server_.ReplyMessage(call.token, response);
}

void ClientService::GetContainer(const Call& call, const w::GetContainerReportRequestProto& request) {
  if (!request.container_id) return Refuse(call.token, ex::kContainerNotFound, "Invalid container id: null");
  const model::ContainerId id = FromWire(*request.container_id);
  const App* app = RequireApp(call, id.attempt.app, Right::kView);
  if (!app) return;
  const Container* container = manager_.core().FindContainer(id);
  if (!RequireAttempt(call, id.attempt)) return;
  if (!container) {
    return Refuse(call.token, "ContainerNotFoundException",
                  "Container with id '" + ToString(id) + "' doesn't exist in RM.");
  }
  w::GetContainerReportResponseProto response;
  response.container_report = ReportOf(manager_.core(), *app, *container);
  server_.ReplyMessage(call.token, response);
}

void ClientService::Move(const Call& call, const w::MoveApplicationAcrossQueuesRequestProto& request) {
  const model::ApplicationId id = FromWire(request.application_id);
  Operation operation = ChangeOf(operations::kMove, id);
  if (!RequireChangeable(call, id, operation)) return;
  if (const std::string denied = manager_.access().MoveError(call.caller.user, id, request.target_queue);
      !denied.empty()) {
    operation.failure = kUnauthorized;
    AuditWhenAnswered(call, std::move(operation));
    return Refuse(call.token, ex::kYarn, "java.security.AccessControlException: " + denied);
  }
  m::MoveApp event;
  event.app = id;
  event.queue = request.target_queue;
  batches_.Ask(std::move(event),
               [this, to = call.token, id, user = WhoActs(call.caller), peer = call.peer.host](const auto& effect) {
                 if (Refused(to, effect)) return;
                 manager_.NoteMove(user, peer, id);
                 server_.ReplyMessage(to, w::MoveApplicationAcrossQueuesResponseProto{});
               });
}

void ClientService::SetPriority(const Call& call, const w::UpdateApplicationPriorityRequestProto& request) {
  const model::ApplicationId id = FromWire(request.application_id);
  m::SetPriority event;
  event.app = id;
  event.priority = request.application_priority.Priority();
  if (!RequireChangeable(call, id, ChangeOf(operations::kSetPriority, id))) return;
  event.user = call.caller.user;
  event.groups = manager_.access().Of(event.user).groups;
  batches_.Ask(std::move(event),
               [this, to = call.token, id, user = WhoActs(call.caller), peer = call.peer.host](const auto& effect) {
                 if (Refused(to, effect)) return;
                 const int32_t now = std::get<m::PriorityAnswer>(effect).priority;
                 manager_.NotePriority(user, peer, id, now);
                 w::UpdateApplicationPriorityResponseProto response;
                 response.application_priority = endpoints::yarn::PriorityToWire(now);
                 server_.ReplyMessage(to, response);
               });
}

void ClientService::SetTimeouts(const Call& call, const w::UpdateApplicationTimeoutsRequestProto& request) {
  m::SetLifetime event;
  event.app = FromWire(request.application_id);
  if (!RequireChangeable(call, event.app, ChangeOf(operations::kSetTimeouts, event.app))) return;
  if (request.application_timeouts.empty()) {
    return Refuse(call.token, ex::kYarn,
                  "At least one ApplicationTimeoutType should be configured for updating timeouts.");
  }
  base::Result<base::WallTime> expires = ParseIso8601(request.application_timeouts[0].ExpireTime());
  if (!expires.ok()) return Refuse(call.token, "java.time.format.DateTimeParseException", expires.error().message);
  event.expires = *expires;
  if (event.expires < manager_.now_wall()) {
    return Refuse(call.token, ex::kYarn,
                  "Expire time is less than current time, current-time=" + Iso8601(manager_.now_wall()) +
                      " expire-time=" + Iso8601(event.expires));
  }
  batches_.Ask(std::move(event), [this, to = call.token](const auto& effect) {
    if (Refused(to, effect)) return;
    w::UpdateApplicationTimeoutsResponseProto response;
    w::ApplicationUpdateTimeoutMapProto& entry = response.application_timeouts.emplace_back();
    entry.application_timeout_type = w::ApplicationTimeoutTypeProto::kLifetime;
    entry.expire_time = Iso8601(std::get<m::LifetimeAnswer>(effect).expires);
    server_.ReplyMessage(to, response);
  });
}

void ClientService::FailAttempt(const Call& call, const w::FailApplicationAttemptRequestProto& request) {
  if (!request.application_attempt_id) return RefuseMissing(call, "application attempt id");
  m::FailAttempt event;
  event.attempt = FromWire(*request.application_attempt_id);
  Operation operation = ChangeOf(operations::kFailAttempt, event.attempt.app);
  operation.about.emplace_back("APPATTEMPTID", ToString(event.attempt));
  if (!RequireChangeable(call, event.attempt.app, std::move(operation))) return;
  batches_.Ask(std::move(event), Done<w::FailApplicationAttemptResponseProto>(call.token));
}

void ClientService::Signal(const Call& call, const w::SignalContainerRequestProto& request) {
  m::SignalContainer event;
  event.container = FromWire(request.container_id);
  const auto command = static_cast<int32_t>(request.command);
  if (command < 1 || command > 3) return Refuse(call.token, ex::kYarn, "Unknown signal command.");
  event.command = static_cast<m::SignalCommand>(command);
  const model::ApplicationId& id = event.container.attempt.app;
  Operation operation = ChangeOf(operations::kSignal, id);
  operation.about.emplace_back("CONTAINERID", ToString(event.container));
  if (!manager_.core().FindApp(id)) {
    AuditWhenAnswered(call, std::move(operation));
    return Refuse(call.token, ex::kYarn, "Trying to signal an absent container " + ToString(event.container));
  }
  if (!RequireChangeable(call, id, std::move(operation))) return;
  batches_.Ask(std::move(event), Done<w::SignalContainerResponseProto>(call.token));
}

}  // namespace fairlead::process::rm

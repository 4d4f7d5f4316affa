#include "process/rm/admin_service.h"

#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "process/rm/access.h"
#include "process/rm/draining.h"
#include "process/rm/reports.h"
#include "process/rm/resource_manager.h"
#include "wire/hadoop_rpc/ha_service.h"

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;
namespace h = wire::hadoop_rpc;
namespace ex = endpoints::yarn::exceptions;

void AdminService::OnCall(const Call& call) {
  LearnCaller(call, [this](const Call& learnt) { Do(learnt); });
}

void AdminService::Do(const Call& call) {
  const rpc::CallToken to = call.token;
  using Method = w::ResourceManagerAdministrationProtocolMethod;
  const auto is = [method = call.As<Method>()](Method one) { return method == one; };
  if (is(Method::kRefreshServiceAcls) && !manager_.admission().has_policy()) {
    return Refuse(to, ex::kYarn,
                  "java.io.IOException: Service Authorization (hadoop.security.authorization) not enabled.");
  }
  if (RefusesStranger(call)) return;
  if (is(Method::kGetGroupsForUser)) {
    const auto request = Parse<w::GetGroupsForUserRequestProto>(call);
    if (!request) return;
    return manager_.access().known().Learn(request->user, [this, to, user = request->user] {
      w::GetGroupsForUserResponseProto response;
      response.groups = manager_.access().known().Of(user);
      server_.ReplyMessage(to, response);
    });
  }
  if (is(Method::kRefreshNodes)) return Take(call, &AdminService::RefreshNodes);
  if (is(Method::kUpdateNodeResource)) return Take(call, &AdminService::UpdateNodeResource);
  if (is(Method::kRefreshQueues)) {
    base::Result<model::QueueTree> queues = manager_.ReadQueues();
    if (!queues.ok()) return Refuse(to, ex::kYarn, queues.error().message);
    return manager_.ReloadQueues(std::move(*queues), [this, to](const auto& refused) {
      // RPCUtil.getRemoteException puts the class first, where it is no YarnException.
      if (refused) return Refuse(to, ex::kYarn, refused->class_name + ": " + refused->message);
      server_.ReplyMessage(to, w::RefreshQueuesResponseProto{});
    });
  }
  if (is(Method::kCheckForDecommissioningNodes)) {
    w::CheckForDecommissioningNodesResponseProto response;
    manager_.core().ForEachNode([&](const fairlead::rm::Node& node) {
      if (node.state != m::NodeState::kDecommissioning) return;
      response.decommissioning_nodes.push_back(endpoints::yarn::ToWire(node.address));
    });
    return server_.ReplyMessage(to, response);
  }
  if (is(Method::kRefreshUserToGroupsMappings)) {
    manager_.access().known().Expire();
    manager_.admission().ExpireGroups();
  }
  if (is(Method::kRefreshServiceAcls) || is(Method::kRefreshSuperUserGroupsConfiguration))
    return RefreshAdmission(call);
  // ACLs and priorities are read when they are needed: nothing is cached that a refresh would drop.
  if (is(Method::kRefreshUserToGroupsMappings) || is(Method::kRefreshAdminAcls) || is(Method::kRefreshNodesResources) ||
      is(Method::kRefreshClusterMaxPriority)) {
    return server_.Reply(to, "");
  }
  if (manager_.core().config().node_labels) {
    if (is(Method::kAddToClusterNodeLabels)) return Take(call, &AdminService::AddLabels);
    if (is(Method::kRemoveFromClusterNodeLabels)) return Take(call, &AdminService::RemoveLabels);
    if (is(Method::kReplaceLabelsOnNodes)) return Take(call, &AdminService::ReplaceLabels);
  }
  if (is(Method::kAddToClusterNodeLabels) || is(Method::kRemoveFromClusterNodeLabels) ||
      is(Method::kReplaceLabelsOnNodes)) {
    // As Hadoop's RM while yarn.node-labels.enabled is false; to replace nothing is no error there either.
    if (is(Method::kReplaceLabelsOnNodes) && call.request.empty()) return server_.Reply(to, "");
    return Refuse(
        to, ex::kYarn,
        "java.io.IOException: Node-label-based scheduling is disabled. Please check yarn.node-labels.enabled");
  }
  Refuse(to, ex::kUnsupportedOperation, std::string(call.method) + " is not supported by this ResourceManager.");
}

// Whatever yarn.acl.enable says (ConfiguredYarnAuthorizer.isAdmin).
bool AdminService::RefusesStranger(const Call& call) {
  using Method = w::ResourceManagerAdministrationProtocolMethod;
  const auto method = call.As<Method>();
  const bool may = manager_.access().Of(call.caller.user).IsAdministrator();
  const std::string name(method == Method::kReplaceLabelsOnNodes ? "replaceLabelsOnNode" : call.method);
  // That one is of hadoop-common, which knows no YarnException and writes no audit.
  const bool of_groups = method == Method::kGetGroupsForUser;
  if (!of_groups)
    AuditWhenAnswered(call, {.name = name, .target = "AdminService", .failure = may ? "" : kUnauthorized});
  if (may) return false;
  const std::string denied = std::string(ex::kAccessControl) + ": User " + call.caller.user +
                             " doesn't have permission to call '" + name + "'";
  of_groups ? Refuse(call.token, ex::kIo, std::string(ex::kYarn) + ": " + denied)
            : Refuse(call.token, ex::kYarn, denied);
  return true;
}

void AdminService::RefreshAdmission(const Call& call) {
  auto done = alive_([this, to = call.token, what = std::string(call.method), who = WhoActs(call.caller),
                      peer = call.peer.host](const base::Status& read) {
    if (!read.ok()) return Refuse(to, ex::kYarn, read.error().message);
    manager_.NoteAction(who, peer, what, {}, "", "", ResourceManager::LogHas::kOperation);
    server_.Reply(to, "");
  });
  Admission& admission = manager_.admission();
  const bool policy = call.As<w::ResourceManagerAdministrationProtocolMethod>() ==
                      w::ResourceManagerAdministrationProtocolMethod::kRefreshServiceAcls;
  policy ? admission.RefreshPolicy(done) : admission.RefreshProxies(done);
}

void AdminService::AddLabels(const Call& call, const w::AddToClusterNodeLabelsRequestProto& request) {
  m::AddLabels event;
  for (const std::string& name : request.deprecated_node_labels) event.labels.push_back({name, true});
  if (!request.node_labels.empty()) event.labels.clear();  // the newer of two forms
  for (const w::NodeLabelProto& label : request.node_labels)
    event.labels.push_back({std::string(label.Name()), label.IsExclusive()});
  batches_.Ask(std::move(event), Done<w::AddToClusterNodeLabelsResponseProto>(call.token));
}

void AdminService::RemoveLabels(const Call& call, const w::RemoveFromClusterNodeLabelsRequestProto& request) {
  batches_.Ask(m::RemoveLabels{0, request.node_labels}, Done<w::RemoveFromClusterNodeLabelsResponseProto>(call.token));
}

void AdminService::ReplaceLabels(const Call& call, const w::ReplaceLabelsOnNodeRequestProto& request) {
  m::ReplaceLabels event;
  event.fail_on_unknown = request.FailOnUnknownNodes();
  for (const w::NodeIdToLabelsProto& entry : request.node_to_labels) {
    const m::NodeAddress node = endpoints::yarn::FromWire(entry.NodeId());
    if (entry.node_labels.size() > 1) {
      return Refuse(call.token, ex::kYarn,
                    "java.io.IOException: " + std::to_string(entry.node_labels.size()) +
                        " labels specified on host=" + node.host +
                        ", please note that we do not support specifying multiple labels on a single host for now.");
    }
    event.nodes.push_back({node, entry.node_labels.empty() ? "" : entry.node_labels.front()});
  }
  batches_.Ask(std::move(event), Done<w::ReplaceLabelsOnNodeResponseProto>(call.token));
}

void AdminService::RefreshNodes(const Call& call, const w::RefreshNodesRequestProto& request) {
  base::Result<m::RefreshNodes> lists = manager_.draining().HostLists();
  if (!lists.ok()) return Refuse(call.token, ex::kYarn, lists.error().message);
  lists->graceful =
      request.decommission_type.value_or(w::DecommissionTypeProto::kNormal) == w::DecommissionTypeProto::kGraceful;
  lists->timeout_s = request.decommission_timeout.value_or(-1);
  batches_.Ask(std::move(*lists), Done<w::RefreshNodesResponseProto>(call.token));
}

void AdminService::UpdateNodeResource(const Call& call, const w::UpdateNodeResourceRequestProto& request) {
  for (const w::NodeResourceMapProto& entry : request.node_resource_map) {
    const m::NodeAddress address = endpoints::yarn::FromWire(entry.NodeId());
    const Node* node = manager_.core().FindNode(address);
    if (!node || !node->in_scheduler) {
      return Refuse(call.token, ex::kYarn,
                    "Resource update get failed on all nodes due to change resource on an unrecognized node: " +
                        ToString(address));
    }
    if (endpoints::yarn::FromWire(entry.ResourceOption().Resource()).AnyNegative()) {
      return Refuse(call.token, ex::kYarn, "A node's resource cannot be negative.");
    }
  }
  const auto refused = std::make_shared<bool>(false);
  const size_t last = request.node_resource_map.size();
  if (last == 0) return server_.ReplyMessage(call.token, w::UpdateNodeResourceResponseProto{});
  for (size_t i = 0; i < last; ++i) {
    const w::NodeResourceMapProto& entry = request.node_resource_map[i];
    m::ResizeNode event;
    event.address = endpoints::yarn::FromWire(entry.NodeId());
    event.capacity = endpoints::yarn::Bounded(endpoints::yarn::FromWire(entry.ResourceOption().Resource()));
    batches_.Ask(std::move(event), [this, to = call.token, refused, answers = i + 1 == last](const auto& effect) {
      *refused = *refused || Refused(to, effect);
      if (answers && !*refused) server_.ReplyMessage(to, w::UpdateNodeResourceResponseProto{});
    });
  }
}

void AdminService::OnHaCall(const Call& call) {
  using Method = h::HAProtocolMethod;
  switch (call.As<Method>()) {
    case Method::kGetServiceStatus: {
      h::GetServiceStatusResponseProto response;
      response.state = h::HAServiceStateProto::kActive;
      response.ready_to_become_active = true;
      return server_.ReplyMessage(call.token, response);
    }
    case Method::kMonitorHealth:
      return server_.ReplyMessage(call.token, h::MonitorHealthResponseProto{});
    case Method::kTransitionToActive:
      AuditWhenAnswered(call, {.name = std::string(call.method), .target = "RM"});
      return server_.ReplyMessage(call.token, h::TransitionToActiveResponseProto{});
    case Method::kTransitionToStandby:
    case Method::kTransitionToObserver:
      AuditWhenAnswered(call, {.name = std::string(call.method), .target = "RM"});
      return Refuse(call.token, ex::kUnsupportedOperation,
                    "This ResourceManager runs alone (yarn.resourcemanager.ha.enabled is false): it stays active.");
  }
}

}  // namespace fairlead::process::rm

#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "process/rm/reports.h"
#include "process/rm/service_support.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/yarn/admin.h"

// ResourceManagerAdministrationProtocol (AdminService) and HAServiceProtocol: `yarn rmadmin`.

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;
namespace h = wire::hadoop_rpc;
namespace ex = endpoints::yarn::exceptions;

void ResourceManager::OnAdminCall(const rpc::IncomingCall& call) { LearnCaller(call, &ResourceManager::DoAdminCall); }

void ResourceManager::DoAdminCall(const rpc::IncomingCall& call) {
  const rpc::CallToken to = call.token;
  using Method = w::ResourceManagerAdministrationProtocolMethod;
  const auto is = [method = call.As<Method>()](Method one) { return method == one; };
  if (is(Method::kRefreshServiceAcls) && !ports_->admission().has_policy()) {
    return Refuse(to, ex::kYarn,
                  "java.io.IOException: Service Authorization (hadoop.security.authorization) not enabled.");
  }
  // Whatever yarn.acl.enable says (ConfiguredYarnAuthorizer.isAdmin).
  if (!IsAdministrator(call.caller.user)) {
    const std::string name(is(Method::kReplaceLabelsOnNodes) ? "replaceLabelsOnNode" : call.method);
    const std::string denied = std::string(ex::kAccessControl) + ": User " + call.caller.user +
                               " doesn't have permission to call '" + name + "'";
    // This one is of hadoop-common, which knows no YarnException.
    if (is(Method::kGetGroupsForUser)) return Refuse(to, ex::kIo, std::string(ex::kYarn) + ": " + denied);
    return Refuse(to, ex::kYarn, denied);
  }
  if (is(Method::kGetGroupsForUser)) {
    const auto request = Parse<w::GetGroupsForUserRequestProto>(call);
    if (!request) return;
    return groups_.Learn(request->user, [this, to, user = request->user] {
      w::GetGroupsForUserResponseProto response;
      response.groups = groups_.Of(user);
      server_->ReplyMessage(to, response);
    });
  }
  if (is(Method::kRefreshNodes)) return RefreshNodes(call);
  if (is(Method::kUpdateNodeResource)) return UpdateNodeResource(call);
  if (is(Method::kRefreshQueues)) {
    base::Result<model::QueueTree> queues = ReadQueues();
    if (!queues.ok()) return Refuse(to, ex::kYarn, queues.error().message);
    return ReloadQueues(std::move(*queues), [this, to](const auto& refused) {
      if (refused) return Refuse(to, refused->class_name, refused->message);
      server_->ReplyMessage(to, w::RefreshQueuesResponseProto{});
    });
  }
  if (is(Method::kCheckForDecommissioningNodes)) {
    w::CheckForDecommissioningNodesResponseProto response;
    core().ForEachNode([&](const fairlead::rm::Node& node) {
      if (node.state != m::NodeState::kDecommissioning) return;
      response.decommissioning_nodes.push_back(endpoints::yarn::ToWire(node.address));
    });
    return server_->ReplyMessage(to, response);
  }
  if (is(Method::kRefreshUserToGroupsMappings)) {
    groups_.Expire();
    ports_->admission().ExpireGroups();
  }
  if (is(Method::kRefreshServiceAcls) || is(Method::kRefreshSuperUserGroupsConfiguration))
    return RefreshAdmission(call);
  // ACLs and priorities are read when they are needed: nothing is cached that a refresh would drop.
  if (is(Method::kRefreshUserToGroupsMappings) || is(Method::kRefreshAdminAcls) || is(Method::kRefreshNodesResources) ||
      is(Method::kRefreshClusterMaxPriority)) {
    return server_->Reply(to, "");
  }
  if (core().config().node_labels) {
    if (is(Method::kAddToClusterNodeLabels)) return AddLabels(call);
    if (is(Method::kRemoveFromClusterNodeLabels)) return RemoveLabels(call);
    if (is(Method::kReplaceLabelsOnNodes)) return ReplaceLabels(call);
  }
  if (is(Method::kAddToClusterNodeLabels) || is(Method::kRemoveFromClusterNodeLabels) ||
      is(Method::kReplaceLabelsOnNodes)) {
    // As Hadoop's RM while yarn.node-labels.enabled is false; to replace nothing is no error there either.
    if (is(Method::kReplaceLabelsOnNodes) && call.request.empty()) return server_->Reply(to, "");
    return Refuse(
        to, ex::kYarn,
        "java.io.IOException: Node-label-based scheduling is disabled. Please check yarn.node-labels.enabled");
  }
  Refuse(to, ex::kUnsupportedOperation, std::string(call.method) + " is not supported by this ResourceManager.");
}

void ResourceManager::RefreshAdmission(const rpc::IncomingCall& call) {
  auto done = alive_([this, to = call.token, what = std::string(call.method), who = WhoActs(call.caller),
                      peer = call.peer.host](const base::Status& read) {
    if (!read.ok()) return Refuse(to, ex::kYarn, read.error().message);
    NoteAction(who, peer, what, {}, "", "");
    server_->Reply(to, "");
  });
  Admission& admission = ports_->admission();
  const bool policy = call.As<w::ResourceManagerAdministrationProtocolMethod>() ==
                      w::ResourceManagerAdministrationProtocolMethod::kRefreshServiceAcls;
  policy ? admission.RefreshPolicy(done) : admission.RefreshProxies(done);
}

void ResourceManager::AddLabels(const rpc::IncomingCall& call) {
  const auto request = Parse<w::AddToClusterNodeLabelsRequestProto>(call);
  if (!request) return;
  m::AddLabels event;
  for (const std::string& name : request->deprecated_node_labels) event.labels.push_back({name, true});
  if (!request->node_labels.empty()) event.labels.clear();  // the newer of two forms
  for (const w::NodeLabelProto& label : request->node_labels)
    event.labels.push_back({std::string(label.Name()), label.IsExclusive()});
  Ask(std::move(event), [this, to = call.token](const m::OuterEffect& effect) {
    if (!Refused(to, effect)) server_->ReplyMessage(to, w::AddToClusterNodeLabelsResponseProto{});
  });
}

void ResourceManager::RemoveLabels(const rpc::IncomingCall& call) {
  const auto request = Parse<w::RemoveFromClusterNodeLabelsRequestProto>(call);
  if (!request) return;
  Ask(m::RemoveLabels{0, request->node_labels}, [this, to = call.token](const m::OuterEffect& effect) {
    if (!Refused(to, effect)) server_->ReplyMessage(to, w::RemoveFromClusterNodeLabelsResponseProto{});
  });
}

void ResourceManager::ReplaceLabels(const rpc::IncomingCall& call) {
  const auto request = Parse<w::ReplaceLabelsOnNodeRequestProto>(call);
  if (!request) return;
  m::ReplaceLabels event;
  event.fail_on_unknown = request->FailOnUnknownNodes();
  for (const w::NodeIdToLabelsProto& entry : request->node_to_labels) {
    const m::NodeAddress node = endpoints::yarn::FromWire(entry.NodeId());
    if (entry.node_labels.size() > 1) {
      return Refuse(call.token, ex::kYarn,
                    "java.io.IOException: " + std::to_string(entry.node_labels.size()) +
                        " labels specified on host=" + node.host +
                        ", please note that we do not support specifying multiple labels on a single host for now.");
    }
    event.nodes.push_back({node, entry.node_labels.empty() ? "" : entry.node_labels.front()});
  }
  Ask(std::move(event), [this, to = call.token](const m::OuterEffect& effect) {
    if (!Refused(to, effect)) server_->ReplyMessage(to, w::ReplaceLabelsOnNodeResponseProto{});
  });
}

void ResourceManager::RefreshNodes(const rpc::IncomingCall& call) {
  const auto request = Parse<w::RefreshNodesRequestProto>(call);
  if (!request) return;
  base::Result<m::RefreshNodes> lists = HostLists();
  if (!lists.ok()) return Refuse(call.token, ex::kYarn, lists.error().message);
  lists->graceful =
      request->decommission_type.value_or(w::DecommissionTypeProto::kNormal) == w::DecommissionTypeProto::kGraceful;
  lists->timeout_s = request->decommission_timeout.value_or(-1);
  Ask(std::move(*lists), [this, to = call.token](const m::OuterEffect& effect) {
    if (!Refused(to, effect)) server_->ReplyMessage(to, w::RefreshNodesResponseProto{});
  });
}

void ResourceManager::UpdateNodeResource(const rpc::IncomingCall& call) {
  const auto request = Parse<w::UpdateNodeResourceRequestProto>(call);
  if (!request) return;
  for (const w::NodeResourceMapProto& entry : request->node_resource_map) {
    const m::NodeAddress address = endpoints::yarn::FromWire(entry.NodeId());
    const Node* node = core().FindNode(address);
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
  const size_t last = request->node_resource_map.size();
  if (last == 0) return server_->ReplyMessage(call.token, w::UpdateNodeResourceResponseProto{});
  for (size_t i = 0; i < last; ++i) {
    const w::NodeResourceMapProto& entry = request->node_resource_map[i];
    m::ResizeNode event;
    event.address = endpoints::yarn::FromWire(entry.NodeId());
    event.capacity = endpoints::yarn::Bounded(endpoints::yarn::FromWire(entry.ResourceOption().Resource()));
    Ask(std::move(event), [this, to = call.token, refused, answers = i + 1 == last](const m::OuterEffect& effect) {
      *refused = *refused || Refused(to, effect);
      if (answers && !*refused) server_->ReplyMessage(to, w::UpdateNodeResourceResponseProto{});
    });
  }
}

void ResourceManager::OnHaCall(const rpc::IncomingCall& call) {
  using Method = h::HAProtocolMethod;
  switch (call.As<Method>()) {
    case Method::kGetServiceStatus: {
      h::GetServiceStatusResponseProto response;
      response.state = h::HAServiceStateProto::kActive;
      response.ready_to_become_active = true;
      return server_->ReplyMessage(call.token, response);
    }
    case Method::kMonitorHealth:
      return server_->ReplyMessage(call.token, h::MonitorHealthResponseProto{});
    case Method::kTransitionToActive:
      return server_->ReplyMessage(call.token, h::TransitionToActiveResponseProto{});
    case Method::kTransitionToStandby:
    case Method::kTransitionToObserver:
      return Refuse(call.token, ex::kUnsupportedOperation,
                    "This ResourceManager runs alone (yarn.resourcemanager.ha.enabled is false): it stays active.");
  }
}

}  // namespace fairlead::process::rm

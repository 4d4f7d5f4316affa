#include "endpoints/yarn/rm_encode.h"

#include <set>

#include "endpoints/yarn/refusals.h"
#include "endpoints/yarn/rm_convert.h"

namespace fairlead::endpoints::yarn {

namespace w = wire::yarn;

w::ContainerProto ToWire(const model::rm::ContainerInfo& container, model::AppIndex app, TokenSource& tokens) {
  w::ContainerProto proto;
  proto.id = ToWire(container.id);
  proto.node_id = ToWire(container.address);
  proto.node_http_address = container.http_address;
  proto.resource = ToWire(container.resources);
  proto.priority = PriorityToWire(container.priority);
  proto.container_token = tokens.ContainerToken(container, app);
  proto.execution_type = w::ExecutionTypeProto::kGuaranteed;
  proto.allocation_request_id = container.allocation_request_id;
  proto.version = container.version;
  return proto;
}

w::ContainerStatusProto ToWire(const model::rm::ContainerEnd& end) {
  w::ContainerStatusProto proto;
  proto.container_id = ToWire(end.id);
  proto.state = w::ContainerStateProto::kComplete;
  proto.diagnostics = end.diagnostics;
  proto.exit_status = end.exit_status;
  proto.capability = ToWire(end.resources);
  proto.execution_type = w::ExecutionTypeProto::kGuaranteed;
  return proto;
}

w::GetNewApplicationResponseProto ToWire(const model::rm::NewApplicationAnswer& answer) {
  w::GetNewApplicationResponseProto proto;
  proto.application_id = ToWire(answer.app);
  proto.maximum_capability = ToWire(answer.maximum);
  return proto;
}

w::RegisterApplicationMasterResponseProto ToWire(const model::rm::RegisterMasterAnswer& answer, TokenSource& tokens) {
  w::RegisterApplicationMasterResponseProto proto;
  proto.maximum_capability = ToWire(answer.maximum);
  proto.queue = answer.queue;
  std::set<model::NodeIndex> nodes;
  for (const model::rm::ContainerInfo& container : answer.previous) {
    proto.containers_from_previous_attempts.push_back(ToWire(container, answer.app, tokens));
    if (!nodes.insert(container.node).second) continue;
    w::NMTokenProto& token = proto.nm_tokens_from_previous_attempts.emplace_back();
    token.node_id = ToWire(container.address);
    token.token = tokens.NmToken(answer.attempt, container.node, answer.app);
  }
  proto.scheduler_resource_types = {w::SchedulerResourceTypesProto::kMemory, w::SchedulerResourceTypesProto::kCpu};
  proto.resource_types = ResourceTypeInfos();
  return proto;
}

namespace {
void AddPreemption(const model::rm::AllocateAnswer& answer, w::AllocateResponseProto& proto) {
  if (answer.preempt_strict.empty() && answer.preempt_contract.empty()) return;
  w::PreemptionMessageProto message;
  if (!answer.preempt_strict.empty()) {
    message.strict_contract.emplace();
    for (const model::ContainerId& id : answer.preempt_strict) {
      message.strict_contract->container.emplace_back().id = ToWire(id);
    }
  }
  if (!answer.preempt_contract.empty()) {
    message.contract.emplace();
    for (const model::ContainerId& id : answer.preempt_contract) {
      message.contract->container.emplace_back().id = ToWire(id);
    }
  }
  proto.preempt = std::move(message);
}

w::UpdateContainerRequestProto ToWire(const model::rm::ContainerUpdate& update) {
  w::UpdateContainerRequestProto proto;
  proto.container_version = update.version;
  proto.container_id = endpoints::yarn::ToWire(update.container);
  proto.update_type = static_cast<w::ContainerUpdateTypeProto>(update.type);
  proto.capability = endpoints::yarn::ToWire(update.capability);
  return proto;
}
}  // namespace

w::AllocateResponseProto ToWire(const model::rm::AllocateAnswer& answer, TokenSource& tokens) {
  w::AllocateResponseProto proto;
  proto.response_id = answer.response_id;
  proto.allocated_containers.reserve(answer.granted.size());
  for (const model::rm::ContainerInfo& container : answer.granted) {
    proto.allocated_containers.push_back(ToWire(container, answer.app, tokens));
  }
  for (const model::rm::ContainerEnd& end : answer.completed) proto.completed_container_statuses.push_back(ToWire(end));
  proto.limit = ToWire(answer.headroom);
  for (const model::rm::UpdatedNode& node : answer.nodes) {
    w::NodeReportProto report = tokens.NodeReport(node.node);
    report.node_update_type = static_cast<w::NodeUpdateTypeProto>(node.change);
    proto.updated_nodes.push_back(std::move(report));
  }
  proto.num_cluster_nodes = answer.cluster_nodes;
  AddPreemption(answer, proto);
  for (const model::NodeIndex node : answer.new_nodes) {
    w::NMTokenProto& token = proto.nm_tokens.emplace_back();
    token.node_id = ToWire(tokens.AddressOf(node));
    token.token = tokens.NmToken(answer.attempt, node, answer.app);
  }
  proto.application_priority = PriorityToWire(answer.priority);
  for (const model::rm::UpdateError& error : answer.update_errors) {
    w::UpdateContainerErrorProto& out = proto.update_errors.emplace_back();
    out.reason = ExceptionOf(error.refused).message;
    out.update_request = ToWire(error.update);
    out.current_container_version = error.current_version;
  }
  for (const model::rm::UpdatedContainer& updated : answer.updated) {
    w::UpdatedContainerProto& out = proto.updated_containers.emplace_back();
    out.update_type = static_cast<w::ContainerUpdateTypeProto>(updated.type);
    out.container = ToWire(updated.container, answer.app, tokens);
  }
  for (const model::rm::ContainerInfo& container : answer.previous) {
    proto.containers_from_previous_attempts.push_back(ToWire(container, answer.app, tokens));
  }
  return proto;
}

w::NodeHeartbeatResponseProto ToWire(const model::rm::HeartbeatAnswer& answer, int64_t interval_ms,
                                     TokenSource& tokens) {
  w::NodeHeartbeatResponseProto proto;
  proto.response_id = answer.response_id;
  proto.node_action = static_cast<w::NodeActionProto>(answer.action);
  if (!answer.diagnostics.empty()) proto.diagnostics_message = answer.diagnostics;
  if (answer.action != model::rm::NodeAction::kNormal) return proto;
  for (const model::ContainerId& id : answer.cleanup) proto.containers_to_cleanup.push_back(ToWire(id));
  for (const model::ApplicationId& id : answer.finished_apps) proto.applications_to_cleanup.push_back(ToWire(id));
  proto.next_heart_beat_interval = interval_ms;
  for (const model::ContainerId& id : answer.forget) proto.containers_to_be_removed_from_nm.push_back(ToWire(id));
  for (const model::rm::ContainerInfo& container : answer.update) {
    proto.containers_to_update.push_back(ToWire(container, {}, tokens));
  }
  for (const model::rm::ContainerSignal& signal : answer.signals) {
    w::SignalContainerRequestProto& out = proto.containers_to_signal.emplace_back();
    out.container_id = ToWire(signal.container);
    out.command = static_cast<w::SignalContainerCommandProto>(signal.command);
  }
  if (answer.resized) proto.resource = ToWire(answer.capacity);
  return proto;
}

}  // namespace fairlead::endpoints::yarn

#include "endpoints/yarn/nm_messages.h"

#include <algorithm>

#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/utilization.h"
#include "model/use_text.h"

namespace fairlead::endpoints::yarn {

namespace w = wire::yarn;
using namespace model::nm;  // NOLINT: both sides of the border in one place

namespace {

constexpr size_t kResourcesMax = 100'000;
w::ContainerSubStateProto SubState(ContainerState state) {
  switch (state) {
    case ContainerState::kNew:
    case ContainerState::kLocalizing:
    case ContainerState::kScheduled:
      return w::ContainerSubStateProto::kScheduled;
    case ContainerState::kRunning:
    case ContainerState::kRelaunching:
    case ContainerState::kReinitializing:
      return w::ContainerSubStateProto::kRunning;
    case ContainerState::kLocalizationFailed:
    case ContainerState::kExitedWithSuccess:
    case ContainerState::kExitedWithFailure:
    case ContainerState::kKilling:
      return w::ContainerSubStateProto::kCompleting;
    case ContainerState::kDone:
      return w::ContainerSubStateProto::kDone;
  }
  return w::ContainerSubStateProto::kScheduled;
}

Retry RetryOf(const w::ContainerRetryContextProto& proto) {
  Retry retry;
  switch (proto.RetryPolicy()) {
    case w::ContainerRetryPolicyProto::kNeverRetry:
      retry.policy = RetryPolicy::kNever;
      break;
    case w::ContainerRetryPolicyProto::kRetryOnAllErrors:
      retry.policy = RetryPolicy::kAllErrors;
      break;
    case w::ContainerRetryPolicyProto::kRetryOnSpecificErrorCodes:
      retry.policy = RetryPolicy::kSpecificErrors;
      break;
  }
  retry.error_codes = proto.error_codes;
  retry.max_retries = proto.MaxRetries();
  retry.interval_ms = proto.RetryInterval();
  retry.validity_ms = proto.FailuresValidityInterval();
  return retry;
}

base::Result<LocalResource> ResourceOf(const w::StringLocalResourceMapProto& entry) {
  const std::string key(entry.Key());
  const w::LocalResourceProto& proto = entry.Value();
  if (!proto.resource || proto.Resource().File().empty())
    return base::Error{"Null resource URL for local resource " + key};
  if (!proto.type) return base::Error{"Null resource type for local resource " + key};
  if (!proto.visibility) return base::Error{"Null resource visibility for local resource " + key};
  LocalResource resource;
  resource.link = key;
  resource.url = UrlText(proto.Resource());
  resource.size = proto.Size();
  resource.timestamp_ms = proto.Timestamp();
  resource.type = static_cast<ResourceType>(proto.Type());
  resource.visibility = static_cast<Visibility>(proto.Visibility());
  resource.pattern = std::string(proto.Pattern());
  return resource;
}

std::vector<w::ContainerIdProto> Ids(const std::vector<model::ContainerId>& ids) {
  std::vector<w::ContainerIdProto> out;
  for (const model::ContainerId& id : ids) out.push_back(ToWire(id));
  return out;
}

std::vector<w::ContainerExceptionMapProto> Failures(const std::vector<Refusal>& refusals) {
  std::vector<w::ContainerExceptionMapProto> out;
  for (const Refusal& refusal : refusals) {
    w::ContainerExceptionMapProto& entry = out.emplace_back();
    entry.container_id = ToWire(refusal.container);
    entry.exception = SerializedException(JavaClass(refusal.exception), refusal.message);
  }
  return out;
}

NodeAction ActionOf(const std::optional<w::NodeActionProto>& action) {
  switch (action.value_or(w::NodeActionProto::kNormal)) {
    case w::NodeActionProto::kNormal:
      return NodeAction::kNormal;
    case w::NodeActionProto::kResync:
      return NodeAction::kResync;
    case w::NodeActionProto::kShutdown:
      return NodeAction::kShutdown;
  }
  return NodeAction::kNormal;
}

w::NodeIdProto NodeIdOf(const NodeIdentity& node) { return ToWire(model::rm::NodeAddress{node.host, node.port}); }

w::NodeHealthStatusProto HealthOf(bool healthy, const std::string& report, base::WallTime checked) {
  w::NodeHealthStatusProto proto;
  proto.is_node_healthy = healthy;
  proto.health_report = report;
  proto.last_health_report_time = checked.ms;
  return proto;
}

w::ContainerProto IncreasedOf(const NodeIdentity& node, const ContainerReport& report) {
  w::ContainerProto proto;
  proto.id = ToWire(report.id);
  proto.node_id = NodeIdOf(node);
  proto.node_http_address = node.host + ":" + std::to_string(node.http_port);
  proto.resource = ToWire(report.resources);
  proto.priority = PriorityToWire(report.priority);
  proto.execution_type = w::ExecutionTypeProto::kGuaranteed;
  proto.allocation_request_id = report.allocation_request_id;
  proto.version = report.version;
  return proto;
}

}  // namespace

std::string UrlText(const w::URLProto& url) {
  std::string out;
  if (!url.Scheme().empty()) out = std::string(url.Scheme()) + ":";
  if (!url.Host().empty()) {
    out += "//";
    if (!url.UserInfo().empty()) out += std::string(url.UserInfo()) + "@";
    out += url.Host();
    if (url.port && *url.port > 0) out += ":" + std::to_string(*url.port);
  }
  return out + std::string(url.File());
}

base::Result<std::vector<LocalResource>> ResourcesOf(const std::vector<w::StringLocalResourceMapProto>& entries) {
  if (entries.size() > kResourcesMax) return base::Error{"too many local resources"};
  std::vector<LocalResource> resources;
  for (const w::StringLocalResourceMapProto& entry : entries) {
    base::Result<LocalResource> resource = ResourceOf(entry);
    if (!resource) return resource.error();
    resources.push_back(std::move(*resource));
  }
  return resources;
}

ContainerSpec ContainerSpecOf(const w::ContainerTokenIdentifierProto& token) {
  ContainerSpec spec;
  spec.id = FromWire(token.ContainerId());
  spec.user = std::string(token.AppSubmitter());
  spec.resources = FromWire(token.Resource());
  spec.priority = token.Priority().Priority();
  spec.version = token.Version();
  spec.allocation_request_id = token.AllocationRequestId();
  spec.is_master = token.container_type == w::ContainerTypeProto::kApplicationMaster;
  spec.token_created = {token.CreationTime()};
  spec.token_expires = {token.ExpiryTimeStamp()};
  spec.rm_identifier = token.RmIdentifier();
  spec.node_address = std::string(token.NmHostAddr());
  if (token.log_aggregation_context) spec.log_context = token.log_aggregation_context->Encode();
  return spec;
}

base::Result<ContainerSpec> ContainerSpecOf(const w::ContainerTokenIdentifierProto& token,
                                            const w::ContainerLaunchContextProto& context) {
  ContainerSpec spec = ContainerSpecOf(token);
  base::Result<std::vector<LocalResource>> resources = ResourcesOf(context.local_resources);
  if (!resources) return resources.error();
  spec.local_resources = std::move(*resources);
  for (const w::StringBytesMapProto& entry : context.service_data) {
    spec.service_data.push_back({std::string(entry.Key()), std::string(entry.Value())});
  }
  for (const w::ApplicationACLMapProto& acl : context.application_acls) {
    (acl.AccessType() == w::ApplicationAccessTypeProto::kViewApp ? spec.view_acl : spec.modify_acl) =
        std::string(acl.Acl());
  }
  if (context.container_retry_context) spec.retry = RetryOf(*context.container_retry_context);
  w::ContainerLaunchContextProto launch;  // the rest, without what the spec already holds
  launch.environment = context.environment;
  launch.command = context.command;
  launch.tokens = context.tokens;
  spec.context = launch.Encode();
  return spec;
}

base::Result<LaunchContext> LaunchContextOf(const ContainerSpec& spec) {
  w::ContainerLaunchContextProto proto;
  if (base::Status parsed = proto.ParseFrom(spec.context, wire::hadoop_rpc::kKept); !parsed) return parsed.error();
  LaunchContext context;
  for (const w::StringStringMapProto& entry : proto.environment) {
    context.environment.emplace_back(entry.Key(), entry.Value());
  }
  context.commands = proto.command;
  context.tokens = proto.tokens.value_or("");
  return context;
}

w::SerializedExceptionProto SerializedException(std::string_view java_class, std::string_view message) {
  w::SerializedExceptionProto proto;
  proto.message = std::string(message);
  proto.trace = std::string(java_class) + ": " + std::string(message) + "\n";
  proto.class_name = std::string(java_class);
  return proto;
}

w::ContainerStatusProto ContainerStatusOf(const ContainerReport& report, std::string_view host) {
  w::ContainerStatusProto proto;
  proto.container_id = ToWire(report.id);
  proto.state = report.complete ? w::ContainerStateProto::kComplete : w::ContainerStateProto::kRunning;
  proto.diagnostics = report.diagnostics;
  proto.exit_status = report.exit_status;
  proto.capability = ToWire(report.resources);
  proto.execution_type = w::ExecutionTypeProto::kGuaranteed;
  if (!host.empty()) {
    w::StringStringMapProto& attribute = proto.container_attributes.emplace_back();
    attribute.key = "HOST";
    attribute.value = std::string(host);
  }
  if (report.use.told()) {
    w::StringStringMapProto& attribute = proto.container_attributes.emplace_back();
    attribute.key = kUseAttribute;
    attribute.value = model::ToText(report.use);
  }
  proto.container_sub_state = SubState(report.state);
  return proto;
}

w::StartContainersResponseProto StartResponse(const CallAnswer& answer,
                                              const std::vector<std::pair<std::string, std::string>>& services) {
  w::StartContainersResponseProto proto;
  for (const auto& [name, meta] : services) {
    w::StringBytesMapProto& entry = proto.services_meta_data.emplace_back();
    entry.key = name;
    entry.value = meta;
  }
  proto.succeeded_requests = Ids(answer.succeeded);
  proto.failed_requests = Failures(answer.failed);
  return proto;
}

w::StopContainersResponseProto StopResponse(const CallAnswer& answer) {
  w::StopContainersResponseProto proto;
  proto.succeeded_requests = Ids(answer.succeeded);
  proto.failed_requests = Failures(answer.failed);
  return proto;
}

w::ContainerUpdateResponseProto UpdateResponse(const CallAnswer& answer) {
  w::ContainerUpdateResponseProto proto;
  proto.succeeded_requests = Ids(answer.succeeded);
  proto.failed_requests = Failures(answer.failed);
  return proto;
}

w::IncreaseContainersResourceResponseProto IncreaseResponse(const CallAnswer& answer) {
  w::IncreaseContainersResourceResponseProto proto;
  proto.succeeded_requests = Ids(answer.succeeded);
  proto.failed_requests = Failures(answer.failed);
  return proto;
}

w::RegisterNodeManagerRequestProto RegisterRequest(const NodeIdentity& node, const Register& call) {
  w::RegisterNodeManagerRequestProto proto;
  proto.node_id = NodeIdOf(node);
  proto.http_port = node.http_port;
  proto.resource = ToWire(call.capacity);
  proto.nm_version = node.version;
  for (const ContainerReport& report : call.containers) {
    w::NMContainerStatusProto& status = proto.container_statuses.emplace_back();
    status.container_id = ToWire(report.id);
    status.container_state = report.complete ? w::ContainerStateProto::kComplete : w::ContainerStateProto::kRunning;
    status.resource = ToWire(report.resources);
    status.priority = PriorityToWire(report.priority);
    status.diagnostics = report.diagnostics;
    status.container_exit_status = report.exit_status;
    status.creation_time = report.created.ms;
    status.version = report.version;
    status.execution_type = w::ExecutionTypeProto::kGuaranteed;
    status.allocation_request_id = report.allocation_request_id;
  }
  for (const model::ApplicationId& app : call.apps) proto.running_applications.push_back(ToWire(app));
  if (!node.label.empty()) {
    w::NodeLabelProto label;
    label.name = node.label;
    proto.node_labels.emplace().node_labels.push_back(std::move(label));
  }
  proto.physical_resource = ToWire(node.physical);
  w::NodeStatusProto& status = proto.node_status.emplace();
  status.node_id = NodeIdOf(node);
  status.response_id = 0;
  status.node_health_status = HealthOf(call.healthy, call.health_report, call.health_checked);
  return proto;
}

w::NodeHeartbeatRequestProto HeartbeatRequest(const NodeIdentity& node, const Heartbeat& call) {
  w::NodeHeartbeatRequestProto proto;
  w::NodeStatusProto& status = proto.node_status.emplace();
  status.node_id = NodeIdOf(node);
  status.response_id = call.response_id;
  for (const ContainerReport& report : call.containers)
    status.containers_statuses.push_back(ContainerStatusOf(report, node.host));
  status.node_health_status = HealthOf(call.healthy, call.health_report, call.health_checked);
  status.containers_utilization = ToWire(call.containers_use);
  status.node_utilization = ToWire(call.node_use);
  for (const ContainerReport& report : call.increased) status.increased_containers.push_back(IncreasedOf(node, report));
  return proto;
}

Registered RegisteredOf(const w::RegisterNodeManagerResponseProto& response) {
  Registered event;
  event.action = ActionOf(response.node_action);
  event.rm_identifier = response.RmIdentifier();
  event.diagnostics = std::string(response.DiagnosticsMessage());
  event.resized = response.resource.has_value();
  if (event.resized) event.capacity = FromWire(response.Resource());
  return event;
}

HeartbeatAnswered HeartbeatAnsweredOf(const w::NodeHeartbeatResponseProto& response) {
  HeartbeatAnswered event;
  event.action = ActionOf(response.node_action);
  event.response_id = response.ResponseId();
  event.diagnostics = std::string(response.DiagnosticsMessage());
  event.next_interval_ms = std::clamp<int64_t>(response.NextHeartBeatInterval(), 0, 3'600'000);
  for (const auto& id : response.containers_to_cleanup) event.cleanup.push_back(FromWire(id));
  for (const auto& id : response.containers_to_be_removed_from_nm) event.forget.push_back(FromWire(id));
  for (const auto& id : response.applications_to_cleanup) event.finished_apps.push_back(FromWire(id));
  for (const auto& signal : response.containers_to_signal) {
    event.signals.push_back({FromWire(signal.container_id), static_cast<SignalCommand>(signal.command)});
  }
  for (const auto* list : {&response.containers_to_decrease, &response.containers_to_update}) {
    for (const w::ContainerProto& container : *list) {
      event.updates.push_back({FromWire(container.Id()), container.Version(), FromWire(container.Resource())});
    }
  }
  event.resized = response.resource.has_value();
  if (event.resized) event.capacity = FromWire(response.Resource());
  return event;
}

}  // namespace fairlead::endpoints::yarn

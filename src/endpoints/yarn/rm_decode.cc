#include "endpoints/yarn/rm_decode.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/text_bounds.h"
#include "endpoints/yarn/utilization.h"
#include "model/use_text.h"

namespace fairlead::endpoints::yarn {

namespace w = wire::yarn;

model::Resources Bounded(model::Resources resources) {
  for (int64_t& amount : resources.amount) amount = std::clamp<int64_t>(amount, 0, kLargestAmount);
  return resources;
}

namespace {
/// YarnConfiguration.APPLICATION_TYPE_LENGTH, APPLICATION_MAX_TAGS, APPLICATION_MAX_TAG_LENGTH.
constexpr size_t kTypeLength = 20;
constexpr size_t kTagsMax = 10;
constexpr size_t kTagLength = 100;
/// Ten years: what a container can lose at most.
constexpr int64_t kLongestLossMs = int64_t{10} * 365 * 24 * 3600 * 1000;

base::Error TooMany(const char* what, size_t count) {
  return {std::string(what) + ": " + std::to_string(count) + " entries, at most " + std::to_string(kListMax) +
          " are allowed"};
}

/// ClientRMService.checkTags.
base::Status CheckTags(const std::vector<std::string>& tags) {
  if (tags.size() > kTagsMax) {
    return base::Error{"Too many applicationTags, a maximum of only " + std::to_string(kTagsMax) + " are allowed!"};
  }
  for (const std::string& tag : tags) {
    if (tag.size() > kTagLength) {
      return base::Error{"Tag " + tag.substr(0, kNameMax) + " is too long, maximum allowed length of a tag is " +
                         std::to_string(kTagLength)};
    }
    for (const char c : tag) {
      if (static_cast<unsigned char>(c) >= 0x80) {
        return base::Error{"A tag can only have ASCII characters! Invalid tag - " + tag};
      }
    }
  }
  return {};
}

base::Status CheckNames(const w::ResourceRequestProto& ask) {
  base::Status within = Within("resource_name of an ask", ask.ResourceName().size(), kNameMax);
  if (!within.ok()) return within;
  return Within("node_label_expression of an ask", ask.NodeLabelExpression().size(), kNameMax);
}

base::Status CheckTexts(const w::AllocateRequestProto& request) {
  for (const w::ResourceRequestProto& ask : request.ask) {
    if (std::max(ask.ResourceName().size(), ask.NodeLabelExpression().size()) > kNameMax) return CheckNames(ask);
  }
  const w::ResourceBlacklistRequestProto& blacklist = request.BlacklistRequest();
  for (const auto* list : {&blacklist.blacklist_additions, &blacklist.blacklist_removals}) {
    for (const std::string& host : *list) {
      if (host.size() > kNameMax) return Within("a host of blacklist_request", host.size(), kNameMax);
    }
  }
  return Within("tracking_url", request.TrackingUrl().size(), kUrlMax);
}

struct Measured {
  const char* field;
  size_t bytes;
  size_t bytes_max;
};

base::Status CheckLengths(std::initializer_list<Measured> fields) {
  for (const Measured& one : fields) {
    if (base::Status within = Within(one.field, one.bytes, one.bytes_max); !within.ok()) return within;
  }
  return {};
}

base::Status CheckLaunch(const w::ContainerLaunchContextProto& launch) {
  size_t commands = 0;
  for (const std::string& command : launch.command) commands += command.size();
  size_t environment = 0;
  for (const w::StringStringMapProto& one : launch.environment) environment += one.Key().size() + one.Value().size();
  size_t services = 0;
  for (const w::StringBytesMapProto& one : launch.service_data) services += one.Key().size() + one.Value().size();
  for (const w::ApplicationACLMapProto& one : launch.application_acls) {
    if (base::Status within = Within("acl of application_acls", one.Acl().size(), kAclMax); !within.ok()) return within;
  }
  return CheckLengths({{"command of the launch context", commands, kCommandsMax},
                       {"environment of the launch context", environment, kEnvironmentMax},
                       {"service_data of the launch context", services, kServiceDataMax},
                       {"tokens of the launch context", launch.Tokens().size(), kTokensMax},
                       {"tokens_conf of the launch context", launch.TokensConf().size(), kTokensMax}});
}

base::Status CheckTexts(const w::ApplicationSubmissionContextProto& context, const Submitter& caller) {
  base::Status within = CheckLengths({{"application_name", context.ApplicationName().size(), kNameMax},
                                      {"queue", context.Queue().size(), kNameMax},
                                      {"user", caller.user.size(), kNameMax},
                                      {"application_type", context.ApplicationType().size(), kNameMax},
                                      {"node_label_expression", context.NodeLabelExpression().size(), kNameMax}});
  if (within.ok() && context.log_aggregation_context) {  // it is part of every container's token
    within = Within("log_aggregation_context", context.log_aggregation_context->Encode().size(), 4 * kNameMax);
  }
  if (within.ok() && context.am_container_spec) within = CheckLaunch(*context.am_container_spec);
  for (const w::ResourceRequestProto& ask : context.am_container_resource_request) {
    if (within.ok()) within = CheckNames(ask);
  }
  return within;
}

/// A tracking URL stands in heads of HTTP, in logs and on terminals: what is no printable ASCII becomes %XX, as a
/// browser writes it.
std::string PlainUrl(std::string_view url) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : url) {
    if (c > ' ' && c <= '~') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

model::rm::NodeContainerState StateOf(w::ContainerStateProto state) {
  switch (state) {
    case w::ContainerStateProto::kComplete:
      return model::rm::NodeContainerState::kComplete;
    case w::ContainerStateProto::kNew:
      return model::rm::NodeContainerState::kNew;
    default:
      return model::rm::NodeContainerState::kRunning;
  }
}

model::rm::NodeContainer ToNodeContainer(const w::ContainerStatusProto& status) {
  model::rm::NodeContainer container;
  container.id = FromWire(status.ContainerId());
  container.state = StateOf(status.State());
  container.resources = Bounded(FromWire(status.Capability()));
  if (status.diagnostics) container.diagnostics = EndOf(*status.diagnostics, kDiagnosticsMax);
  container.exit_status = status.exit_status.value_or(model::kExitInvalid);
  return container;
}

model::rm::NodeContainer ToNodeContainer(const w::NMContainerStatusProto& status) {
  model::rm::NodeContainer container;
  container.id = FromWire(status.ContainerId());
  container.state = StateOf(status.ContainerState());
  container.resources = Bounded(FromWire(status.Resource()));
  container.priority = status.Priority().Priority();
  if (status.diagnostics) container.diagnostics = EndOf(*status.diagnostics, kDiagnosticsMax);
  container.exit_status = status.container_exit_status.value_or(model::kExitInvalid);
  container.created = {status.CreationTime()};
  container.allocation_request_id = status.allocation_request_id.value_or(-1);
  container.version = status.Version();
  return container;
}
}  // namespace

base::Result<model::rm::Submission> ToSubmission(const w::ApplicationSubmissionContextProto& context,
                                                 const Submitter& caller, size_t encoded) {
  if (!context.application_id) return base::Error{"ApplicationSubmissionContext has no application id"};
  if (base::Status tags = CheckTags(context.application_tags); !tags.ok()) return tags.error();
  if (context.am_container_resource_request.size() > kListMax) {
    return TooMany("am_container_resource_request", context.am_container_resource_request.size());
  }
  if (base::Status texts = CheckTexts(context, caller); !texts.ok()) return texts.error();
  model::rm::Submission submission;
  submission.id = FromWire(*context.application_id);
  submission.user = caller.user;
  submission.groups = caller.groups;
  submission.queue = context.queue.value_or("default");
  submission.name = context.application_name.value_or("N/A");
  submission.type = context.application_type.value_or("YARN").substr(0, kTypeLength);
  submission.tags = context.application_tags;
  submission.priority = context.Priority().Priority();
  submission.priority_given = context.priority.has_value();
  submission.unmanaged = context.UnmanagedAm();
  submission.max_attempts = context.MaxAppAttempts();
  submission.keep_containers = context.KeepContainersAcrossApplicationAttempts();
  submission.failures_validity_ms = context.attempt_failures_validity_interval.value_or(-1);
  submission.label = context.node_label_expression.value_or("");
  for (const w::ApplicationTimeoutMapProto& timeout : context.application_timeouts) {
    submission.lifetime_s = timeout.Timeout();
  }
  if (!context.am_container_resource_request.empty()) {
    for (const w::ResourceRequestProto& request : context.am_container_resource_request) {
      submission.master_asks.push_back(FromWire(request));
    }
  } else if (context.resource) {
    model::Ask ask;
    ask.name = "*";
    ask.capability = FromWire(*context.resource);
    ask.count = 1;
    submission.master_asks.push_back(std::move(ask));
  }
  if (context.am_container_spec) {
    for (const w::ApplicationACLMapProto& acl : context.am_container_spec->application_acls) {
      std::string& target =
          acl.AccessType() == w::ApplicationAccessTypeProto::kModifyApp ? submission.modify_acl : submission.view_acl;
      target = acl.acl.value_or("");
    }
  }
  submission.context.reserve(encoded);
  context.AppendTo(submission.context);
  if (submission.context.size() < encoded / 2) submission.context.shrink_to_fit();  // the rest was unknown fields
  const base::Status whole = Within("application_submission_context", submission.context.size(), kSubmissionMax);
  if (!whole.ok()) return whole.error();
  return submission;
}

base::Result<model::rm::RegisterMaster> ToEvent(const w::RegisterApplicationMasterRequestProto& request,
                                                const model::ApplicationAttemptId& attempt) {
  if (!request.placement_constraints.empty()) {
    return base::Error{"Placement constraints are not supported. Ask by host and rack, or for any node."};
  }
  base::Status within = CheckLengths(
      {{"host", request.Host().size(), kNameMax}, {"tracking_url", request.TrackingUrl().size(), kUrlMax}});
  if (!within.ok()) return within.error();
  model::rm::RegisterMaster event;
  event.attempt = attempt;
  event.host = request.host.value_or("");
  event.rpc_port = request.rpc_port.value_or(-1);
  event.tracking_url = PlainUrl(request.tracking_url.value_or(""));
  return event;
}

std::optional<model::Refused> TooLong(const w::AllocateRequestProto& request) {
  const std::pair<const char*, size_t> lists[] = {{"ask", request.ask.size()},
                                                  {"release", request.release.size()},
                                                  {"update_requests", request.update_requests.size()},
                                                  {"fairlead_losses", request.fairlead_losses.size()}};
  for (const auto& [name, size] : lists) {
    if (size <= kListMax) continue;
    return model::Refused{model::Refusal::kTooManyEntries, {name}, {}, {static_cast<int64_t>(size), kListMax}};
  }
  return std::nullopt;
}

base::Result<model::rm::AllocateCall> ToEvent(const w::AllocateRequestProto& request,
                                              const model::ApplicationAttemptId& attempt) {
  if (!request.scheduling_requests.empty()) {
    return base::Error{"Scheduling requests (placement constraints) are not supported. Ask by ResourceRequest."};
  }
  if (base::Status within = CheckTexts(request); !within.ok()) return within.error();
  model::rm::AllocateCall event;
  event.attempt = attempt;
  event.response_id = request.ResponseId();
  event.progress = static_cast<double>(request.Progress());
  event.asks.reserve(request.ask.size());
  for (const w::ResourceRequestProto& ask : request.ask) event.asks.push_back(FromWire(ask));
  for (const w::ContainerIdProto& id : request.release) event.releases.push_back(FromWire(id));
  if (request.blacklist_request) {
    event.blacklist_add = request.blacklist_request->blacklist_additions;
    event.blacklist_remove = request.blacklist_request->blacklist_removals;
  }
  for (const w::UpdateContainerRequestProto& update : request.update_requests) {
    const auto type = static_cast<int32_t>(update.update_type);
    if (type < 0 || type > 3) return base::Error{"Unknown container update type " + std::to_string(type)};
    event.updates.push_back({FromWire(update.container_id), update.container_version,
                             static_cast<model::rm::UpdateType>(type), FromWire(update.Capability())});
  }
  event.tracking_url = PlainUrl(request.tracking_url.value_or(""));
  for (const w::FairleadLossProto& loss : request.fairlead_losses) {
    const int64_t ms = std::clamp<int64_t>(loss.LostMs(), 0, kLongestLossMs);
    if (loss.container_id) event.losses.push_back({FromWire(*loss.container_id), base::Duration::Millis(ms)});
  }
  return event;
}

base::Result<model::rm::FinishMaster> ToEvent(const w::FinishApplicationMasterRequestProto& request,
                                              const model::ApplicationAttemptId& attempt) {
  model::rm::FinishMaster event;
  event.attempt = attempt;
  event.final_status = FromWire(request.FinalApplicationStatus());
  if (base::Status within = Within("tracking_url", request.TrackingUrl().size(), kUrlMax); !within.ok()) {
    return within.error();
  }
  if (request.diagnostics) event.diagnostics = EndOf(*request.diagnostics, kDiagnosticsMax);
  event.tracking_url = PlainUrl(request.tracking_url.value_or(""));
  return event;
}

base::Result<model::rm::RegisterNode> ToEvent(const w::RegisterNodeManagerRequestProto& request) {
  if (!request.node_id || !request.node_id->host || request.node_id->host->empty()) {
    return base::Error{"RegisterNodeManagerRequest has no node id"};
  }
  if (!request.resource) return base::Error{"RegisterNodeManagerRequest has no resource"};
  base::Status within = CheckLengths(
      {{"host", request.node_id->host->size(), kNameMax}, {"nm_version", request.NmVersion().size(), kNameMax}});
  if (!within.ok()) return within.error();
  if (request.container_statuses.size() > kListMax) {
    return TooMany("container_statuses", request.container_statuses.size());
  }
  if (request.running_applications.size() > kListMax) {
    return TooMany("running_applications", request.running_applications.size());
  }
  model::rm::RegisterNode event;
  event.address = FromWire(*request.node_id);
  event.http_port = request.HttpPort();
  event.capacity = Bounded(FromWire(*request.resource));
  if (request.physical_resource) event.physical = Bounded(FromWire(*request.physical_resource));
  event.version = request.nm_version.value_or("");
  for (const w::NMContainerStatusProto& status : request.container_statuses) {
    event.containers.push_back(ToNodeContainer(status));
  }
  for (const w::ApplicationIdProto& id : request.running_applications) event.running_apps.push_back(FromWire(id));
  if (request.node_labels) {
    for (const w::NodeLabelProto& label : request.node_labels->node_labels) {
      if (within = Within("a node label", label.Name().size(), kNameMax); !within.ok()) return within.error();
      event.labels.push_back(label.name.value_or(""));
    }
  }
  if (request.node_status && request.node_status->node_health_status) {
    event.healthy = request.node_status->node_health_status->is_node_healthy.value_or(true);
    event.health_report = EndOf(request.node_status->node_health_status->HealthReport(), kHealthMax);
  }
  return event;
}

base::Result<model::rm::Heartbeat> ToEvent(const w::NodeHeartbeatRequestProto& request) {
  if (!request.node_status || !request.node_status->node_id) {
    return base::Error{"NodeHeartbeatRequest has no node status with a node id"};
  }
  const w::NodeStatusProto& status = *request.node_status;
  if (base::Status within = Within("host", status.node_id->Host().size(), kNameMax); !within.ok()) {
    return within.error();
  }
  if (status.containers_statuses.size() > kListMax) {
    return TooMany("containers_statuses", status.containers_statuses.size());
  }
  model::rm::Heartbeat event;
  event.address = FromWire(*status.node_id);
  event.response_id = status.ResponseId();
  event.running.reserve(status.containers_statuses.size());
  for (const w::ContainerStatusProto& container : status.containers_statuses) {
    model::rm::NodeContainer said = ToNodeContainer(container);
    if (said.state == model::rm::NodeContainerState::kComplete) {
      event.containers.push_back(std::move(said));
    } else {
      event.running.push_back(said.id);
      for (const w::StringStringMapProto& attribute : container.container_attributes) {
        if (attribute.key == kUseAttribute) event.each_use.push_back({said.id, model::ParseUse(attribute.Value())});
      }
    }
  }
  if (status.node_health_status) {
    event.healthy = status.node_health_status->is_node_healthy.value_or(true);
    event.health_report = EndOf(status.node_health_status->HealthReport(), kHealthMax);
    event.health_time = {status.node_health_status->LastHealthReportTime()};
  }
  if (status.node_utilization) event.use = OfMachine(FromWire(*status.node_utilization));
  if (status.containers_utilization) event.containers_use = FromWire(*status.containers_utilization);
  for (const w::ApplicationIdProto& id : status.keep_alive_applications) {
    event.keep_alive_apps.push_back(FromWire(id));
  }
  return event;
}

}  // namespace fairlead::endpoints::yarn

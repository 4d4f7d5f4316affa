#include "process/nm/container_service.h"

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/nm_messages.h"
#include "endpoints/yarn/rm_convert.h"
#include "process/nm/layout.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;
namespace ex = endpoints::yarn::exceptions;
namespace w = wire::yarn;
using model::ToString;
using model::nm::ContainerSpec;
using model::nm::Refusal;

namespace {
constexpr size_t kContainersPerCallMax = 100'000;

constexpr char kNotSupported[] =
    "Fairlead's node agent does not re-initialize containers in place; start a new container instead";

/// Names that would become paths must be plain; the rest of a specification is the core's to judge.
std::string UnsafeLink(const std::vector<model::nm::LocalResource>& resources) {
  for (const model::nm::LocalResource& resource : resources) {
    if (!IsPlainLink(resource.link))
      return "the local resource name " + resource.link + " leaves the working directory";
  }
  return {};
}

std::string UnsafeName(const ContainerSpec& spec) {
  if (!IsPlainName(spec.user)) return "the user name cannot be used as a directory name";
  return UnsafeLink(spec.local_resources);
}

/// As NMAuditLogger has it, key by key; Hadoop's two spellings of the target, too.
void NoteAll(const env::Audit& audit, const char* operation, const Waiter& waiter,
             const model::nm::CallAnswer& answer) {
  const auto note = [&](const char* result, const model::ContainerId& container, const std::string* why) {
    env::Log::Fields fields = {{"USER", waiter.user},
                               {"IP", waiter.ip},
                               {"OPERATION", operation},
                               {"TARGET", why != nullptr ? "ContainerManagerImpl" : "ContainerManageImpl"},
                               {"RESULT", result}};
    if (why != nullptr) fields.emplace_back("DESCRIPTION", *why);
    fields.emplace_back("APPID", ToString(container.attempt.app));
    fields.emplace_back("CONTAINERID", ToString(container));
    why != nullptr ? audit.Failure("", fields) : audit.Success("", fields);
  };
  for (const model::ContainerId& id : answer.succeeded) note("SUCCESS", id, nullptr);
  for (const Refusal& one : answer.failed) note("FAILURE", one.container, &one.message);
}

std::vector<model::ApplicationId> AppsOf(const std::vector<ContainerSpec>& containers) {
  std::vector<model::ApplicationId> apps;
  for (const ContainerSpec& one : containers) {
    if (apps.empty() || apps.back() != one.id.attempt.app) apps.push_back(one.id.attempt.app);
  }
  return apps;
}
}  // namespace

base::Result<env::Endpoint> ContainerService::Listen(const env::Endpoint& address,
                                                     const rpc::RpcClientSecurity& security, const Admits& admits) {
  rpc::ListenOptions listen;
  listen.session.allow_simple = false;
  listen.session.tokens = &ports_.keys.tokens();
  listen.session.protections = security.protections;
  listen.services.push_back({w::kContainerManagementProtocol, w::kContainerManagementProtocolMethods,
                             [this](const rpc::IncomingCall& call) { OnCall(call); }});
  if (admits) {
    listen.admit = [admits](const ep::Caller& caller, const std::string& protocol, const env::Endpoint& peer,
                            const rpc::ListenOptions::Admitted& done) { done(admits(caller, protocol, peer.host)); };
  }
  return server_.Listen(address, std::move(listen));
}

template <class Request>
std::optional<Request> ContainerService::Parse(const rpc::IncomingCall& call) {
  Request request;
  const base::Status parsed = request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method));
  if (parsed) return request;
  ++malformed_;
  server_.Fail(call.token, ex::kInvalidProtocolBuffer, parsed.error().message);
  return std::nullopt;
}

uint64_t ContainerService::Open(const rpc::IncomingCall& call, CallKind kind, std::string user) {
  calls_[next_call_] = {{call.token, std::move(user), call.peer.host}, kind, {}};
  return next_call_++;
}

std::vector<std::pair<std::string, std::string>> ContainerService::ServiceMeta() const {
  std::vector<std::pair<std::string, std::string>> meta;
  for (const AuxService* service : ports_.services) meta.emplace_back(service->name(), service->MetaData());
  return meta;
}

void ContainerService::OnCall(const rpc::IncomingCall& call) {
  w::NMTokenIdentifierProto token;
  if (!call.caller.by_token() || !token.ParseFrom(call.caller.token_identifier, wire::hadoop_rpc::kTokenIdentifier)) {
    server_.Fail(call.token, ex::kYarn, "Invalid NMToken");
    return;
  }
  if (ports_.keys.IsOver(token.KeyId())) {  // it logged in before
    server_.CloseAfter(call.token);
    return server_.Fail(call.token, ex::kInvalidToken, "the key of this NMToken lay open to others");
  }
  const model::ApplicationAttemptId attempt = ep::FromWire(token.AppAttemptId());
  using Method = w::ContainerManagementProtocolMethod;
  switch (call.As<Method>()) {
    case Method::kStartContainers:
      return StartContainers(call, token);
    case Method::kStopContainers:
      return StopContainers(call, token);
    case Method::kGetContainerStatuses:
      return GetStatuses(call, attempt);
    case Method::kSignalToContainer:
      return SignalContainer(call, attempt);
    case Method::kGetLocalizationStatuses:
      return GetLocalizationStatuses(call, attempt);
    case Method::kUpdateContainer: {
      const auto request = Parse<w::ContainerUpdateRequestProto>(call);
      if (!request) return;
      return UpdateContainers(call, token, request->update_container_token, CallKind::kUpdate);
    }
    case Method::kIncreaseContainersResource: {
      const auto request = Parse<w::IncreaseContainersResourceRequestProto>(call);
      if (!request) return;
      return UpdateContainers(call, token, request->increase_containers, CallKind::kIncrease);
    }
    case Method::kLocalize:
      return LocalizeContainer(call, attempt);
    case Method::kRestartContainer:
      return RestartContainer(call, attempt);
    case Method::kReInitializeContainer:
    case Method::kRollbackLastReInitialization:
    case Method::kCommitLastReInitialization:
      return server_.Fail(call.token, ex::kUnsupportedOperation, std::string(call.method) + ": " + kNotSupported);
  }
}

void ContainerService::StartContainers(const rpc::IncomingCall& call, const w::NMTokenIdentifierProto& token) {
  const auto request = Parse<w::StartContainersRequestProto>(call);
  if (!request) return;
  if (request->start_container_request.size() > kContainersPerCallMax)
    return server_.Fail(call.token, ex::kYarn, "too many containers in one call");
  model::nm::StartContainers event;
  event.attempt = ep::FromWire(token.AppAttemptId());
  std::vector<Refusal> refused;
  for (const w::StartContainerRequestProto& one : request->start_container_request) {
    if (!one.container_token) return server_.Fail(call.token, ex::kYarn, "java.io.IOException: Invalid ContainerToken");
    const base::Result<w::ContainerTokenIdentifierProto> verified =
        ports_.keys.tokens().VerifyContainerToken(*one.container_token);
    // As in Hadoop a forged token fails the whole call, not its container alone.
    if (!verified) return server_.Fail(call.token, ex::kInvalidToken, verified.error().message);
    const model::ContainerId id = ep::FromWire(verified->ContainerId());
    base::Result<ContainerSpec> spec = ep::ContainerSpecOf(*verified, one.ContainerLaunchContext());
    std::string why = spec ? UnsafeName(*spec) : spec.error().message;
    const auto credentials = ep::ParseCredentials(one.ContainerLaunchContext().tokens.value_or(""));
    if (why.empty() && !credentials) why = "the launch context's tokens cannot be read";
    if (!why.empty()) {
      refused.push_back({id, std::string(ex::kYarn), why});
      continue;
    }
    ports_.app_tokens.Came(id.attempt.app, *credentials);
    event.containers.push_back(std::move(*spec));
  }
  ports_.keys.AttemptStarted(token);
  event.call = Open(call, CallKind::kStart, std::string(token.AppSubmitter()));
  calls_.at(event.call).refused = std::move(refused);
  const std::vector<model::ApplicationId> apps = AppsOf(event.containers);
  ports_.feed(std::move(event));
  for (const model::ApplicationId& app : apps) {
    if (ports_.core.FindApp(app) == nullptr) ports_.app_tokens.Forget(app);  // none of its containers was taken
  }
}

void ContainerService::StopContainers(const rpc::IncomingCall& call, const w::NMTokenIdentifierProto& token) {
  const auto request = Parse<w::StopContainersRequestProto>(call);
  if (!request) return;
  model::nm::StopContainers event;
  event.attempt = ep::FromWire(token.AppAttemptId());
  for (const w::ContainerIdProto& id : request->container_id) event.containers.push_back(ep::FromWire(id));
  event.call = Open(call, CallKind::kStop, std::string(token.AppSubmitter()));
  ports_.feed(std::move(event));
}

void ContainerService::GetStatuses(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt) {
  const auto request = Parse<w::GetContainerStatusesRequestProto>(call);
  if (!request) return;
  w::GetContainerStatusesResponseProto response;
  for (const w::ContainerIdProto& proto : request->container_id) {
    const model::ContainerId id = ep::FromWire(proto);
    const base::Result<model::nm::ContainerReport> report = ports_.core.Status(attempt, id);
    if (report) {
      response.status.push_back(ep::ContainerStatusOf(*report, host_));
      continue;
    }
    w::ContainerExceptionMapProto& failure = response.failed_requests.emplace_back();
    failure.container_id = ep::ToWire(id);
    failure.exception = ep::SerializedException(ex::kYarn, report.error().message);
  }
  server_.ReplyMessage(call.token, response);
}

void ContainerService::SignalContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt) {
  const auto request = Parse<w::SignalContainerRequestProto>(call);
  if (!request) return;
  model::nm::SignalContainer event;
  event.attempt = attempt;
  event.container = ep::FromWire(request->container_id);
  event.command = static_cast<model::nm::SignalCommand>(request->command);
  event.call = Open(call, CallKind::kSignal);
  ports_.feed(std::move(event));
}

void ContainerService::LocalizeContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt) {
  const auto request = Parse<w::ResourceLocalizationRequestProto>(call);
  if (!request) return;
  if (!request->container_id)
    return server_.Fail(call.token, ep::JavaClass("NullPointerException"), "the request names no container");
  base::Result<std::vector<model::nm::LocalResource>> resources = ep::ResourcesOf(request->local_resources);
  if (!resources) return server_.Fail(call.token, ep::JavaClass("NullPointerException"), resources.error().message);
  if (const std::string why = UnsafeLink(*resources); !why.empty()) return server_.Fail(call.token, ex::kYarn, why);
  const uint64_t number = Open(call, CallKind::kLocalize);
  ports_.feed(
      model::nm::LocalizeContainer{number, attempt, ep::FromWire(request->ContainerId()), std::move(*resources)});
}

void ContainerService::RestartContainer(const rpc::IncomingCall& call, const model::ApplicationAttemptId& attempt) {
  const auto request = Parse<w::ContainerIdProto>(call);
  if (!request) return;
  const uint64_t number = Open(call, CallKind::kRestart);
  ports_.feed(model::nm::RestartContainer{number, attempt, ep::FromWire(*request)});
}

void ContainerService::UpdateContainers(const rpc::IncomingCall& call, const w::NMTokenIdentifierProto& token,
                                        const std::vector<wire::hadoop_rpc::TokenProto>& update_tokens, CallKind kind) {
  model::nm::UpdateContainers event;
  event.attempt = ep::FromWire(token.AppAttemptId());
  for (const wire::hadoop_rpc::TokenProto& one : update_tokens) {
    const base::Result<w::ContainerTokenIdentifierProto> verified = ports_.keys.tokens().VerifyContainerToken(one);
    if (!verified) return server_.Fail(call.token, ex::kInvalidToken, verified.error().message);
    event.containers.push_back(ep::ContainerSpecOf(*verified));
  }
  event.call = Open(call, kind);
  ports_.feed(std::move(event));
}

void ContainerService::GetLocalizationStatuses(const rpc::IncomingCall& call,
                                               const model::ApplicationAttemptId& attempt) {
  const auto request = Parse<w::GetLocalizationStatusesRequestProto>(call);
  if (!request) return;
  w::GetLocalizationStatusesResponseProto response;
  for (const w::ContainerIdProto& proto : request->container_id) {
    const model::ContainerId id = ep::FromWire(proto);
    const base::Result<std::vector<fairlead::nm::LinkStatus>> links = ports_.core.Localization(attempt, id);
    if (!links) {
      w::ContainerExceptionMapProto& failure = response.failed_requests.emplace_back();
      failure.container_id = ep::ToWire(id);
      failure.exception = ep::SerializedException(ex::kYarn, links.error().message);
      continue;
    }
    w::ContainerLocalizationStatusesProto& statuses = response.cntn_localization_statuses.emplace_back();
    statuses.container_id = ep::ToWire(id);
    for (const fairlead::nm::LinkStatus& link : *links) {
      w::LocalizationStatusProto& status = statuses.localization_statuses.emplace_back();
      status.resource_key = link.link;
      status.localization_state =
          link.ready ? w::LocalizationStateProto::kCompleted : w::LocalizationStateProto::kPending;
      if (link.error.empty()) continue;
      status.localization_state = w::LocalizationStateProto::kFailed;
      status.diagnostics = link.error;
    }
  }
  server_.ReplyMessage(call.token, response);
}

void ContainerService::Answer(model::nm::CallAnswer& effect) {
  const auto at = calls_.find(effect.call);
  if (at == calls_.end()) return;
  OpenCall open = std::move(at->second);
  calls_.erase(at);
  effect.failed.insert(effect.failed.end(), open.refused.begin(), open.refused.end());
  const rpc::CallToken to = open.waiter.token;
  switch (open.kind) {
    case CallKind::kStart:
      NoteAll(ports_.audit, "Start Container Request", open.waiter, effect);
      return server_.ReplyMessage(to, ep::StartResponse(effect, ServiceMeta()));
    case CallKind::kStop:
      NoteAll(ports_.audit, "Stop Container Request", open.waiter, effect);
      return server_.ReplyMessage(to, ep::StopResponse(effect));
    case CallKind::kSignal:
      return server_.ReplyMessage(to, w::SignalContainerResponseProto{});
    case CallKind::kUpdate:
      return server_.ReplyMessage(to, ep::UpdateResponse(effect));
    case CallKind::kIncrease:
      return server_.ReplyMessage(to, ep::IncreaseResponse(effect));
    case CallKind::kLocalize:
      return server_.ReplyMessage(to, w::ResourceLocalizationResponseProto{});
    case CallKind::kRestart:
      return server_.ReplyMessage(to, w::RestartContainerResponseProto{});
  }
}

void ContainerService::Refuse(const model::nm::CallRefused& effect) {
  const auto at = calls_.find(effect.call);
  if (at == calls_.end()) return;
  server_.Fail(at->second.waiter.token, effect.exception, effect.message);
  calls_.erase(at);
}

}  // namespace fairlead::process::nm

#include "process/rm/launcher.h"

#include <algorithm>
#include <utility>

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/rm_convert.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;
using endpoints::yarn::ToWire;
using rpc::RpcError;
using rpc::RpcErrorKind;

MasterLauncher::MasterLauncher(env::Loop& loop, env::Net& net, const fairlead::rm::Core& core, KeyRing& keys,
                               LauncherTimes times, rpc::RpcClientSecurity security, Launched launched)
    : loop_(loop),
      core_(core),
      keys_(keys),
      times_(times),
      launched_(std::move(launched)),
      client_(loop, net, {}, std::move(security)) {}

MasterLauncher::~MasterLauncher() {
  for (const auto& [job, timer] : timers_) loop_.Cancel(timer);
}

rpc::RpcTarget MasterLauncher::TargetOf(const model::ApplicationAttemptId& attempt,
                                        const model::rm::NodeAddress& address) {
  const fairlead::rm::App* app = core_.FindApp(attempt.app);
  rpc::RpcTarget target;
  target.address = {address.host, static_cast<uint16_t>(address.port)};
  target.protocol = std::string(w::kContainerManagementProtocol);
  target.user.user = ToString(attempt);
  target.user.token = keys_.NmRpcToken(attempt, address, app ? app->submission.user : "");
  return target;
}

// The submission's launch context with what only the resource manager knows: the proxy base and what shows that a
// request is the proxy's, the time of submission and the AMRM token.
base::Result<std::string> MasterLauncher::BuildRequest(const model::rm::LaunchMaster& launch) {
  const fairlead::rm::App* app = core_.AppAt(launch.app);
  if (!app) return base::Error{"the application is gone"};
  w::ApplicationSubmissionContextProto context;
  if (base::Status parsed = context.ParseFrom(app->submission.context, wire::hadoop_rpc::kKept); !parsed.ok())
    return parsed.error();
  w::ContainerLaunchContextProto spec = std::move(context.am_container_spec).value_or(w::ContainerLaunchContextProto{});
  const auto set_env = [&](const std::string& key, const std::string& value) {
    for (w::StringStringMapProto& entry : spec.environment) {
      if (entry.Key() != key) continue;
      entry.value = value;
      return;
    }
    w::StringStringMapProto& entry = spec.environment.emplace_back();
    entry.key = key;
    entry.value = value;
  };
  set_env("APPLICATION_WEB_PROXY_BASE", "/proxy/" + ToString(launch.attempt.app));
  set_env("FAIRLEAD_PAGE_URL", core_.config().ProxyBase() + "/proxy/" + ToString(launch.attempt.app));
  set_env("APP_SUBMIT_TIME_ENV", std::to_string(app->submitted.ms));
  base::Result<endpoints::yarn::Credentials> credentials = endpoints::yarn::ParseCredentials(spec.tokens.value_or(""));
  if (!credentials.ok()) return base::Error{"java.io.IOException: " + credentials.error().message};
  credentials->tokens[""] = keys_.AmRmToken(launch.attempt);
  credentials->secrets[std::string(endpoints::yarn::kPageSecretAlias)] = keys_.PageSecret(launch.attempt);
  spec.tokens = EncodeCredentials(*credentials);
  w::StartContainersRequestProto request;
  w::StartContainerRequestProto& start = request.start_container_request.emplace_back();
  start.container_launch_context = std::move(spec);
  start.container_token = keys_.ContainerToken(launch.container, launch.app);
  return request.Encode();
}

void MasterLauncher::Launch(const model::rm::LaunchMaster& launch) {
  const uint64_t id = ++last_job_;
  jobs_[id] = {launch, loop_.Now() + times_.give_up, {}};
  Try(id);
}

void MasterLauncher::Finish(uint64_t id, std::string error) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  const model::ApplicationAttemptId attempt = it->second.launch.attempt;
  jobs_.erase(it);
  if (!error.empty()) error = "Error launching " + ToString(attempt) + ". Got exception: " + error + "\n";
  launched_({attempt, std::move(error)});
}

std::string MasterLauncher::TriedAgain(const model::ApplicationAttemptId& attempt) const {
  for (const auto& [id, job] : jobs_) {
    if (job.launch.attempt != attempt || job.why.empty()) continue;
    const int64_t left = std::max<int64_t>(0, (job.give_up - loop_.Now()).ns / base::Duration::Seconds(1).ns);
    return "its node does not take it yet (" + job.why + "), and is tried for " + std::to_string(left) + " s more";
  }
  return "";
}

void MasterLauncher::Try(uint64_t id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  timers_.erase(id);
  const model::rm::LaunchMaster& launch = it->second.launch;
  base::Result<std::string> request = BuildRequest(launch);
  if (!request.ok()) {
    loop_.Post([this, id, error = request.error().message] { Finish(id, error); });
    return;
  }
  client_.Call(TargetOf(launch.attempt, launch.container.address), "startContainers", std::move(*request), times_.call,
               [this, id](base::Result<std::string, RpcError> answer) {
                 const auto job = jobs_.find(id);
                 if (job == jobs_.end()) return;
                 if (!answer.ok()) {
                   const RpcError& error = answer.error();
                   const bool not_ready =
                       error.kind == RpcErrorKind::kConnect ||
                       endpoints::yarn::SimpleName(error.remote.class_name) == "NMNotYetReadyException";
                   if (not_ready && loop_.Now() < job->second.give_up) {
                     job->second.why = error.message;
                     timers_[id] = loop_.After(times_.retry_interval, [this, id] { Try(id); });
                     return;
                   }
                   const std::string& remote = error.remote.class_name;
                   return Finish(id, remote.empty() ? error.message : remote + ": " + error.remote.message);
                 }
                 w::StartContainersResponseProto response;
                 if (base::Status parsed = response.ParseFrom(*answer, wire::hadoop_rpc::kAnswer); !parsed.ok()) {
                   return Finish(id, parsed.error().message);
                 }
                 if (response.failed_requests.empty()) return Finish(id, "");
                 const w::SerializedExceptionProto& failure = response.failed_requests[0].Exception();
                 Finish(id, failure.class_name.value_or("") + ": " + failure.message.value_or(""));
               });
}

void MasterLauncher::Stop(const model::rm::StopContainers& stop) {
  w::StopContainersRequestProto request;
  for (const model::ContainerId& id : stop.containers) request.container_id.push_back(ToWire(id));
  client_.Call(TargetOf(stop.attempt, stop.address), "stopContainers", request.Encode(), times_.call,
               [](base::Result<std::string, RpcError>) {});
}

}  // namespace fairlead::process::rm

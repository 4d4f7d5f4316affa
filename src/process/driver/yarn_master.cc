#include "process/driver/yarn_master.h"

#include <algorithm>

#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rm_convert.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::driver {

namespace wy = wire::yarn;
namespace ey = endpoints::yarn;

namespace {

constexpr base::Duration kCallTimeout = base::Duration::Seconds(30);
constexpr base::Duration kRetry = base::Duration::Millis(500);
/// While executors are wanted the resource manager is asked often, otherwise once a second (yarn.am.liveness is 10
/// min).
constexpr base::Duration kEager = base::Duration::Millis(100);
constexpr base::Duration kCalm = base::Duration::Seconds(1);
constexpr base::Duration kPatience = base::Duration::Seconds(600);
constexpr int kStartTries = 5;
constexpr int32_t kExecutorPriority = 1;
constexpr const char* kShuffleService = "spark_shuffle";

std::string IdOf(const wy::ContainerProto& container) {
  return container.id ? model::ToString(ey::FromWire(*container.id)) : std::string();
}

std::string NodeKey(const wy::NodeIdProto& node) {
  return std::string(node.Host()) + ":" + std::to_string(node.Port());
}

ey::RpcToken TokenOf(const wire::hadoop_rpc::TokenProto& proto) {
  return {proto.identifier, proto.password, proto.kind, proto.service};
}

bool IsException(const rpc::RpcError& error, std::string_view simple_name) {
  return (error.kind == rpc::RpcErrorKind::kRemote || error.kind == rpc::RpcErrorKind::kLogin) &&
         ey::SimpleName(error.remote.class_name) == simple_name;
}

wy::ResourceRequestProto Request(const std::string& name, int32_t count, const ExecutorLaunch& launch) {
  wy::ResourceRequestProto ask;
  ask.priority = wy::PriorityProto{};
  ask.priority->priority = kExecutorPriority;
  ask.resource_name = name;
  ask.capability = ey::ToWire(model::Resources::Of(launch.memory_mib, launch.cores));
  ask.num_containers = count;
  ask.relax_locality = true;
  return ask;
}

}  // namespace

YarnMaster::YarnMaster(env::Loop& loop, env::Net& net, env::Endpoint resource_manager, ey::RpcToken am_rm_token,
                       ExecutorLaunch launch, Callbacks callbacks)
    : loop_(loop),
      rpc_(loop, net),
      resource_manager_(std::move(resource_manager)),
      am_rm_token_(std::move(am_rm_token)),
      launch_(std::move(launch)),
      callbacks_(std::move(callbacks)) {}

YarnMaster::~YarnMaster() {
  *alive_ = false;
  if (allocate_timer_ != 0) loop_.Cancel(allocate_timer_);
}

rpc::RpcTarget YarnMaster::ResourceManager() const {
  rpc::RpcTarget target;
  target.address = resource_manager_;
  target.protocol = std::string(wy::kApplicationMasterProtocol);
  target.user.token = am_rm_token_;
  return target;
}

// ---- registration --------------------------------------------------------------------------------------------------

void YarnMaster::Register(const std::string& host, int32_t port, const std::string& tracking_url,
                          std::function<void(base::Status)> done) {
  registration_.host = host;
  registration_.rpc_port = port;
  registration_.tracking_url = tracking_url;
  on_registered_ = std::move(done);
  register_until_ = loop_.Now() + kPatience;
  SendRegister();
}

void YarnMaster::SendRegister() {
  rpc_.Call<wy::RegisterApplicationMasterResponseProto>(
      ResourceManager(), "registerApplicationMaster", registration_, kCallTimeout,
      [this, alive = alive_](base::Result<wy::RegisterApplicationMasterResponseProto, rpc::RpcError> answer) {
        if (!*alive) return;
        // A registration whose answer was lost is refused the second time, but it counts.
        const bool known = !answer && IsException(answer.error(), "InvalidApplicationMasterRequestException");
        if (answer || known) {
          registered_ = true;
          asked_ = -1;
          if (answer) {
            for (const wy::NMTokenProto& token : answer->nm_tokens_from_previous_attempts) TakeToken(token);
          }
          ScheduleAllocate(base::Duration());
          if (on_registered_) std::exchange(on_registered_, nullptr)({});
          return;
        }
        const rpc::RpcError& error = answer.error();
        const bool refused = error.kind == rpc::RpcErrorKind::kRemote || error.kind == rpc::RpcErrorKind::kLogin;
        if (refused || loop_.Now() > register_until_) {
          if (on_registered_) std::exchange(on_registered_, nullptr)(base::Error{error.message});
          return;
        }
        loop_.After(kRetry, [this, alive] {
          if (*alive) SendRegister();
        });
      });
}

// ---- containers wanted and granted ---------------------------------------------------------------------------------

void YarnMaster::SetTarget(int32_t executors) {
  if (executors == target_) return;
  target_ = executors;
  if (registered_) ScheduleAllocate(base::Duration());
}

void YarnMaster::ScheduleAllocate(base::Duration delay) {
  if (dismissed_ || finishing_) return;
  if (allocating_) {
    if (delay.ns == 0) allocate_again_ = true;
    return;
  }
  if (allocate_timer_ != 0) loop_.Cancel(allocate_timer_);
  allocate_timer_ = loop_.After(delay, [this] {
    allocate_timer_ = 0;
    Allocate();
  });
}

void YarnMaster::AddAsks(wy::AllocateRequestProto& request) {
  const int32_t missing = std::max(0, target_ - static_cast<int32_t>(containers_.size()));
  if (missing == asked_) return;
  // Every line states the total still wanted of its name; a name not wanted any more is set to zero.
  for (const std::string& host : asked_hosts_) {
    if (missing == 0 || host_wishes_.count(host) == 0) request.ask.push_back(Request(host, 0, launch_));
  }
  asked_hosts_.clear();
  if (missing > 0) {
    for (const auto& [host, wish] : host_wishes_) {
      request.ask.push_back(Request(host, std::min(wish, missing), launch_));
      asked_hosts_.insert(host);
    }
  }
  request.ask.push_back(Request("*", missing, launch_));
  asked_ = missing;
}

void YarnMaster::Allocate() {
  if (dismissed_ || finishing_) return;
  wy::AllocateRequestProto request;
  request.response_id = response_id_;
  request.progress = callbacks_.progress ? callbacks_.progress() : 0.0f;
  AddAsks(request);
  request.release = releases_;
  allocating_ = true;
  rpc_.Call<wy::AllocateResponseProto>(
      ResourceManager(), "allocate", request, kCallTimeout,
      [this, alive = alive_,
       released = releases_.size()](base::Result<wy::AllocateResponseProto, rpc::RpcError> answer) {
        if (!*alive) return;
        allocating_ = false;
        if (!answer) return OnAllocateFailed(answer.error());
        releases_.erase(releases_.begin(), releases_.begin() + static_cast<std::ptrdiff_t>(released));
        OnAllocated(*answer);
      });
}

void YarnMaster::OnAllocateFailed(const rpc::RpcError& error) {
  asked_ = -1;  // whether the asks arrived is unknown: they state totals, so they can be said again
  if (IsException(error, "ApplicationMasterNotRegisteredException")) {
    // The resource manager restarted: tell it everything anew.
    registered_ = false;
    response_id_ = 0;
    register_until_ = loop_.Now() + kPatience;
    return SendRegister();
  }
  if (IsException(error, "ApplicationAttemptNotFoundException") || IsException(error, "SecretManager$InvalidToken") ||
      IsException(error, "InvalidToken")) {
    dismissed_ = true;
    callbacks_.on_dismissed("the resource manager does not know this attempt any more: " + error.message);
    return;
  }
  ScheduleAllocate(kRetry);
}

void YarnMaster::OnAllocated(wy::AllocateResponseProto& response) {
  response_id_ = response.response_id.value_or(response_id_ + 1);
  if (response.a_m_command == wy::AMCommandProto::kResync) {
    registered_ = false;
    response_id_ = 0;
    register_until_ = loop_.Now() + kPatience;
    return SendRegister();
  }
  if (response.a_m_command == wy::AMCommandProto::kShutdown) {
    dismissed_ = true;
    callbacks_.on_dismissed("the resource manager ended this attempt");
    return;
  }
  if (response.am_rm_token) am_rm_token_ = TokenOf(*response.am_rm_token);
  for (const wy::NMTokenProto& token : response.nm_tokens) TakeToken(token);
  for (wy::ContainerProto& container : response.allocated_containers) OnContainer(std::move(container));
  for (const wy::ContainerStatusProto& status : response.completed_container_statuses) {
    if (!status.container_id) continue;
    Ended(model::ToString(ey::FromWire(*status.container_id)), status.exit_status.value_or(-1000),
          status.diagnostics.value_or(""));
  }
  const bool waiting = static_cast<int32_t>(containers_.size()) < target_;
  const bool again = std::exchange(allocate_again_, false) || !releases_.empty();
  ScheduleAllocate(again ? base::Duration() : waiting ? kEager : kCalm);
}

void YarnMaster::TakeToken(const wy::NMTokenProto& token) {
  if (token.node_id && token.token) node_tokens_[NodeKey(*token.node_id)] = TokenOf(*token.token);
}

void YarnMaster::OnContainer(wy::ContainerProto proto) {
  const std::string id = IdOf(proto);
  if (id.empty() || !proto.node_id || containers_.count(id) != 0) return;
  if (static_cast<int32_t>(containers_.size()) >= target_ || finishing_) {
    releases_.push_back(*proto.id);
    return;
  }
  if (asked_ > 0) --asked_;  // the resource manager has taken it off the ask
  Container container;
  container.proto = std::move(proto);
  container.executor_id = std::to_string(next_executor_++);
  by_executor_[container.executor_id] = id;
  containers_[id] = std::move(container);
  Start(id);
}

// ---- starting them -------------------------------------------------------------------------------------------------

bool YarnMaster::HasShuffleService(const Container& container) const {
  return launch_.shuffle_service && without_service_.count(NodeKey(*container.proto.node_id)) == 0;
}

wy::ContainerLaunchContextProto YarnMaster::LaunchContext(const Container& container) const {
  wy::ContainerLaunchContextProto context;
  wy::LocalResourceProto job;
  job.resource = wy::URLProto{};
  std::string path = launch_.job_url;
  const size_t scheme_end = path.find("://");
  job.resource->scheme = scheme_end == std::string::npos ? "file" : path.substr(0, scheme_end);
  if (scheme_end != std::string::npos) path.erase(0, scheme_end + 3);
  const size_t slash = path.find('/');
  if (slash != std::string::npos && slash > 0) {
    const std::string authority = path.substr(0, slash);
    const base::Result<env::Endpoint> endpoint = env::ParseEndpoint(authority, 65535);
    job.resource->host = endpoint.ok() ? endpoint->host : authority;
    if (endpoint.ok() && endpoint->port != 65535) job.resource->port = endpoint->port;
    path.erase(0, slash);
  }
  job.resource->file = path;
  job.size = launch_.job_size;
  job.timestamp = launch_.job_timestamp_ms;
  job.type = wy::LocalResourceTypeProto::kFile;
  job.visibility = wy::LocalResourceVisibilityProto::kApplication;
  context.local_resources.push_back({"job", std::move(job)});
  std::map<std::string, std::string> environment = launch_.environment;
  if (!HasShuffleService(container)) {
    for (const auto& [name, value] : launch_.environment_without_service) environment[name] = value;
  }
  for (const auto& [name, value] : environment) context.environment.push_back({name, value});
  std::string command = "exec";
  for (const std::string& word : launch_.command) command += " " + word;
  command += " " + container.executor_id + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
  context.command.push_back(std::move(command));
  context.tokens = launch_.tokens;
  if (HasShuffleService(container)) context.service_data.push_back({kShuffleService, ""});
  return context;
}

void YarnMaster::Start(const std::string& container_id) {
  Container& container = containers_.at(container_id);
  const wy::NodeIdProto& node = *container.proto.node_id;
  const auto token = node_tokens_.find(NodeKey(node));
  if (token == node_tokens_.end()) {
    return StartAgainOrGiveUp(container_id, "the resource manager gave no token for node " + NodeKey(node));
  }
  ++container.start_tries;
  rpc::RpcTarget target;
  target.address = {std::string(node.Host()), static_cast<uint16_t>(node.Port())};
  target.protocol = std::string(wy::kContainerManagementProtocol);
  target.user.token = token->second;
  wy::StartContainersRequestProto request;
  wy::StartContainerRequestProto start;
  start.container_launch_context = LaunchContext(container);
  start.container_token = container.proto.container_token;
  request.start_container_request.push_back(std::move(start));
  rpc_.Call<wy::StartContainersResponseProto>(
      target, "startContainers", request, kCallTimeout,
      [this, alive = alive_, container_id](base::Result<wy::StartContainersResponseProto, rpc::RpcError> answer) {
        if (*alive) OnStarted(container_id, std::move(answer));
      });
}

void YarnMaster::OnStarted(const std::string& container_id,
                           base::Result<wy::StartContainersResponseProto, rpc::RpcError> answer) {
  if (containers_.count(container_id) == 0) return;  // ended meanwhile
  if (!answer) return StartAgainOrGiveUp(container_id, answer.error().message);
  if (answer->failed_requests.empty()) return;
  const auto& exception = answer->failed_requests.front().exception;
  const std::string why = exception ? exception->message.value_or("refused") : "refused";
  // An earlier try had arrived although its answer was lost.
  if (why.find("already is running") != std::string::npos || why.find("already running") != std::string::npos) return;
  // InvalidAuxServiceException.
  const std::string no_service = std::string("auxService:") + kShuffleService + " does not exist";
  if (why.find(no_service) != std::string::npos &&
      without_service_.insert(NodeKey(*containers_.at(container_id).proto.node_id)).second) {
    return Start(container_id);
  }
  StartAgainOrGiveUp(container_id, why);
}

void YarnMaster::StartAgainOrGiveUp(const std::string& container_id, const std::string& why) {
  Container& container = containers_.at(container_id);
  if (container.start_tries++ < kStartTries && !finishing_) {
    loop_.After(kRetry, [this, alive = alive_, container_id] {
      if (*alive && containers_.count(container_id) != 0) Start(container_id);
    });
    return;
  }
  if (container.proto.id) releases_.push_back(*container.proto.id);
  Ended(container_id, -1000, "cannot start the container: " + why);
}

void YarnMaster::Ended(const std::string& container_id, int32_t exit_status, const std::string& diagnostics) {
  const auto found = containers_.find(container_id);
  if (found == containers_.end()) return;
  const std::string executor_id = found->second.executor_id;
  by_executor_.erase(executor_id);
  containers_.erase(found);
  if (registered_) ScheduleAllocate(base::Duration());
  callbacks_.on_executor_ended(executor_id, exit_status, diagnostics);
}

void YarnMaster::Release(const std::string& executor_id) {
  const auto id = by_executor_.find(executor_id);
  if (id == by_executor_.end()) return;
  Container& container = containers_.at(id->second);
  if (container.released || !container.proto.id) return;
  container.released = true;
  releases_.push_back(*container.proto.id);
  ScheduleAllocate(base::Duration());
}

std::string YarnMaster::HostOf(const std::string& executor_id) const {
  const auto id = by_executor_.find(executor_id);
  if (id == by_executor_.end()) return {};
  const auto& node = containers_.at(id->second).proto.node_id;
  return node ? std::string(node->Host()) : std::string();
}

// ---- the end -------------------------------------------------------------------------------------------------------

void YarnMaster::Finish(bool succeeded, const std::string& diagnostics, const std::string& tracking_url,
                        std::function<void()> done) {
  finishing_ = true;
  if (allocate_timer_ != 0) loop_.Cancel(allocate_timer_);
  allocate_timer_ = 0;
  finish_.final_application_status =
      succeeded ? wy::FinalApplicationStatusProto::kSucceeded : wy::FinalApplicationStatusProto::kFailed;
  finish_.diagnostics = diagnostics;
  finish_.tracking_url = tracking_url;
  on_finished_ = std::move(done);
  finish_until_ = loop_.Now() + kPatience;
  SendFinish();
}

void YarnMaster::SendFinish() {
  rpc_.Call<wy::FinishApplicationMasterResponseProto>(
      ResourceManager(), "finishApplicationMaster", finish_, kCallTimeout,
      [this, alive = alive_](base::Result<wy::FinishApplicationMasterResponseProto, rpc::RpcError> answer) {
        if (!*alive) return;
        const bool done = answer && answer->is_unregistered.value_or(false);
        const bool refused = !answer && (answer.error().kind == rpc::RpcErrorKind::kRemote ||
                                         answer.error().kind == rpc::RpcErrorKind::kLogin);
        if (!answer && IsException(answer.error(), "ApplicationMasterNotRegisteredException")) {
          // The resource manager restarted: register once more to be able to leave.
          registered_ = false;
          on_registered_ = [this](base::Status status) {
            if (status.ok()) return SendFinish();
            std::exchange(on_finished_, nullptr)();
          };
          return SendRegister();
        }
        if (done || refused || loop_.Now() > finish_until_) return std::exchange(on_finished_, nullptr)();
        loop_.After(base::Duration::Millis(100), [this, alive] {
          if (*alive) SendFinish();
        });
      });
}

}  // namespace fairlead::process::driver

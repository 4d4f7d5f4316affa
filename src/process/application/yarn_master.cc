#include "process/application/yarn_master.h"

#include <algorithm>

#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rm_convert.h"
#include "model/ids.h"
#include "model/rm.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::application {

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
/// The number of an application's only gang, as allocation_request_id; -1: no gang (the protocol's default).
constexpr int64_t kGang = 1;
/// By more than this a loss that was told may be off.
constexpr base::Duration kLossChange = base::Duration::Seconds(1);
/// The resource manager gives up a gang that could not start for long and does not say so.
constexpr base::Duration kGangAgain = base::Duration::Seconds(60);
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

wy::ResourceRequestProto Request(int32_t kind, const model::Resources& size, const std::string& place, int32_t count,
                                 bool gang) {
  wy::ResourceRequestProto ask;
  ask.priority = wy::PriorityProto{};
  ask.priority->priority = kind;
  ask.resource_name = place;
  ask.capability = ey::ToWire(size);
  ask.num_containers = count;
  ask.relax_locality = true;
  if (gang) ask.allocation_request_id = kGang;
  return ask;
}

/// Whether what a node kept is gone with it (an unhealthy node still serves its files).
bool IsGone(wy::NodeStateProto state) {
  return state == wy::NodeStateProto::kLost || state == wy::NodeStateProto::kDecommissioned ||
         state == wy::NodeStateProto::kShutdown;
}

}  // namespace

bool ExecutorEnd::IsClustersDoing() const {
  switch (exit_status) {
    case model::kExitAborted:
    case model::kExitDisksFailed:
    case model::kExitPreempted:
    case model::kExitKilledByResourceManager:
    case model::kExitKilledAfterAppCompletion:
    case model::kExitKilledByScheduler:
      return true;
    default:
      return node_lost;
  }
}

YarnMaster::YarnMaster(env::Loop& loop, env::Net& net, rpc::Members resource_managers, ey::RpcToken am_rm_token,
                       Callbacks callbacks)
    : loop_(loop),
      rpc_(loop, net),
      resource_managers_(std::move(resource_managers)),
      am_rm_token_(std::move(am_rm_token)),
      callbacks_(std::move(callbacks)) {}

YarnMaster::~YarnMaster() = default;

rpc::RpcTarget YarnMaster::ResourceManager() const {
  rpc::RpcTarget target;
  target.address = resource_managers_.current();
  target.protocol = std::string(wy::kApplicationMasterProtocol);
  target.user.token = am_rm_token_;
  return target;
}

// ---- registration --------------------------------------------------------------------------------------------------

void YarnMaster::Adopt(const std::vector<ExecutorContainer>& executors, int32_t next_executor) {
  next_executor_ = next_executor;
  for (const ExecutorContainer& executor : executors) {
    const auto id = model::ParseContainerId(executor.container_id);
    if (!id) continue;
    Container container;
    container.proto.id = ey::ToWire(*id);
    container.proto.node_id = wy::NodeIdProto{};
    container.proto.node_id->host = executor.node.host;
    container.proto.node_id->port = executor.node.port;
    container.proto.node_http_address = executor.node_http_address;
    container.executor_id = executor.executor_id;
    container.kind = executor.kind;
    ++kinds_[executor.kind].containers;
    by_executor_[executor.executor_id] = executor.container_id;
    containers_[executor.container_id] = std::move(container);
    unconfirmed_.insert(executor.container_id);
  }
}

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
      alive_([this](base::Result<wy::RegisterApplicationMasterResponseProto, rpc::RpcError> answer) {
        // A registration whose answer was lost is refused the second time, but it counts.
        const bool known = !answer && IsException(answer.error(), "InvalidApplicationMasterRequestException");
        if (answer || known) {
          registered_ = true;
          ForgetAsks();
          if (known) unconfirmed_.clear();  // nobody says what runs
          if (answer) {
            for (const wy::NMTokenProto& token : answer->nm_tokens_from_previous_attempts) TakeToken(token);
            for (const wy::ContainerProto& container : answer->containers_from_previous_attempts) Confirm(container);
          }
          ScheduleAllocate(base::Duration());
          if (on_registered_) std::exchange(on_registered_, nullptr)({});
          return;
        }
        const rpc::RpcError& error = answer.error();
        resource_managers_.Failed(error);
        if (rpc::IsRefusal(error) || loop_.Now() > register_until_) {
          if (on_registered_) std::exchange(on_registered_, nullptr)(base::Error{error.message});
          return;
        }
        loop_.After(kRetry, alive_([this] { SendRegister(); }));
      }));
}

/// A container that runs, started by an earlier life of this process or before the resource manager restarted.
void YarnMaster::Confirm(const wy::ContainerProto& container) {
  const std::string id = IdOf(container);
  unconfirmed_.erase(id);
  if (!id.empty() && containers_.count(id) == 0) releases_.push_back(*container.id);
}

// ---- containers wanted and granted ---------------------------------------------------------------------------------

void YarnMaster::SetTarget(int32_t kind, const model::Resources& size, int32_t executors) {
  Kind& wanted = kinds_[kind];
  if (executors == wanted.target) return;
  wanted.size = size;
  wanted.target = executors;
  if (registered_) ScheduleAllocate(base::Duration());
}

void YarnMaster::SetPlaces(int32_t kind, int32_t slots, WantedPlaces places, std::map<std::string, std::string> racks) {
  Kind& wanted = kinds_[kind];
  if (wanted.places == places && wanted.racks == racks) return;
  wanted.slots = slots;
  wanted.places = std::move(places);
  wanted.racks = std::move(racks);
  if (registered_ && wanted.missing() > 0) ScheduleAllocate(base::Duration());
}

void YarnMaster::ForgetAsks() {
  for (auto& [id, kind] : kinds_) {
    kind.asked = -1;
    for (auto& [place, count] : kind.lines) count = -1;
  }
  for (auto& [id, container] : containers_) container.lost_since = base::Instant::Max();
}

void YarnMaster::ScheduleAllocate(base::Duration delay) {
  if (dismissed_ || finishing_) return;
  if (allocating_) {
    if (delay.ns == 0) allocate_again_ = true;
    return;
  }
  allocate_timer_.After(delay, [this] { Allocate(); });
}

void YarnMaster::Allocate() {
  if (dismissed_ || finishing_) return;
  wy::AllocateRequestProto request;
  request.response_id = response_id_;
  request.progress = callbacks_.progress ? callbacks_.progress() : 0.0f;
  for (auto& [id, kind] : kinds_) AskFor(id, kind, request.ask);
  request.release = releases_;
  TellLosses(request.fairlead_losses);
  allocating_ = true;
  rpc_.Call<wy::AllocateResponseProto>(
      ResourceManager(), "allocate", request, kCallTimeout,
      alive_([this, released = releases_.size()](base::Result<wy::AllocateResponseProto, rpc::RpcError> answer) {
        allocating_ = false;
        if (!answer) return OnAllocateFailed(answer.error());
        releases_.erase(releases_.begin(), releases_.begin() + static_cast<std::ptrdiff_t>(released));
        OnAllocated(*answer);
      }));
}

/// What was told grows by itself, as the container runs on: it is told again when it is off by more than a second.
void YarnMaster::TellLosses(std::vector<wy::FairleadLossProto>& losses) {
  if (!callbacks_.losses) return;
  for (const auto& [executor, lost] : callbacks_.losses()) {
    const auto id = by_executor_.find(executor);
    if (id == by_executor_.end()) continue;
    Container& container = containers_.at(id->second);
    const base::Instant since = loop_.Now() - lost;
    const base::Instant told = container.lost_since;
    if (told != base::Instant::Max() && std::max(since, told) - std::min(since, told) <= kLossChange) continue;
    container.lost_since = since;
    wy::FairleadLossProto& loss = losses.emplace_back();
    loss.container_id = container.proto.id;
    loss.lost_ms = lost.millis();
  }
}

/// An ask states the total still wanted; lines that are as they were said last are left out.
void YarnMaster::AskFor(int32_t id, Kind& kind, std::vector<wy::ResourceRequestProto>& asks) {
  const bool gang = kind.gang > 0;
  PlaceLines lines;
  if (!gang) {
    std::map<std::string, int32_t> existing;
    for (const auto& [container_id, container] : containers_) {
      if (container.kind == id && container.proto.node_id) ++existing[std::string(container.proto.node_id->Host())];
    }
    lines = LinesNearData(kind.places, kind.missing(), kind.slots, existing, kind.racks);
  }
  for (const auto& [place, count] : kind.lines) lines.try_emplace(place, 0);  // no more
  for (const auto& [place, count] : lines) {
    const auto said = kind.lines.find(place);
    if (said == kind.lines.end() || said->second != count) asks.push_back(Request(id, kind.size, place, count, false));
  }
  kind.lines = std::move(lines);
  if (kind.missing() == kind.asked && !(gang && loop_.Now() - kind.asked_at > kGangAgain)) return;
  kind.asked = kind.missing();
  kind.asked_at = loop_.Now();
  asks.push_back(Request(id, kind.size, "*", kind.asked, gang));
}

/// The resource manager restarted: tell it everything again.
void YarnMaster::RegisterAnew() {
  registered_ = false;
  response_id_ = 0;
  register_until_ = loop_.Now() + kPatience;
  SendRegister();
}

void YarnMaster::OnAllocateFailed(const rpc::RpcError& error) {
  resource_managers_.Failed(error);
  ForgetAsks();  // whether they arrived is unknown: they state totals, so they can be said again
  if (IsException(error, "ApplicationMasterNotRegisteredException")) {
    return RegisterAnew();
  }
  if (IsException(error, "ApplicationAttemptNotFoundException") || IsException(error, "SecretManager$InvalidToken") ||
      IsException(error, "InvalidToken")) {
    dismissed_ = true;
    callbacks_.on_dismissed("the resource manager does not know this attempt any more: " + error.message);
    return;
  }
  ScheduleAllocate(kRetry);
  if (IsException(error, "InvalidResourceRequestException") && callbacks_.on_refused)
    callbacks_.on_refused(error.message);
}

void YarnMaster::OnAllocated(wy::AllocateResponseProto& response) {
  response_id_ = response.response_id.value_or(response_id_ + 1);
  if (response.a_m_command == wy::AMCommandProto::kResync) return RegisterAnew();
  if (response.a_m_command == wy::AMCommandProto::kShutdown) {
    dismissed_ = true;
    callbacks_.on_dismissed("the resource manager ended this attempt");
    return;
  }
  if (response.am_rm_token) {
    am_rm_token_ = TokenOf(*response.am_rm_token);
    if (callbacks_.on_token) callbacks_.on_token(am_rm_token_);
  }
  for (const wy::NMTokenProto& token : response.nm_tokens) TakeToken(token);
  for (const wy::NodeReportProto& node : response.updated_nodes) {
    if (!node.node_id || !node.node_state) continue;
    if (IsGone(*node.node_state)) {
      lost_nodes_.insert(NodeKey(*node.node_id));
    } else {
      lost_nodes_.erase(NodeKey(*node.node_id));
    }
  }
  for (wy::ContainerProto& container : response.allocated_containers) OnContainer(std::move(container));
  for (const wy::ContainerStatusProto& status : response.completed_container_statuses) {
    if (!status.container_id) continue;
    Ended(model::ToString(ey::FromWire(*status.container_id)), status.exit_status.value_or(model::kExitInvalid),
          status.diagnostics.value_or(""));
  }
  for (const wy::ContainerProto& container : response.containers_from_previous_attempts) Confirm(container);
  for (const std::string& id : std::exchange(unconfirmed_, {}))
    Ended(id, model::kExitAborted, "it ended while its master was away");
  const bool waiting =
      std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind.second.missing() > 0; });
  const bool again = std::exchange(allocate_again_, false) || !releases_.empty();
  ScheduleAllocate(again ? base::Duration() : waiting ? kEager : kCalm);
}

void YarnMaster::TakeToken(const wy::NMTokenProto& token) {
  if (token.node_id && token.token) node_tokens_[NodeKey(*token.node_id)] = TokenOf(*token.token);
}

void YarnMaster::OnContainer(wy::ContainerProto proto) {
  const std::string id = IdOf(proto);
  if (id.empty() || !proto.node_id || containers_.count(id) != 0) return;
  const auto kind = kinds_.find(proto.Priority().Priority());
  if (kind == kinds_.end() || kind->second.missing() == 0 || finishing_) {
    releases_.push_back(*proto.id);
    return;
  }
  if (kind->second.asked > 0) --kind->second.asked;  // the resource manager has taken it off the ask
  for (auto& [place, count] : kind->second.lines) {
    if (count > 0) count = -1;  // the lines for its node and rack are out of date: they are sent again
  }
  if (++kind->second.containers >= kind->second.gang) kind->second.gang = 0;
  Container container;
  container.proto = std::move(proto);
  container.kind = kind->first;
  container.executor_id = std::to_string(next_executor_++);
  by_executor_[container.executor_id] = id;
  containers_[id] = std::move(container);
  Start(id);
}

ExecutorContainer YarnMaster::Describe(const std::string& container_id, const Container& container) const {
  const wy::NodeIdProto& node = *container.proto.node_id;
  return {container.executor_id,
          container.kind,
          container_id,
          {std::string(node.Host()), static_cast<uint16_t>(node.Port())},
          container.proto.node_http_address.value_or(""),
          without_service_.count(NodeKey(node)) == 0};
}

// ---- starting them -------------------------------------------------------------------------------------------------

void YarnMaster::Start(const std::string& container_id) {
  Container& container = containers_.at(container_id);
  const wy::NodeIdProto& node = *container.proto.node_id;
  const auto token = node_tokens_.find(NodeKey(node));
  if (token == node_tokens_.end()) {
    return StartAgainOrGiveUp(container_id, "the resource manager gave no token for node " + NodeKey(node));
  }
  rpc::RpcTarget target;
  target.address = {std::string(node.Host()), static_cast<uint16_t>(node.Port())};
  target.protocol = std::string(wy::kContainerManagementProtocol);
  target.user.token = token->second;
  wy::StartContainersRequestProto request;
  wy::StartContainerRequestProto start;
  start.container_launch_context = callbacks_.make_launch(Describe(container_id, container));
  start.container_token = container.proto.container_token;
  request.start_container_request.push_back(std::move(start));
  rpc_.Call<wy::StartContainersResponseProto>(
      target, "startContainers", request, kCallTimeout,
      alive_([this, container_id](base::Result<wy::StartContainersResponseProto, rpc::RpcError> answer) {
        OnStarted(container_id, std::move(answer));
      }));
}

void YarnMaster::OnStarted(const std::string& container_id,
                           base::Result<wy::StartContainersResponseProto, rpc::RpcError> answer) {
  const auto container = containers_.find(container_id);
  if (container == containers_.end()) return;  // ended meanwhile
  if (!answer) return StartAgainOrGiveUp(container_id, answer.error().message);
  const auto started = [&] {
    if (callbacks_.on_executor_started) callbacks_.on_executor_started(Describe(container_id, container->second));
  };
  if (answer->failed_requests.empty()) return started();
  const auto& exception = answer->failed_requests.front().exception;
  const std::string why = exception ? exception->message.value_or("refused") : "refused";
  // An earlier try had arrived although its answer was lost; the exception is a plain YarnException, which words alone
  // tell.
  if (why.find("already is running") != std::string::npos || why.find("already running") != std::string::npos) {
    return started();
  }
  // A launch names no other service.
  if (exception && exception->ClassName() == ey::exceptions::kInvalidAuxService &&
      without_service_.insert(NodeKey(*container->second.proto.node_id)).second) {
    return Start(container_id);
  }
  StartAgainOrGiveUp(container_id, why);
}

void YarnMaster::StartAgainOrGiveUp(const std::string& container_id, const std::string& why) {
  Container& container = containers_.at(container_id);
  if (++container.start_tries < kStartTries && !finishing_) {
    loop_.After(kRetry, alive_([this, container_id] {
                  if (containers_.count(container_id) != 0) Start(container_id);
                }));
    return;
  }
  if (container.proto.id) releases_.push_back(*container.proto.id);
  Ended(container_id, model::kExitInvalid, "cannot start the container: " + why);
}

void YarnMaster::Ended(const std::string& container_id, int32_t exit_status, const std::string& diagnostics) {
  const auto found = containers_.find(container_id);
  if (found == containers_.end()) return;
  ExecutorEnd end{Describe(container_id, found->second), exit_status, diagnostics, false};
  end.node_lost = lost_nodes_.count(end.executor.node.ToString()) != 0;
  --kinds_[end.executor.kind].containers;
  by_executor_.erase(end.executor.executor_id);
  containers_.erase(found);
  if (registered_) ScheduleAllocate(base::Duration());
  callbacks_.on_executor_ended(end);
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
  allocate_timer_.Stop();
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
      alive_([this](base::Result<wy::FinishApplicationMasterResponseProto, rpc::RpcError> answer) {
        const bool done = answer && answer->is_unregistered.value_or(false);
        if (!answer) resource_managers_.Failed(answer.error());
        const bool refused = !answer && rpc::IsRefusal(answer.error());
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
        loop_.After(base::Duration::Millis(100), alive_([this] { SendFinish(); }));
      }));
}

void AddShuffleService(wy::ContainerLaunchContextProto& context, const std::string& secret) {
  context.service_data.push_back({kShuffleService, secret});
}

}  // namespace fairlead::process::application

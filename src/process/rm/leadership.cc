#include "process/rm/leadership.h"

#include <algorithm>
#include <utility>

#include "model/access_list.h"
#include "process/rm/operation_audit.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {

namespace h = wire::hadoop_rpc;
namespace ex = endpoints::yarn::exceptions;
using base::Duration;

namespace {
constexpr Duration kSignOfLife = Duration::Millis(100);
constexpr Duration kProbeAgain = Duration::Millis(250);
static_assert(kSignOfLife < kProbeAgain, "an answer belongs to the last question");
constexpr Duration kTransition = Duration::Seconds(10);

rpc::RpcTarget HaTarget(const LeadershipOptions& options, const env::Endpoint& address, const std::string& user) {
  endpoints::yarn::RpcUser as{user, "", std::nullopt, options.security.gss ? options.manager_server : ""};
  const std::string& secret = options.security.members_secret;
  if (!options.security.gss && !secret.empty()) as.token = MemberToken(secret, options.id);
  return {address, std::string(wire::yarn::kHaServiceProtocol), std::move(as)};
}
}  // namespace

Leadership::Leadership(env::Loop& loop, env::Net& net, env::Log& log, std::unique_ptr<env::Elector> elector,
                       LeadershipOptions options)
    : loop_(loop),
      net_(net),
      log_(log),
      options_(std::move(options)),
      client_(loop, net, {}, options_.security.ForCalls()),
      elector_(std::move(elector)) {}

Leadership::~Leadership() {
  alive_.End();
  manager_.reset();
  store_.reset();
}

base::Status Leadership::Start() {
  Ports::Membership membership;
  membership.may_act = [this] { return elector_->MayAct(); };
  membership.on_waiting = [this] { OnWaiting(); };
  membership.nobody_leads = [this] { return probing_; };
  membership.on_ha_call = [this](const rpc::IncomingCall& call) { OnHaCall(call); };
  membership.seen = [this](const std::string& table, const std::string& key) { return elector_->Seen(table, key); };
  membership.not_active = "ResourceManager " + options_.id + " is not Active!";
  base::Result<std::unique_ptr<Ports>> ports =
      Ports::Listen(loop_, net_, options_.ports, std::move(membership), options_.security);
  if (!ports.ok()) return ports.error();
  ports_ = std::move(*ports);
  env::Elector::Listener listener;
  listener.elected = [this](std::unique_ptr<env::Store> store) { Elected(std::move(store)); };
  listener.deposed = [this](const std::string& why) { Deposed(why); };
  listener.confirmed = [this] {
    log_.Info("it may act again");
    if (!manager_) return;
    manager_->batches().Drain();
    ports_->LetIn();
  };
  listener.refused = options_.on_refused;
  listener.notice = [this](const std::string& what) { log_.Info(what); };
  listener.warning = [this](const std::string& what) { log_.Warn(what); };
  elector_->Start(std::move(listener));
  return {};
}

// ---- Becoming active and stepping down ----

void Leadership::Elected(std::unique_ptr<env::Store> store) {
  base::Result<ResourceManagerOptions> options = options_.manager(*store);
  base::Status started = options.ok() ? base::Status{} : options.error();
  if (started.ok()) {
    options->may_act = [this] { return elector_->MayAct(); };
    store_ = std::move(store);
    auto manager = ResourceManager::Lead(loop_, net_, *store_, std::move(*options), *ports_);
    if (manager.ok()) {
      manager_ = std::move(*manager);
    } else {
      started = manager.error();
      store_.reset();
    }
  }
  if (!started.ok()) {
    log_.Error("elected, and cannot lead; another manager is to", {{"reason", started.error().message}});
    return elector_->Yield();
  }
  log_.Info("this resource manager is active", {{"id", options_.id}, {"store", store_->Name()}});
  if (options_.on_active) options_.on_active(*manager_);
  AnswerTransitions(to_active_);
}

void Leadership::Deposed(const std::string& why) {
  log_.Warn("this resource manager is standby", {{"id", options_.id}, {"reason", why}});
  if (manager_ && options_.on_standby) options_.on_standby();
  manager_.reset();
  store_.reset();
  AnswerTransitions(to_standby_);
  OnWaiting();
}

// ---- What waits ----

void Leadership::OnWaiting() {
  if (!std::exchange(probing_, true)) Probe();
}

// Not only the one that the elector names: it knows none while its own connection is made again.
void Leadership::Probe() {
  if (acting()) {
    probing_ = false;
    return ports_->LetIn();
  }
  const uint64_t question = ++question_;
  for (const auto& [member, address] : options_.admin_of) {
    if (member == options_.id) continue;
    client_.Call<h::GetServiceStatusResponseProto>(
        HaTarget(options_, address, options_.id), "getServiceStatus", h::GetServiceStatusRequestProto{}, kSignOfLife,
        alive_([this, question, at = address, mark = ports_->server().WaitingMark()](
                   base::Result<h::GetServiceStatusResponseProto, rpc::RpcError> answer) {
          if (!answer.ok()) client_.Disconnect(at);
          if (!answer.ok() || answer->state != h::HAServiceStateProto::kActive || question != question_) return;
          ++question_;
          probing_ = false;
          ports_->LetIn(mark);
        }));
  }
  loop_.After(kProbeAgain, alive_([this, question] {
                if (question == question_) Probe();
              }));
}

const env::Endpoint* Leadership::LeaderAdmin() const {
  const std::optional<std::string> leader = elector_->Leader();
  if (!leader || *leader == options_.id) return nullptr;
  const auto at = options_.admin_of.find(*leader);
  return at == options_.admin_of.end() ? nullptr : &at->second;
}

// ---- HAServiceProtocol (org.apache.hadoop.yarn.server.resourcemanager.AdminService) ----

void Leadership::OnHaCall(const rpc::IncomingCall& call) {
  rpc::RpcServer& server = ports_->server();
  using Method = h::HAProtocolMethod;
  switch (call.As<Method>()) {
    case Method::kGetServiceStatus: {
      h::GetServiceStatusResponseProto response;
      response.state = acting() ? h::HAServiceStateProto::kActive : h::HAServiceStateProto::kStandby;
      response.ready_to_become_active = true;
      return server.ReplyMessage(call.token, response);
    }
    case Method::kMonitorHealth:
      return server.ReplyMessage(call.token, h::MonitorHealthResponseProto{});
    case Method::kTransitionToActive:
      return ToActive(call);
    case Method::kTransitionToStandby:
      return ToStandby(call);
    case Method::kTransitionToObserver:
      return server.Fail(call.token, ex::kUnsupportedOperation, "There are no observers among resource managers.");
  }
}

bool Leadership::MayTransition(const rpc::IncomingCall& call) {
  rpc::RpcServer& server = ports_->server();
  const PortSecurity& security = options_.security;
  const bool manager = IsMember(call.caller) ||
                       (security.gss != nullptr && IsPrincipal(call.caller.principal, security.manager_principal));
  const bool may = manager || model::Lists(options_.admin_acl, call.caller.user, options_.groups_of(call.caller.user));
  server.WhenAnswered(call.token,
                      [audit = security.audit, operation = Operation{.name = std::string(call.method),
                                                                     .target = may ? "RM" : "AdminService",
                                                                     .failure = may ? "" : kUnauthorized,
                                                                     .caller = call.caller,
                                                                     .ip = call.peer.host}](
                          std::optional<std::string_view> refused) { NoteOperation(audit, operation, refused); });
  if (!may) {
    server.Fail(call.token, ex::kAccessControl,
                "User " + call.caller.user + " doesn't have permission to call '" + std::string(call.method) + "'");
    return false;
  }
  h::TransitionToActiveRequestProto request;  // the other transition's has the same fields
  if (!request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)).ok()) {
    server.Fail(call.token, ex::kInvalidProtocolBuffer, "The request does not parse.");
    return false;
  }
  if (request.req_info.req_source != h::HARequestSourceProto::kUserForced) {
    server.Fail(call.token, ex::kAccessControl,
                "Manual failover for this ResourceManager is disallowed, because automatic failover is enabled.");
    return false;
  }
  return true;
}

void Leadership::ToActive(const rpc::IncomingCall& call) {
  if (!MayTransition(call)) return;
  if (acting()) return ports_->server().ReplyMessage(call.token, h::TransitionToActiveResponseProto{});
  to_active_.push_back(call.token);
  AskToYield(call.token, call.caller.user);
  loop_.After(kTransition, alive_([this, token = call.token] {
                if (std::erase(to_active_, token) == 0) return;
                ports_->server().Fail(token, ex::kIo,
                                      options_.id + " has not become active in time; its log says why.");
              }));
}

void Leadership::AskToYield(rpc::CallToken asked, const std::string& user) {
  if (std::find(to_active_.begin(), to_active_.end(), asked) == to_active_.end()) return;
  const env::Endpoint* leader = LeaderAdmin();
  if (!leader) {  // who has just started has not heard of it yet
    loop_.After(kProbeAgain, alive_([this, asked, user] { AskToYield(asked, user); }));
    return;
  }
  h::TransitionToStandbyRequestProto request;
  request.req_info.req_source = h::HARequestSourceProto::kUserForced;
  client_.Call<h::TransitionToStandbyResponseProto>(
      HaTarget(options_, *leader, user), "transitionToStandby", request, kTransition,
      alive_([this](const base::Result<h::TransitionToStandbyResponseProto, rpc::RpcError>& answer) {
        if (!answer.ok()) log_.Warn("the leader does not step down", {{"reason", answer.error().message}});
      }));
}

void Leadership::ToStandby(const rpc::IncomingCall& call) {
  if (!MayTransition(call)) return;
  if (!manager_) return ports_->server().ReplyMessage(call.token, h::TransitionToStandbyResponseProto{});
  to_standby_.push_back(call.token);
  elector_->Yield();
}

// Both answers are empty messages.
void Leadership::AnswerTransitions(std::vector<rpc::CallToken>& calls) {
  for (const rpc::CallToken call : std::exchange(calls, {})) ports_->server().Reply(call, "");
}

}  // namespace fairlead::process::rm

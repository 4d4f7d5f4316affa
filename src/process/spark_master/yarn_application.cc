#include "process/spark_master/yarn_application.h"

#include <algorithm>

#include "base/dispatch.h"
#include "base/stored.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/yarn/rm_convert.h"
#include "model/ids.h"
#include "process/spark_master/executor_command.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace wy = wire::yarn;

namespace {

constexpr base::Duration kCallTimeout = base::Duration::Seconds(30);
constexpr base::Duration kRetry = base::Duration::Millis(500);
/// How often the resource manager is asked whether the application may begin, at first and when that takes long.
constexpr base::Duration kEagerPoll = base::Duration::Millis(100);
constexpr base::Duration kCalmPoll = base::Duration::Seconds(1);
constexpr base::Duration kEagerFor = base::Duration::Seconds(5);
/// How often it is looked for the reason of an attempt's end.
constexpr int kLooks = 50;
constexpr base::Duration kSaveDelay = base::Duration::Millis(100);
constexpr const char* kQueueVariable = "FAIRLEAD_QUEUE";

application::ExecutorContainer ContainerOf(const StoredExecutor& executor) {
  return {executor.id,           executor.profile,
          executor.container,    {executor.host, static_cast<uint16_t>(executor.port)},
          executor.http_address, true};
}

bool IsFinal(wy::YarnApplicationStateProto state) { return state >= wy::YarnApplicationStateProto::kFinished; }

}  // namespace

YarnApplication::YarnApplication(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log,
                                 const YarnSettings& settings, const es::SparkBuild& build,
                                 es::RegisterApplication registration, Callbacks callbacks)
    : loop_(loop),
      net_(net),
      log_(log),
      settings_(settings),
      build_(build),
      registration_(std::move(registration)),
      callbacks_(std::move(callbacks)),
      rpc_(loop, net),
      resource_managers_(settings.resource_managers),
      policy_(settings.policy, registration_.application),
      store_(store) {
  stored_.registration = registration_.kept;
}

YarnApplication::YarnApplication(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log,
                                 const YarnSettings& settings, const es::SparkBuild& build,
                                 es::RegisterApplication registration, Callbacks callbacks, const std::string& id,
                                 StoredApplication stored)
    : YarnApplication(loop, net, store, log, settings, build, std::move(registration), std::move(callbacks)) {
  id_ = id;
  stored_ = std::move(stored);
}

YarnApplication::~YarnApplication() = default;

/// A call as the application's user. While nothing answers it is repeated; a refusal ends the application.
template <class Response, class Request>
void YarnApplication::Call(const char* method, const Request& request, std::function<void(Response)> done) {
  rpc::RpcTarget target;
  target.address = resource_managers_.current();
  target.protocol = std::string(wy::kApplicationClientProtocol);
  target.user.user = registration_.application.user;
  rpc_.Call<Response>(target, method, request, kCallTimeout,
                      alive_([this, method, request, done](base::Result<Response, rpc::RpcError> answer) {
                        if (over_) return;
                        if (answer.ok()) return done(std::move(*answer));
                        resource_managers_.Failed(answer.error());
                        if (rpc::IsRefusal(answer.error())) return OnRefused(answer.error().message);
                        if (!submitted_ && ending_) return Over();
                        loop_.After(kRetry,
                                    alive_([this, method, request, done] { Call<Response>(method, request, done); }));
                      }));
}

// ---- submission ----------------------------------------------------------------------------------------------------

void YarnApplication::Start() {
  Call<wy::GetNewApplicationResponseProto>("getNewApplication", wy::GetNewApplicationRequestProto(),
                                           [this](wy::GetNewApplicationResponseProto fresh) {
                                             if (ending_) return Over();
                                             proto_id_ = fresh.ApplicationId();
                                             id_ = model::ToString(endpoints::yarn::FromWire(proto_id_));
                                             Submit();
                                           });
}

void YarnApplication::Submit() {
  const es::ApplicationDescription& application = registration_.application;
  wy::SubmitApplicationRequestProto request;
  auto& context = request.application_submission_context.emplace();
  context.application_id = proto_id_;
  context.application_name = application.name;
  context.application_type = "SPARK";
  const auto chosen = application.command.environment.find(kQueueVariable);
  context.queue = chosen != application.command.environment.end() ? chosen->second : settings_.queue;
  context.unmanaged_am = true;
  context.max_app_attempts = 1;
  // So that its master may register again after a restart of this daemon (an unmanaged master's high availability).
  context.keep_containers_across_application_attempts = true;
  context.am_container_spec.emplace();
  context.priority.emplace().priority = 0;
  submitted_ = true;
  Call<wy::SubmitApplicationResponseProto>("submitApplication", request, [this](wy::SubmitApplicationResponseProto) {
    log_.Info("an application begins", {{"application", id_},
                                        {"name", registration_.application.name},
                                        {"user", registration_.application.user},
                                        {"driver", registration_.driver.ToString()},
                                        {"spark", build_.release}});
    Commit([this](const env::CommitStatus& stored) {
      accepted_ = true;
      accepted_at_ = loop_.Now();
      if (!stored.ok()) Remove("the master cannot store it: " + stored.error().message);
      if (!ending_) callbacks_.on_accepted();
      AwaitAttempt();
    });
  });
}

// ---- what outlives this process ------------------------------------------------------------------------------------

/// Stores what has changed soon; changes that come together go together. What is lost by a crash in between is
/// harmless: a container that is not known is given back, and ids are left out.
void YarnApplication::Save() {
  if (std::exchange(saving_, true)) return;
  loop_.After(kSaveDelay, alive_([this] {
                if (over_) return;
                saving_ = false;
                Commit([](const env::CommitStatus&) {});
              }));
}

void YarnApplication::Commit(std::function<void(const env::CommitStatus&)> done) {
  if (store_ == nullptr) return done({});
  stored_.totals.clear();
  for (const auto& [profile, executors] : policy_.totals()) stored_.totals.push_back({profile, executors});
  std::vector<env::Row> rows{{kApplicationTable, id_, base::EncodeStored(stored_)}};
  store_->Commit(
      std::move(rows), alive_([this, done](const env::CommitStatus& status) {
        if (over_) return;
        if (!status.ok()) {
          log_.Warn("an application cannot be stored", {{"application", id_}, {"reason", status.error().message}});
        }
        done(status);
      }));
}

void YarnApplication::Resume() {
  if (const auto parsed = model::ParseApplicationId(id_); parsed.ok()) proto_id_ = endpoints::yarn::ToWire(*parsed);
  resumed_ = true;
  submitted_ = true;
  accepted_ = true;
  accepted_at_ = loop_.Now();
  ExecutorPolicy::Effects known;  // to the driver, which goes on
  es::RequestExecutors request{id_, {}};
  for (const StoredTotal& total : stored_.totals) request.totals.emplace_back(total.profile, total.executors);
  policy_.OnRequest(request, known);
  for (const StoredExecutor& executor : stored_.executors) {
    policy_.OnGranted(ContainerOf(executor), known);
    if (executor.started) policy_.OnStarted(loop_.Now(), ContainerOf(executor), known);
  }
  if (stored_.token_identifier.empty()) return AwaitAttempt();
  StartMaster();
  es::KillExecutors killed{id_, {}};
  for (const StoredExecutor& executor : stored_.executors) {
    if (executor.killed) killed.executors.push_back(executor.id);
  }
  ExecutorPolicy::Effects effects;
  policy_.OnKill(killed, effects);
  Apply(effects);
}

/// The resource manager lets it begin when its queue has room for one more application.
void YarnApplication::AwaitAttempt() {
  wy::GetApplicationReportRequestProto request;
  request.application_id = proto_id_;
  Call<wy::GetApplicationReportResponseProto>(
      "getApplicationReport", request,
      [this](wy::GetApplicationReportResponseProto answer) { OnReport(answer.ApplicationReport()); });
}

void YarnApplication::OnReport(const wy::ApplicationReportProto& report) {
  if (IsFinal(report.YarnApplicationState())) {
    if (!ending_) Tell(std::string(report.Diagnostics()));
    return Over();
  }
  if (report.am_rm_token) {
    const wire::hadoop_rpc::TokenProto& token = *report.am_rm_token;
    SetToken({token.identifier, token.password, token.kind, token.service});
    // The report has it only until the master has registered.
    return Commit([this](const env::CommitStatus&) { StartMaster(); });
  }
  const bool eager = loop_.Now() - accepted_at_ < kEagerFor;
  if (ending_ && !eager) return Kill();
  loop_.After(eager ? kEagerPoll : kCalmPoll, alive_([this] { AwaitAttempt(); }));
}

// ---- executors -----------------------------------------------------------------------------------------------------

void YarnApplication::StartMaster() {
  application::YarnMaster::Callbacks callbacks;
  callbacks.make_launch = [this](const application::ExecutorContainer& executor) {
    ExecutorPolicy::Effects effects;
    policy_.OnGranted(executor, effects);
    Apply(effects);
    Remember(executor, false);
    const ExecutorCommand command{id_,
                                  registration_.application.user,
                                  build_.home,
                                  &registration_.application,
                                  &policy_.ProfileOf(executor.kind),
                                  settings_.shuffle_port,
                                  settings_.web_scheme};
    return ExecutorLaunchContext(command, executor);
  };
  callbacks.on_executor_started = [this](const application::ExecutorContainer& executor) {
    ExecutorPolicy::Effects effects;
    policy_.OnStarted(loop_.Now(), executor, effects);
    Apply(effects);
    Remember(executor, true);
  };
  callbacks.on_executor_ended = [this](const application::ExecutorEnd& end) {
    log_.Info("an executor ended", {{"application", id_},
                                    {"executor", end.executor.executor_id},
                                    {"node", end.executor.node.ToString()},
                                    {"status", std::to_string(end.exit_status)}});
    ExecutorPolicy::Effects effects;
    policy_.OnEnded(loop_.Now(), end, effects);
    Apply(effects);
    std::erase_if(stored_.executors, [&](const StoredExecutor& e) { return e.id == end.executor.executor_id; });
    Save();
  };
  callbacks.on_token = [this](const endpoints::yarn::RpcToken& renewed) {
    SetToken(renewed);
    Save();
  };
  callbacks.on_refused = [this](const std::string& reason) {
    // With executors the job goes on; the cluster may have large nodes again.
    if (policy_.executors() == 0) Remove(reason);
  };
  callbacks.on_dismissed = [this](const std::string& reason) { OnDismissed(reason, kLooks); };
  callbacks.progress = [] { return 0.0f; };
  const endpoints::yarn::RpcToken token{stored_.token_identifier, stored_.token_password, stored_.token_kind,
                                        stored_.token_service};
  master_ = std::make_unique<application::YarnMaster>(loop_, net_, settings_.schedulers, token, std::move(callbacks));
  std::vector<application::ExecutorContainer> adopted;
  for (const StoredExecutor& executor : stored_.executors) adopted.push_back(ContainerOf(executor));
  // Ids that were given and not stored are not given again.
  master_->Adopt(adopted, stored_.last_executor + (resumed_ ? kIdsLeftOut : 1));
  master_->Register(settings_.host, settings_.port, registration_.application.ui_url, [this](base::Status status) {
    if (!status.ok()) return OnDismissed(status.error().message, kLooks);
    registered_ = true;
    if (ending_) Finish();
  });
  ExecutorPolicy::Effects effects;
  policy_.Begin(effects);
  Apply(effects);
}

void YarnApplication::SetToken(const endpoints::yarn::RpcToken& token) {
  stored_.token_identifier = token.identifier;
  stored_.token_password = token.password;
  stored_.token_kind = token.kind;
  stored_.token_service = token.service;
}

void YarnApplication::Remember(const application::ExecutorContainer& executor, bool started) {
  std::vector<StoredExecutor>& all = stored_.executors;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const StoredExecutor& e) { return e.id == executor.executor_id; });
  if (found == all.end()) found = all.insert(all.end(), StoredExecutor());
  *found = {executor.executor_id,       executor.kind, executor.container_id, executor.node.host, executor.node.port,
            executor.node_http_address, started,       found->killed};
  stored_.last_executor = std::max(stored_.last_executor, NumberOfExecutor(executor.executor_id).value_or(0));
  Save();
}

void YarnApplication::RequestExecutors(const es::RequestExecutors& request, std::function<void(bool)> done) {
  ExecutorPolicy::Effects effects;
  if (ending_ || !policy_.OnRequest(request, effects)) return done(false);
  Apply(effects);
  Commit([done = std::move(done)](const env::CommitStatus& stored) { done(stored.ok()); });
}

void YarnApplication::KillExecutors(const es::KillExecutors& request, std::function<void(bool)> done) {
  ExecutorPolicy::Effects effects;
  if (ending_ || !policy_.OnKill(request, effects)) return done(false);
  Apply(effects);
  for (StoredExecutor& executor : stored_.executors) {
    const auto& killed = request.executors;
    executor.killed |= std::find(killed.begin(), killed.end(), executor.id) != killed.end();
  }
  Commit([done = std::move(done)](const env::CommitStatus& stored) { done(stored.ok()); });
}

void YarnApplication::Apply(const ExecutorPolicy::Effects& effects) {
  for (const PolicyEffect& effect : effects) {
    if (ending_) return;
    base::Dispatch(
        effect,
        [&](const SetTarget& target) {
          // Before there is a master the policy remembers; it begins with what was asked for last.
          if (master_) master_->SetTarget(target.profile, target.size, target.executors);
        },
        [&](const Release& release) {
          if (master_) master_->Release(release.executor);
        },
        [&](const GiveUp& give_up) { Remove(give_up.reason); },
        [&](const es::ExecutorAdded& added) { callbacks_.tell(es::Encode(build_, added)); },
        [&](const es::ExecutorUpdated& updated) { callbacks_.tell(es::Encode(build_, updated)); });
  }
}

// ---- the end -------------------------------------------------------------------------------------------------------

/// The resource manager has ended the attempt; its report says why as soon as the application's end is stored.
void YarnApplication::OnDismissed(const std::string& reason, int looks) {
  if (ending_) return Over();
  wy::GetApplicationReportRequestProto request;
  request.application_id = proto_id_;
  Call<wy::GetApplicationReportResponseProto>(
      "getApplicationReport", request, [this, reason, looks](wy::GetApplicationReportResponseProto answer) {
        const wy::ApplicationReportProto& report = answer.ApplicationReport();
        if (!IsFinal(report.YarnApplicationState())) {
          if (looks == 0) return Remove(reason);
          loop_.After(kEagerPoll, alive_([this, reason, looks] { OnDismissed(reason, looks - 1); }));
          return;
        }
        if (!ending_) Tell(report.Diagnostics().empty() ? reason : std::string(report.Diagnostics()));
        Over();
      });
}

/// Lets the driver know that this is the end, and why.
void YarnApplication::Tell(const std::string& reason) {
  log_.Warn("an application is removed",
            {{"application", id_}, {"name", registration_.application.name}, {"reason", reason}});
  callbacks_.tell(es::EncodeRemoved(build_, reason));
}

void YarnApplication::Remove(const std::string& reason) {
  if (ending_) return;
  Tell(reason);
  End(reason);
}

void YarnApplication::End(const std::string& reason) {
  if (std::exchange(ending_, true)) return;
  end_reason_ = reason;
  log_.Info("an application ends", {{"application", id_}, {"reason", reason.empty() ? "the driver is done" : reason}});
  // Before that the answer to what is under way comes, and then it is known that this is the end.
  if (registered_) Finish();
}

void YarnApplication::Finish() {
  // In a later turn: this may be one of the master's own callbacks.
  loop_.Post(alive_([this] {
    if (!over_) master_->Finish(end_reason_.empty(), end_reason_, "", [this] { Over(); });
  }));
}

/// There is nothing that could be ended at the resource manager, or it does not let this daemon.
void YarnApplication::OnRefused(const std::string& reason) {
  if (!ending_) Tell("the resource manager refused it: " + reason);
  Over();
}

/// Its queue has no room for one more application, so that no master can unregister.
void YarnApplication::Kill() {
  wy::KillApplicationRequestProto request;
  request.application_id = proto_id_;
  Call<wy::KillApplicationResponseProto>("forceKillApplication", request,
                                         [this](wy::KillApplicationResponseProto answer) {
                                           if (answer.is_kill_completed.value_or(false)) return Over();
                                           loop_.After(kRetry, alive_([this] { Kill(); }));
                                         });
}

void YarnApplication::Over() {
  if (std::exchange(over_, true)) return;
  ending_ = true;
  if (store_ != nullptr && !id_.empty()) {
    store_->Commit({{kApplicationTable, id_, std::nullopt}}, [](const env::CommitStatus&) {});
  }
  callbacks_.on_over();
}

}  // namespace fairlead::process::spark_master

#include "process/nm/log_gathering.h"

#include <algorithm>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/rm_convert.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;
using model::ToString;
using Status = wire::yarn::LogAggregationStatusProto;

namespace {
constexpr char kLeftOut[] = "nm_logs_left_out";  // by application: containers whose logs the policy leaves here
}  // namespace

LogGathering::LogGathering(Ports ports, LogSettings settings) : ports_(ports), settings_(std::move(settings)) {
  if (settings_.roll_every.ns > 0) timer_.After(settings_.roll_every, [this] { RollAll(); });
}

base::Status LogGathering::Start(env::Store& store, const model::nm::Started& started,
                                 std::vector<env::UnreadRow>& unread) {
  auto rows = env::LoadRecords<LeftOut>(store, kLeftOut, &unread);
  if (!rows) return rows.error();
  for (const auto& [name, row] : *rows) {
    const base::Result<model::ApplicationId> app = model::ParseApplicationId(name);
    if (app) left_out_[*app] = {row.containers.begin(), row.containers.end()};
  }
  // The row of an end may be stored, and this one not.
  std::map<model::ApplicationId, const model::nm::AppRecord*> apps;
  for (const model::nm::AppRecord& app : started.apps) apps[app.id] = &app;
  for (const model::nm::ContainerRecord& container : started.containers) {
    const auto app = apps.find(container.spec.id.attempt.app);
    if (app == apps.end() || !container.done) continue;
    if (!Takes(*app->second, {container.spec.id, container.spec.is_master, container.exit_status}))
      left_out_[app->first].insert(container.spec.id);
  }
  return {};
}

LogPolicy LogGathering::PolicyOf(const LogContext& context) const {
  const std::string& parameters = context.has_parameters ? context.policy_parameters : settings_.policy_parameters;
  for (const std::string& name : {context.policy_class, settings_.policy_class}) {
    if (name.empty()) continue;
    if (const base::Result<LogPolicy> policy = ReadLogPolicy(name, parameters); policy) return *policy;
  }
  return {};
}

bool LogGathering::Takes(const model::nm::AppRecord& app, const model::nm::ContainerEnded& container) const {
  return PolicyOf(ReadLogContext(app.log_context))
      .Takes(container.container, container.is_master, container.exit_status);
}

void LogGathering::Ended(const model::nm::ContainerEnded& container) {
  const model::nm::AppRecord* app = ports_.core.FindApp(container.container.attempt.app);
  if (app == nullptr || Takes(*app, container)) return;
  std::set<model::ContainerId>& left = left_out_[app->id];
  left.insert(container.container);
  ports_.state.Keep({{kLeftOut, ToString(app->id), base::EncodeStored(LeftOut{{left.begin(), left.end()}})}});
}

AggregationPlan LogGathering::PlanOf(const model::nm::AppRecord& app, const LogContext& context) const {
  AggregationPlan plan;
  plan.app = app.id;
  plan.user = app.user;
  plan.node_id = node_id_;
  plan.view_acl = app.view_acl;
  plan.modify_acl = app.modify_acl;
  plan.at_end = context.at_end;
  plan.rolled = context.rolled;
  plan.rolls = context.rolls();
  plan.log_dirs = ports_.dirs.all_logs();
  plan.now = ports_.loop.Wall();
  plan.tokens = ports_.tokens.Of(app.id);
  if (const auto left = left_out_.find(app.id); left != left_out_.end())
    plan.left_out = {left->second.begin(), left->second.end()};
  return plan;
}

void LogGathering::RollAll() {
  timer_.After(settings_.roll_every, [this] { RollAll(); });
  const fairlead::nm::View view = ports_.core.GetView();
  std::map<model::ApplicationId, std::vector<const fairlead::nm::ContainerView*>> live;
  for (const fairlead::nm::ContainerView& container : view.containers) {
    if (container.state != model::nm::ContainerState::kDone) live[container.id.attempt.app].push_back(&container);
  }
  for (const fairlead::nm::AppView& app : view.apps) {
    const bool runs = app.state == model::nm::AppState::kInitializing || app.state == model::nm::AppState::kRunning;
    const model::nm::AppRecord* record = ports_.core.FindApp(app.id);
    if (runs && record != nullptr) Roll(*record, live[app.id]);
  }
}

void LogGathering::Roll(const model::nm::AppRecord& app,
                        const std::vector<const fairlead::nm::ContainerView*>& containers) {
  const LogContext context = ReadLogContext(app.log_context);
  if (!context.rolls() || under_way_.contains(app.id)) return;
  const LogPolicy policy = PolicyOf(context);
  AggregationPlan plan = PlanOf(app, context);
  plan.is_over = false;
  for (const fairlead::nm::ContainerView* container : containers) {
    plan.live.push_back(container->id);
    if (!policy.Takes(container->id, container->is_master, 0)) plan.left_out.push_back(container->id);
  }
  Begin(std::move(plan), [this, id = app.id](const base::Result<std::string>& note) {
    if (note) return Report(id, Status::kRunning, *note);
    const std::string& error = note.error().message;
    Report(id, Status::kRunningWithFailure, error);
    ports_.log.Warn("rolled logs stay on the node and are tried again", {{"app", ToString(id)}, {"why", error}});
  });
}

void LogGathering::Finish(const model::nm::HandleLogs& effect, Done done) {
  leaving_.emplace(effect.app, ports_.loop.Now());
  if (const auto roll = under_way_.find(effect.app); roll != under_way_.end()) {
    roll->second = [this, effect, done = std::move(done)] { Finish(effect, done); };
    return;
  }
  model::nm::AppRecord app;
  app.id = effect.app;
  app.user = effect.user;
  app.view_acl = effect.view_acl;
  app.modify_acl = effect.modify_acl;
  const LogContext context = ReadLogContext(effect.log_context);
  if (const auto policy = ReadLogPolicy(context.policy_class, ""); !context.policy_class.empty() && !policy) {
    ports_.log.Warn("an application's log aggregation policy is not known, the node's holds",
                    {{"app", ToString(app.id)}, {"why", policy.error().message}});
  }
  Begin(PlanOf(app, context), [this, id = effect.app, done = std::move(done)](const base::Result<std::string>& note) {
    const std::string error = note ? "" : note.error().message;
    // A manager keeps the texts that come before the end (AppLogAggregatorImpl.sendLogAggregationReport).
    const std::string& text = note ? *note : error;
    if (!text.empty()) Report(id, note ? Status::kRunning : Status::kRunningWithFailure, text);
    Report(id, note ? Status::kSucceeded : Status::kFailed, "");
    if (note && !note->empty())
      ports_.log.Warn("logs left the node without all rules of their application",
                      {{"app", ToString(id)}, {"why", *note}});
    leaving_.erase(id);
    if (left_out_.erase(id) > 0) ports_.state.Keep({{kLeftOut, ToString(id), std::nullopt}});
    done(error);
  });
}

std::vector<model::ApplicationId> LogGathering::KeepAlive() {
  std::vector<model::ApplicationId> out;
  if (settings_.tokens_kept.ns == 0) return out;
  const base::Instant now = ports_.loop.Now();
  for (auto& [app, due] : leaving_) {
    if (due > now) continue;
    out.push_back(app);
    due = now + base::Duration{settings_.tokens_kept.ns / 10 * 7};
  }
  return out;
}

void LogGathering::Begin(AggregationPlan plan, Gathered done) {
  const model::ApplicationId app = plan.app;
  under_way_.emplace(app, nullptr);
  ports_.aggregator.Aggregate(std::move(plan),
                              alive_([this, app, done = std::move(done)](const base::Result<std::string>& note) {
                                const std::function<void()> next = std::move(under_way_.at(app));
                                under_way_.erase(app);
                                const env::Alive::Watch alive = alive_.watch();
                                done(note);
                                if (alive && next) next();
                              }));
}

void LogGathering::Report(const model::ApplicationId& app, Status status, const std::string& why) {
  wire::yarn::LogAggregationReportProto& report = reports_.emplace_back();
  report.application_id = ep::ToWire(app);
  report.log_aggregation_status = status;
  report.diagnostics = why;
  last_[app] = {report, ports_.loop.Now()};
  ForgetOld();
}

void LogGathering::ForgetOld() {
  std::erase_if(last_, [&](const auto& entry) {
    return entry.second.at + settings_.remember < ports_.loop.Now() && ports_.core.FindApp(entry.first) == nullptr;
  });
}

std::vector<wire::yarn::LogAggregationReportProto> LogGathering::Remembered() {
  ForgetOld();
  std::vector<wire::yarn::LogAggregationReportProto> out;
  for (const auto& [app, last] : last_) out.push_back(last.report);
  return out;
}

void LogGathering::Told(size_t count) {
  reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(std::min(count, reports_.size())));
}

}  // namespace fairlead::process::nm

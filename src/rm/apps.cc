#include "rm/apps.h"

#include <algorithm>
#include <utility>

#include "base/large_stored.h"
#include "model/rejection.h"
#include "rm/attempts.h"
#include "rm/containers.h"
#include "rm/nodes.h"
#include "rm/normalize.h"
#include "rm/session_tags.h"
#include "rm/state_hash.h"

namespace fairlead::rm {

using model::Refusal;
using model::rm::AppState;
using model::rm::AttemptState;

namespace {
constexpr int64_t kLongestLifetimeMs = int64_t{100} * 365 * 86'400'000;  // beyond it times would overflow
}  // namespace

void Apps::On(const model::rm::NewApplication& event) {
  model::rm::NewApplicationAnswer answer;
  answer.call = event.call;
  answer.app = {context_.cluster_timestamp(), ++last_number_};
  answer.maximum = nodes_.MaximumAllocation();
  context_.Emit(answer);
}

/// Within the cluster's maximum. REST says -1 for none, which stands where one below 0 means something.
static int32_t PriorityOf(int32_t asked, const Context& context) {
  return std::clamp(asked, context.queues()->negative_priorities() ? INT32_MIN : 0, context.config().max_priority);
}

// The scheduler's verdict on the queue comes first, so that a refusal is an exception of submitApplication; then the
// row is stored, and only then the call is answered.
void Apps::On(const model::rm::Submit& event) {
  if (App* known = Find(event.submission.id)) {
    if (known->state == AppState::kNew || known->state == AppState::kNewSaving) {
      known->waiting_calls.emplace_back(WaitsFor::kSubmitted, event.call);
    } else {
      context_.Emit(model::rm::CallDone{event.call});
    }
    return;
  }
  App& app = table_.Add();
  app.submission = event.submission;
  app.submission.priority = PriorityOf(app.submission.priority, context_);
  app.submitted = app.started = context_.wall();
  app.max_attempts = config_.max_attempts;
  if (event.submission.max_attempts > 0) {
    app.max_attempts = std::min(event.submission.max_attempts, config_.global_max_attempts);
  }
  model::Refused refused = NormalizeMasterAsks(app);
  if (event.submission.lifetime_s == 0 || event.submission.lifetime_s < -1) {
    refused = {Refusal::kBadLifetime, {}, {}, {event.submission.lifetime_s}};
  }
  if (event.submission.queue.empty()) {  // RMAppManager.placeApplication
    refused = {Refusal::kNoQueue, {ToString(event.submission.id)}, {}, {}};
  }
  if (refused) {
    table_.Drop(app.index);
    return context_.Refuse(event.call, std::move(refused));
  }
  if (event.submission.lifetime_s > 0) {
    app.expires = {context_.wall().ms + std::min(event.submission.lifetime_s, kLongestLifetimeMs / 1000) * 1000};
  }
  app.waiting_calls.emplace_back(WaitsFor::kSubmitted, event.call);
  table_.Enter(app);
  if (!event.rejected.empty()) return Reject(app, event.rejected, event.rejected);
  Place(app, event.call, false);
}

void Apps::Place(const App& app, uint64_t token, bool recovered) {
  model::scheduler::AppAdded added;
  added.app = app.index;
  added.id = app.submission.id;
  added.queue = app.submission.queue;
  added.user = app.submission.user;
  added.groups = app.submission.groups;
  added.priority = app.submission.priority;
  added.priority_given = recovered || app.submission.priority_given;
  added.name = app.submission.name;
  added.tags = app.submission.tags;
  added.place = !recovered;
  added.recovering = recovered;
  added.unmanaged = app.submission.unmanaged;
  added.submitted = app.submitted;
  added.master_asks = app.master_asks;
  added.token = token;
  added.session = TraitsOf(app.submission.tags);
  added.session.kind = KindOf(app.submission.name);
  added.session.restartable = app.max_attempts > 1;
  context_.Await(token, PlacementAsked{app.index, recovered});
  context_.Tell(std::move(added));
}

model::Refused Apps::NormalizeMasterAsks(App& app) const {
  if (app.submission.unmanaged) return {};
  if (app.submission.master_asks.empty()) return {Refusal::kNoAsk, {}, {}, {}};
  const model::Ask* any = nullptr;
  for (const model::Ask& ask : app.submission.master_asks) {
    if (ask.name != "*") continue;
    if (any) return {Refusal::kTwoAsksAnywhere, {}, {}, {}};
    any = &ask;
  }
  if (!any) return {Refusal::kNoAskAnywhere, {}, {}, {}};
  model::Ask first = *any;
  std::vector<model::Ask> asks = {first};
  for (const model::Ask& ask : app.submission.master_asks) {
    if (ask.name != "*") asks.push_back(ask);
  }
  for (model::Ask& ask : asks) {
    ask.capability = first.capability;
    ask.count = 1;
    ask.priority = 0;
    // It goes before the application's own label (RMAppManager.validateAndCreateResourceRequest).
    if (ask.label.empty() && ask.name == "*") ask.label = config_.master_label;
    if (model::Refused refused = NormalizeAsk(config_, nodes_.MaximumAllocation(), app.submission.label, ask)) {
      return refused;
    }
    if (!config_.node_labels) continue;
    if (model::Refused refused = NormalizeLabel(nodes_.labels(), *context_.queues(), app.submission.queue, ask)) {
      return refused;
    }
  }
  app.master_asks = std::move(asks);
  return {};
}

void Apps::On(const model::scheduler::AppAccepted& effect) {
  const PlacementAsked asked = context_.TakeAsked<PlacementAsked>(effect.token);
  App& app = At(effect.app);
  app.in_scheduler = true;
  if (asked.recovered || !MaySubmit(app, effect.queue)) return;
  app.submission.queue = effect.queue;
  app.submission.priority = effect.priority.value_or(app.submission.priority);
  const int64_t lives = context_.queues()->LifetimesOf(effect.queue).For(app.submission.lifetime_s);
  if (lives > 0) app.expires = {app.submitted.ms + std::min(lives, kLongestLifetimeMs / 1000) * 1000};
  ++submitted_;
  SetState(app, AppEvent::kStart, AppState::kNewSaving);
  std::vector<model::rm::StoreRow> rows;
  rows.push_back(RowOf(app));  // a list in braces would copy it
  context_.Store(std::move(rows), {Continuation::After::kAppNew, app.index, 0, {}});
}

// When the queue in which the application was placed refuses it, it is as if nothing had been submitted.
bool Apps::MaySubmit(App& app, const std::string& queue) {
  const model::Refused refused = CheckQueue(app, queue);
  if (!refused) return true;
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) context_.Refuse(call, refused);
  if (app.in_scheduler) context_.Tell(model::scheduler::AppRemoved{app.index});
  Forget(app);
  return false;
}

// RMAppManager.createAndPopulateNewRMApp: of the queue in which it was placed, whatever was asked for, the largest
// container and the lists.
model::Refused Apps::CheckQueue(const App& app, const std::string& queue) const {
  const model::rm::Submission& s = app.submission;
  for (const model::Ask& ask : app.master_asks) {
    if (model::Refused refused = CheckSize(config_, nodes_.MaximumAllocation(queue), ask.capability)) return refused;
  }
  const model::QueueSet& queues = *context_.queues();
  // What the scheduler did not take has its refusal already.
  const bool hold = config_.acls || (app.in_scheduler && queues.lists_always_hold());
  if (!hold || queues.Allows(queue, s.user, s.groups, false) || queues.Allows(queue, s.user, s.groups, true)) return {};
  const model::QueueSet::Queue* nearest = queues.Nearest(queue);
  return {Refusal::kAccessLists,
          {s.user, ToString(s.id), model::FullQueueName(queue), nearest != nullptr ? nearest->name : "root"},
          {},
          {}};
}

void Apps::Refused(const PlacementAsked& asked, uint64_t, const model::Refused& refused) {
  App& app = At(asked.app);
  app.in_scheduler = false;
  if (!asked.recovered) {
    // Placement throws, and so does the check of the priority that follows it.
    if (refused.why == Refusal::kNoGroups || refused.why == Refusal::kBadPlacement ||
        refused.why == Refusal::kPriorityAccess) {
      for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) context_.Refuse(call, refused);
      return Forget(app);
    }
    return Reject(app, ToString(refused), RejectionDiagnostics(app, refused));
  }
  SaveFinal(app, AppEvent::kRejected, AppState::kFailed, RejectionDiagnostics(app, refused));
}

// As in Hadoop; YarnClient turns it into an exception.
void Apps::Reject(App& app, std::string_view why, std::string diagnostics) {
  if (!MaySubmit(app, app.submission.queue)) return;
  ++submitted_;
  SetState(app, AppEvent::kRejected, AppState::kSubmitted, why);
  SaveFinal(app, AppEvent::kRejected, AppState::kFailed, std::move(diagnostics));
}

std::string Apps::RejectionDiagnostics(const App& app, const model::Refused& refused) const {
  if (refused.why != Refusal::kNotPlaced) return model::RejectionText(refused);
  return "Reject application " + ToString(app.submission.id) + " submitted by user " + app.submission.user +
         " application rejected by placement rules.";
}

void Apps::Saved(App& app, bool ok, const std::string& error) {
  if (!ok) {
    const model::Refused refused{Refusal::kNotStored, {ToString(app.submission.id), error}, {}, {}};
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) context_.Refuse(call, refused);
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled))
      context_.Emit(model::rm::KillAnswer{call, true});
    context_.Tell(model::scheduler::AppRemoved{app.index});
    context_.Log(app.submission.id, "NEW_SAVING", "NEW", ToString(refused));
    Forget(app);
    return;
  }
  app.in_store = true;
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted))
    context_.Emit(model::rm::CallDone{call});
  if (app.state != AppState::kNewSaving) return;  // killed meanwhile
  SetState(app, AppEvent::kNewSaved, AppState::kSubmitted);
  SetState(app, AppEvent::kAccepted, AppState::kAccepted);
  ArmLifetime(app);
  StartAttempt(app, false);
}

void Apps::ArmLifetime(App& app) {
  if (app.deadline != base::Instant::Max()) {
    context_.Disarm({app.deadline, Timer::Kind::kLifetime, app.index.value, 0});
    app.deadline = base::Instant::Max();
  }
  if (app.expires.ms <= 0 || IsEnding(app.state)) return;
  const int64_t left = std::min(app.expires.ms, context_.wall().ms + kLongestLifetimeMs) - context_.wall().ms;
  app.deadline = context_.now() + base::Duration::Millis(std::max<int64_t>(0, left));
  context_.Arm({app.deadline, Timer::Kind::kLifetime, app.index.value, 0});
}

bool Apps::SetState(App& app, AppEvent event, AppState to, std::string_view detail) {
  return context_.Advance(AppLife(), app.submission.id, app.state, event, to, detail);
}

void Apps::On(const model::rm::KillApp& event) {
  App* app = Find(event.app);
  if (!app || app->state == AppState::kNew) {
    return context_.Refuse(event.call, Refusal::kUnknownApplicationToKill, {ToString(event.app)});
  }
  if (EndIsStored(app->state)) {
    context_.Emit(model::rm::KillAnswer{event.call, true});
    return;
  }
  app->waiting_calls.emplace_back(WaitsFor::kKilled, event.call);
  Kill(*app, event.diagnostics);
}

void Apps::Kill(App& app, const std::string& diagnostics) {
  if (AppLife().Leads(app.state, AppEvent::kKill, AppState::kFinalSaving)) {
    return SaveFinal(app, AppEvent::kKill, AppState::kKilled, diagnostics);  // it has no attempt yet
  }
  if (!AppLife().Knows(app.state, AppEvent::kKill)) return;
  app.state_before_killing = app.state;
  SetState(app, AppEvent::kKill, AppState::kKilling);
  if (Attempt* attempt = app.current()) attempts_.Kill(app, *attempt, diagnostics);
}

void Apps::StartAttempt(App& app, bool transfer) { attempts_.Start(app, app.next_attempt++, transfer); }

void Apps::AttemptRegistered(App& app) {
  if (!AppLife().Knows(app.state, AppEvent::kAttemptRegistered)) return;
  SetState(app, AppEvent::kAttemptRegistered, AppState::kRunning);
}

void Apps::AttemptUnregistered(App& app) { SaveFinal(app, AppEvent::kAttemptUnregistered, AppState::kFinishing, ""); }

void Apps::AttemptFinished(App& app, const std::string& diagnostics) {
  if (app.state == AppState::kFinishing) {
    app.diagnostics += diagnostics;
    Complete(app, AppEvent::kAttemptFinished, AppState::kFinished);
  } else if (app.state == AppState::kFinalSaving && app.target == AppState::kFinishing) {
    app.target = AppState::kFinished;
    app.pending_diagnostics = diagnostics;
  } else {
    SaveFinal(app, AppEvent::kAttemptFinished, AppState::kFinished, diagnostics);
  }
}

void Apps::AttemptKilled(App& app, const std::string& diagnostics) {
  SaveFinal(app, AppEvent::kAttemptKilled, AppState::kKilled, diagnostics);
}

int32_t Apps::FailedAttempts(const App& app) const {
  int32_t count = 0;
  for (const auto& [number, attempt] : app.attempts) count += attempts_.CountsAsFailure(app, attempt) ? 1 : 0;
  return count;
}

std::string Apps::FailureDiagnostics(const App& app, const std::string& cause, bool beyond) const {
  const std::string id = ToString(app.submission.id);
  if (app.submission.unmanaged) {
    return "Unmanaged application " + id + " failed due to " + cause + ". Failing the application.";
  }
  if (!beyond) return "";
  std::string text = "Application " + id + " failed " + std::to_string(app.max_attempts) + " times";
  if (app.submission.failures_validity_ms > 0) {
    text += " in previous " + std::to_string(app.submission.failures_validity_ms) + " milliseconds";
  }
  if (config_.global_max_attempts != app.max_attempts) {
    text += " (global limit =" + std::to_string(config_.global_max_attempts) +
            "; local limit is =" + std::to_string(app.max_attempts) + ")";
  }
  return text + " due to " + cause + ". Failing the application.";
}

void Apps::AttemptFailed(App& app, const std::string& diagnostics, bool keep_containers) {
  if (!AppLife().Knows(app.state, AppEvent::kAttemptFailed)) return;
  // With one attempt only, nothing that has run runs again (RMAppImpl.AttemptFailedTransition). A master that was never
  // started may: a takeover finds some between their grant and their start.
  const bool has_run = app.launched.ms != 0;
  const int32_t failures = app.max_attempts == 1 && has_run ? 1 : FailedAttempts(app);
  if (app.submission.unmanaged || failures >= app.max_attempts) {
    SaveFinal(app, AppEvent::kAttemptFailed, AppState::kFailed,
              FailureDiagnostics(app, diagnostics, failures >= app.max_attempts));
    return;
  }
  if (app.state == AppState::kKilling) {
    SaveFinal(app, AppEvent::kAttemptFailed, AppState::kKilled, diagnostics);
    return;
  }
  SetState(app, AppEvent::kAttemptFailed, AppState::kAccepted);
  StartAttempt(app, keep_containers);
}

void Apps::SaveFinal(App& app, AppEvent event, AppState target, std::string diagnostics) {
  if (!AppLife().Leads(app.state, event, AppState::kFinalSaving)) return;
  app.state_before_saving = app.state;
  app.target = target;
  app.pending_diagnostics = std::move(diagnostics);
  app.finished = context_.wall();
  SetState(app, event, AppState::kFinalSaving);
  StoreFinal(app);
}

// Together with the attempt whose end is still being stored: neither a client nor a restart may ever see the
// application's end without what its master reported.
void Apps::StoreFinal(App& app) {
  std::vector<model::rm::StoreRow> rows{RowOf(app)};
  Continuation continuation{Continuation::After::kAppFinal, app.index, 0, {}};
  if (const Attempt* attempt = app.current(); attempt && attempt->state == model::rm::AttemptState::kFinalSaving) {
    rows.push_back(attempts_.RowOf(*attempt));
    continuation.attempt = attempt->id.attempt;
  }
  context_.Store(std::move(rows), std::move(continuation));
}

void Apps::FinalSaved(App& app, bool ok) {
  if (app.state != AppState::kFinalSaving) return;
  if (!ok) {
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled)) {
      context_.Emit(model::rm::KillAnswer{call, false});
    }
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kUnregistered)) {
      context_.Emit(model::rm::FinishMasterAnswer{call, false});
    }
    context_.Arm({context_.now() + config_.store_retry, Timer::Kind::kRetry, app.index.value, 0});
    return;
  }
  app.in_store = true;
  app.diagnostics += app.pending_diagnostics;
  app.pending_diagnostics.clear();
  const AppState target = app.target;
  if (target == AppState::kFinishing) {
    SetState(app, AppEvent::kUpdateSaved, AppState::kFinishing);
  } else {
    Complete(app, AppEvent::kUpdateSaved, target);
  }
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled))
    context_.Emit(model::rm::KillAnswer{call, true});
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kUnregistered)) {
    context_.Emit(model::rm::FinishMasterAnswer{call, true});
  }
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted))
    context_.Emit(model::rm::CallDone{call});
}

void Apps::Complete(App& app, AppEvent event, AppState final_state) {
  if (!SetState(app, event, final_state)) return;
  TellItsNodes(app);
  containers_.TellToForgetAll(app);
  if (app.in_scheduler) {
    app.in_scheduler = false;
    context_.Tell(model::scheduler::AppRemoved{app.index});
  }
  if (app.finished.ms == 0) app.finished = context_.wall();
  ArmLifetime(app);
  app.submission.context.clear();
  app.submission.context.shrink_to_fit();
  app.node_changes.clear();
  for (auto& [number, attempt] : app.attempts) attempts_.ApplicationEnded(attempt);
  completed_.push_back(app.index);
  if (app.in_store) ++completed_in_store_;
  Evict();
}

void Apps::TellItsNodes(const App& app) {
  // A large application has been on all nodes, and they have left the cache.
  constexpr size_t kAhead = 4;
  const size_t nodes = app.ran_on.size();
  for (size_t i = 0; i < nodes + 3 * kAhead; ++i) {
    for (int step = 0; step < 3; ++step) {
      const size_t ahead = i - static_cast<size_t>(step) * kAhead;  // beyond all of them before its turn
      if (ahead < nodes) nodes_.Prefetch(app.ran_on.begin()[static_cast<ptrdiff_t>(ahead)], step);
    }
    if (i < 3 * kAhead) continue;
    Node& node = nodes_.Live(app.ran_on.begin()[static_cast<ptrdiff_t>(i - 3 * kAhead)]);
    node.finished_apps.insert(app.submission.id);
    node.running_apps.erase(app.submission.id);
  }
}

void Apps::Evict() {
  std::vector<model::rm::StoreRow> rows;
  const auto drop = [&](App& app) {
    if (!app.in_store) return;
    app.in_store = false;
    --completed_in_store_;
    rows.push_back({kAppTable, ToString(app.submission.id), "", true});
    for (const auto& [number, attempt] : app.attempts) rows.push_back({kAttemptTable, ToString(attempt.id), "", true});
  };
  for (size_t i = 0; completed_in_store_ > config_.max_stored_apps && i < completed_.size(); ++i) {
    if (table_.Peek(completed_[i]).in_store) drop(At(completed_[i]));
  }
  while (static_cast<int64_t>(completed_.size()) > config_.max_completed_apps) {
    App& app = At(completed_.front());
    completed_.pop_front();
    drop(app);
    Forget(app);
  }
  if (!rows.empty()) context_.Store(std::move(rows), {});
}

void Apps::Forget(App& app) {
  if (app.deadline != base::Instant::Max()) {
    context_.Disarm({app.deadline, Timer::Kind::kLifetime, app.index.value, 0});
  }
  table_.Drop(app.index);
}

void Apps::LifetimeIsOver(App& app) {
  app.deadline = base::Instant::Max();
  if (!app.alive || IsEnding(app.state)) return;
  Kill(app, "Application is killed by ResourceManager as it has exceeded the lifetime period.");
}

void Apps::RetryFinal(App& app) {
  if (app.state == AppState::kFinalSaving) StoreFinal(app);
}

void Apps::On(const model::scheduler::GangExpired& effect) {
  context_.Log(At(effect.app).submission.id, "", "", "gang " + std::to_string(effect.gang) + " did not start in time");
}

Attempt* Apps::FindAttempt(const model::ApplicationAttemptId& id, App** app) {
  App* found = nullptr;
  Attempt* attempt = PeekAttempt(id, &found);
  if (found) Touch(*found);
  if (app) *app = found;
  return attempt;
}

Attempt* Apps::PeekAttempt(const model::ApplicationAttemptId& id, App** app) {
  App* found = table_.PeekById(id.app);
  *app = found;
  if (!found) return nullptr;
  const auto it = found->attempts.find(id.attempt);
  return it == found->attempts.end() ? nullptr : &it->second;
}

App* Apps::Require(model::rm::CallToken call, const model::ApplicationId& id) {
  App* app = Find(id);
  if (!app || app->state == AppState::kNew) {
    context_.Refuse(call, model::Refusal::kUnknownApplication, {ToString(id)});
    return nullptr;
  }
  return app;
}

// The submission may have megabytes: it is lent to the record, and they are copied once, into the row.
model::rm::StoreRow Apps::RowOf(App& app) const {
  model::rm::AppRecord record;
  record.submitted = app.submitted;
  record.started = app.started;
  record.launched = app.launched;
  record.finished = app.finished;
  record.expires = app.expires;
  record.diagnostics = app.diagnostics;
  const std::string key = ToString(app.submission.id);
  std::string context;  // of no use in the row of one that has ended
  std::swap(record.submission, app.submission);
  if (app.state == AppState::kFinalSaving) {
    record.final_state = app.target == AppState::kFinishing ? AppState::kFinished : app.target;
    record.diagnostics += app.pending_diagnostics;
    std::swap(context, record.submission.context);
  }
  std::string value = base::EncodeLargeStored(record, record.submission.context.size() + record.diagnostics.size());
  std::swap(record.submission, app.submission);
  if (!context.empty()) app.submission.context = std::move(context);
  return {kAppTable, key, std::move(value), false};
}

void Apps::On(const model::rm::MoveApp& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    return context_.Refuse(event.call, Refusal::kCannotBeMoved, {std::string(EnumName(app->state))});
  }
  context_.Await(event.call, MoveAsked{app->index});
  context_.Tell(model::scheduler::AppMoved{app->index, event.call, event.queue});
}

void Apps::On(const model::scheduler::MoveAnswered& effect) {
  App& app = At(context_.TakeAsked<MoveAsked>(effect.token).app);
  app.submission.queue = effect.queue;
  context_.StoreAndAnswer(RowOf(app), model::rm::CallDone{effect.token});
}

void Apps::On(const model::rm::SetPriority& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    if (IsEnding(app->state)) {
      context_.Emit(model::rm::PriorityAnswer{event.call, app->submission.priority});
    } else {
      context_.Refuse(event.call, Refusal::kPriorityIsSettled, {std::string(EnumName(app->state))});
    }
    return;
  }
  const int32_t priority = PriorityOf(event.priority, context_);
  context_.Await(event.call, PriorityAsked{app->index, priority});
  context_.Tell(model::scheduler::AppPriority{app->index, priority, event.call, event.user, event.groups});
}

void Apps::On(const model::scheduler::PriorityAnswered& effect) {
  const PriorityAsked asked = context_.TakeAsked<PriorityAsked>(effect.token);
  App& app = At(asked.app);
  app.submission.priority = effect.priority.value_or(asked.priority);
  context_.StoreAndAnswer(RowOf(app), model::rm::PriorityAnswer{effect.token, app.submission.priority});
}

void Apps::On(const model::rm::SetLifetime& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    if (IsEnding(app->state)) {
      context_.Emit(model::rm::LifetimeAnswer{event.call, event.expires});
    } else {
      context_.Refuse(event.call, Refusal::kLifetimeIsSettled, {std::string(EnumName(app->state))});
    }
    return;
  }
  if (event.expires.ms < context_.wall().ms) {
    return context_.Refuse(event.call, Refusal::kLifetimeIsOver, {}, {context_.wall().ms, event.expires.ms});
  }
  app->expires = event.expires;
  // Never beyond the queue's maximum (RMAppManager.updateApplicationTimeout).
  const int64_t most = context_.queues()->LifetimesOf(app->submission.queue).maximum;
  if (most > 0) {
    app->expires.ms = std::min(app->expires.ms, app->submitted.ms + std::min(most, kLongestLifetimeMs / 1000) * 1000);
  }
  ArmLifetime(*app);
  context_.StoreAndAnswer(RowOf(*app), model::rm::LifetimeAnswer{event.call, app->expires});
}

// ---- Recovery ----

void Apps::Recover(const model::rm::AppRecord& record, std::span<const model::rm::AttemptRecord* const> attempts) {
  App& app = table_.Add();
  app.in_store = true;
  app.submission = record.submission;
  app.submitted = record.submitted;
  app.started = record.started;
  app.launched = record.launched;
  app.finished = record.finished;
  app.expires = record.expires;
  app.diagnostics = record.diagnostics;
  app.max_attempts = config_.max_attempts;
  if (record.submission.max_attempts > 0) {
    app.max_attempts = std::min(record.submission.max_attempts, config_.global_max_attempts);
  }
  table_.Enter(app);
  ++submitted_;
  for (const model::rm::AttemptRecord* attempt : attempts) RecoverAttempt(app, *attempt);
  if (record.final_state != AppState::kNew) {
    if (!SetState(app, AppEvent::kRecover, record.final_state)) SetState(app, AppEvent::kRecover, AppState::kFailed);
    completed_.push_back(app.index);
    ++completed_in_store_;
    return;
  }
  if (NormalizeMasterAsks(app)) app.master_asks = app.submission.master_asks;
  Place(app, context_.OwnToken(), true);
  app.in_scheduler = true;
  SetState(app, AppEvent::kRecover, AppState::kAccepted);
  ArmLifetime(app);
  if (attempts.empty()) {
    StartAttempt(app, false);
    return;
  }
  const model::rm::AttemptRecord& last = *attempts.back();
  Attempt& attempt = *app.current();
  switch (last.final_state) {
    case AttemptState::kNew:
      attempts_.Resume(app, attempt);
      return;
    case AttemptState::kFinished:
      AttemptFinished(app, attempt.diagnostics);
      return;
    case AttemptState::kKilled:
      AttemptKilled(app, "");
      return;
    default:
      AttemptFailed(app, attempt.diagnostics, app.submission.keep_containers);
  }
}

void Apps::RecoverAttempt(App& app, const model::rm::AttemptRecord& record) {
  Attempt& attempt = app.attempts[record.id.attempt];
  attempt.id = record.id;
  attempt.master = record.master;
  attempt.master.node = {};
  attempt.started = record.started;
  attempt.finished = record.finished;
  attempt.original_url = record.tracking_url;
  attempt.proxied_url = config_.ProxyBase() + "/proxy/" + ToString(record.id.app) + "/";
  attempt.diagnostics = record.diagnostics;
  attempt.final_status = record.final_status;
  attempt.exit_status = record.exit_status;
  attempt.memory_ms = record.memory_seconds * 1000;
  attempt.vcore_ms = record.vcore_seconds * 1000;
  attempt.preempted_memory_ms = record.preempted_memory_seconds * 1000;
  attempt.preempted_vcore_ms = record.preempted_vcore_seconds * 1000;
  attempt.containers_allocated = record.containers_allocated;
  // A final state that could not be stored any more: what came of an earlier attempt cannot be known.
  attempt.state = record.final_state == AttemptState::kNew ? AttemptState::kFailed : record.final_state;
  attempt.progress = 1;
  if (attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kKilled) {
    attempt.proxied_url = config_.web_base + "/cluster/app/" + ToString(record.id.app);
  }
  app.next_attempt = record.id.attempt + 1;
}

// ---- Self-check ----

namespace {

std::string AppError(const App& app) {
  const std::string name = ToString(app.submission.id);
  if (!app.alive) return "an application is kept that is not alive";
  bool foreign = false;
  app.containers.ForEach([&](const Container& one) { foreign |= one.id.attempt.app != app.submission.id; });
  if (foreign) return "container of another application in " + name;
  const bool final = IsOver(app.state);
  if (final && app.in_scheduler) return "ended application is still in the scheduler: " + name;
  for (const auto& [number, attempt] : app.attempts) {
    if (attempt.known && final) return "ended application has a known attempt: " + name;
    if (&attempt != app.current() && attempt.known) return "an earlier attempt is still known: " + name;
  }
  return "";
}

}  // namespace

std::string Apps::Check() const {
  std::string wrong;
  table_.ForEach([&](const App& app) {
    if (const std::string error = AppError(app); !error.empty()) wrong = error;
    if (table_.FindById(app.submission.id) != &app) wrong = "not found by its id: " + ToString(app.submission.id);
  });
  return wrong;
}

void Apps::Mix(base::StateHasher& hasher) const {
  table_.ForEach([&](const App& app) { rm::Mix(hasher, app); });
  for (const model::AppIndex index : completed_) hasher.Mix(index.value);
  hasher.Mix(static_cast<uint64_t>(completed_in_store_));
  hasher.Mix(static_cast<uint64_t>(last_number_));
  hasher.Mix(static_cast<uint64_t>(submitted_));
}

}  // namespace fairlead::rm

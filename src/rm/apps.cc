#include <algorithm>
#include <utility>

#include "base/stored.h"
#include "rm/access.h"
#include "rm/core.h"

// The life of an application (RMAppImpl, RMAppManager, ClientRMService).

namespace fairlead::rm {

using model::Refusal;
using model::rm::AppState;
using model::rm::AttemptState;

namespace {
constexpr char kAppTable[] = "rm/app";
constexpr char kAttemptTable[] = "rm/attempt";
}  // namespace

void Core::On(const model::rm::NewApplication& event) {
  model::rm::NewApplicationAnswer answer;
  answer.call = event.call;
  answer.app = {cluster_timestamp_, ++last_app_number_};
  answer.maximum = MaximumAllocation(now_);
  Emit(answer);
}

// The scheduler's verdict on the queue comes first, so that a refusal is an exception of submitApplication; then the
// row is stored, and only then the call is answered.
void Core::On(const model::rm::Submit& event) {
  if (App* known = MutableApp(event.submission.id)) {
    if (known->state == AppState::kNew || known->state == AppState::kNewSaving) {
      known->waiting_calls.emplace_back(WaitsFor::kSubmitted, event.call);
    } else {
      Emit(model::rm::CallDone{event.call});
    }
    return;
  }
  App& app = apps_.Add();
  app.submission = event.submission;
  app.submission.priority = std::clamp(app.submission.priority, 0, config_.max_priority);
  app.submitted = app.started = wall_;
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
    apps_.Drop(app.index);
    return Refuse(event.call, std::move(refused));
  }
  if (event.submission.lifetime_s > 0) app.expires = {wall_.ms + event.submission.lifetime_s * 1000};
  app.waiting_calls.emplace_back(WaitsFor::kSubmitted, event.call);
  apps_.Enter(app);
  Place(app, event.call, false);
}

void Core::Place(const App& app, uint64_t token, bool recovered) {
  model::scheduler::AppAdded added;
  added.app = app.index;
  added.id = app.submission.id;
  added.queue = app.submission.queue;
  added.user = app.submission.user;
  added.groups = app.submission.groups;
  added.priority = app.submission.priority;
  added.place = !recovered;
  added.recovering = recovered;
  added.unmanaged = app.submission.unmanaged;
  added.submitted = app.submitted;
  added.master_asks = app.master_asks;
  added.token = token;
  asked_.emplace(token, PlacementAsked{app.index, recovered});
  Tell(std::move(added));
}

model::Refused Core::NormalizeMasterAsks(App& app) const {
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
    if (model::Refused refused = NormalizeAsk(ask, app.submission.label)) return refused;
  }
  app.master_asks = std::move(asks);
  return {};
}

void Core::On(const model::scheduler::AppAccepted& effect) {
  const PlacementAsked asked = TakeAsked<PlacementAsked>(effect.token);
  App& app = At(effect.app);
  app.in_scheduler = true;
  if (asked.recovered || !MaySubmit(app, effect.queue)) return;
  app.submission.queue = effect.queue;
  ++apps_submitted_;
  SetState(app, AppEvent::kStart, AppState::kNewSaving);
  Store({RowOf(app)}, {After::kAppNew, app.index, 0, {}});
}

// RMAppManager.createAndPopulateNewRMApp: the lists of the queue in which the application was placed, whatever was
// asked for. When they refuse it is as if nothing had been submitted.
bool Core::MaySubmit(App& app, const std::string& queue) {
  const model::rm::Submission& s = app.submission;
  if (!config_.acls || QueueAllows(config_.queues, queue, s.user, s.groups, false) ||
      QueueAllows(config_.queues, queue, s.user, s.groups, true)) {
    return true;
  }
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) {
    Refuse(call, Refusal::kAccessLists,
           {s.user, ToString(s.id), FullQueueName(queue), ConfiguredQueue(config_.queues, queue)});
  }
  if (app.in_scheduler) Tell(model::scheduler::AppRemoved{app.index});
  Forget(app);
  return false;
}

void Core::Refused(PlacementAsked& asked, uint64_t, const model::Refused& refused) {
  App& app = At(asked.app);
  app.in_scheduler = false;
  if (!asked.recovered) {
    if (!MaySubmit(app, app.submission.queue)) return;
    // As in Hadoop the submission succeeds and the application ends at once; YarnClient turns that into an exception.
    ++apps_submitted_;
    SetState(app, AppEvent::kRejected, AppState::kSubmitted, ToString(refused));
  }
  SaveFinal(app, AppEvent::kRejected, AppState::kFailed, RejectionDiagnostics(app, refused));
}

// What clients of Hadoop wait for; why exactly is in the log.
std::string Core::RejectionDiagnostics(const App& app, const model::Refused& refused) const {
  if (refused.why == Refusal::kNotALeaf) return refused.names[0] + " is not a leaf queue";
  return "Reject application " + ToString(app.submission.id) + " submitted by user " + app.submission.user +
         " application rejected by placement rules.";
}

void Core::AppSaved(App& app, bool ok, const std::string& error) {
  if (!ok) {
    const model::Refused refused{Refusal::kNotStored, {ToString(app.submission.id), error}, {}, {}};
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) Refuse(call, refused);
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled)) Emit(model::rm::KillAnswer{call, true});
    Tell(model::scheduler::AppRemoved{app.index});
    Log(ToString(app.submission.id), "NEW_SAVING", "NEW", ToString(refused));
    Forget(app);
    return;
  }
  app.in_store = true;
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) Emit(model::rm::CallDone{call});
  if (app.state != AppState::kNewSaving) return;  // killed meanwhile
  SetState(app, AppEvent::kNewSaved, AppState::kSubmitted);
  SetState(app, AppEvent::kAccepted, AppState::kAccepted);
  ArmLifetime(app);
  StartAttempt(app, false);
}

void Core::ArmLifetime(App& app) {
  if (app.deadline != base::Instant::Max()) {
    timers_.erase({app.deadline, TimerKind::kLifetime, app.index.value, 0});
    app.deadline = base::Instant::Max();
  }
  if (app.expires.ms <= 0 || IsCompleted(app)) return;
  app.deadline = now_ + base::Duration::Millis(std::max<int64_t>(0, app.expires.ms - wall_.ms));
  timers_.insert({app.deadline, TimerKind::kLifetime, app.index.value, 0});
}

bool Core::SetState(App& app, AppEvent event, AppState to, std::string_view detail) {
  return Advance(AppLife(), app.submission.id, app.state, event, to, detail);
}

void Core::On(const model::rm::KillApp& event) {
  App* app = MutableApp(event.app);
  if (!app || app->state == AppState::kNew) {
    return Refuse(event.call, Refusal::kUnknownApplicationToKill, {ToString(event.app)});
  }
  if (EndIsStored(app->state)) {
    Emit(model::rm::KillAnswer{event.call, true});
    return;
  }
  app->waiting_calls.emplace_back(WaitsFor::kKilled, event.call);
  Kill(*app, event.diagnostics);
}

void Core::Kill(App& app, const std::string& diagnostics) {
  if (AppLife().Leads(app.state, AppEvent::kKill, AppState::kFinalSaving)) {
    return SaveFinal(app, AppEvent::kKill, AppState::kKilled, diagnostics);  // it has no attempt yet
  }
  if (!AppLife().Knows(app.state, AppEvent::kKill)) return;
  app.state_before_killing = app.state;
  SetState(app, AppEvent::kKill, AppState::kKilling);
  if (Attempt* attempt = app.current()) KillAttempt(app, *attempt, diagnostics);
}

void Core::StartAttempt(App& app, bool transfer) {
  const int32_t number = app.next_attempt++;
  Attempt* previous = app.current();
  Attempt& attempt = app.AddAttempt(number);
  attempt.id = {app.submission.id, number};
  attempt.started = wall_;
  attempt.proxied_url = config_.web_base + "/proxy/" + ToString(app.submission.id) + "/";
  if (previous) {
    attempt.just_finished = std::move(previous->just_finished);
    attempt.told = std::move(previous->told);
    previous->just_finished.clear();
    previous->told.clear();
  }
  attempt.known = true;
  attempt.last_seen = now_;
  SetState(attempt, AttemptEvent::kStart, AttemptState::kSubmitted);
  Tell(model::scheduler::AttemptAdded{app.index, number, transfer});
  ScheduleMaster(app, attempt);
}

void Core::AttemptRegistered(App& app) {
  if (!AppLife().Knows(app.state, AppEvent::kAttemptRegistered)) return;
  SetState(app, AppEvent::kAttemptRegistered, AppState::kRunning);
}

void Core::AttemptUnregistered(App& app) { SaveFinal(app, AppEvent::kAttemptUnregistered, AppState::kFinishing, ""); }

void Core::AttemptFinished(App& app, const std::string& diagnostics) {
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

void Core::AttemptKilled(App& app, const std::string& diagnostics) {
  SaveFinal(app, AppEvent::kAttemptKilled, AppState::kKilled, diagnostics);
}

int32_t Core::FailedAttempts(const App& app) const {
  int32_t count = 0;
  for (const auto& [number, attempt] : app.attempts) count += CountsAsFailure(app, attempt) ? 1 : 0;
  return count;
}

std::string Core::FailureDiagnostics(const App& app, const std::string& cause, bool beyond) const {
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

void Core::AttemptFailed(App& app, const std::string& diagnostics, bool keep_containers) {
  if (!AppLife().Knows(app.state, AppEvent::kAttemptFailed)) return;
  const int32_t failures = app.max_attempts == 1 ? 1 : FailedAttempts(app);
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

void Core::SaveFinal(App& app, AppEvent event, AppState target, std::string diagnostics) {
  if (!AppLife().Leads(app.state, event, AppState::kFinalSaving)) return;
  app.state_before_saving = app.state;
  app.target = target;
  app.pending_diagnostics = std::move(diagnostics);
  app.finished = wall_;
  SetState(app, event, AppState::kFinalSaving);
  StoreFinal(app);
}

// Together with the attempt whose end is still being stored: neither a client nor a restart may ever see the
// application's end without what its master reported.
void Core::StoreFinal(App& app) {
  std::vector<model::rm::StoreRow> rows{RowOf(app)};
  Continuation continuation{After::kAppFinal, app.index, 0, {}};
  if (const Attempt* attempt = app.current(); attempt && attempt->state == model::rm::AttemptState::kFinalSaving) {
    rows.push_back(RowOf(app, *attempt));
    continuation.attempt = attempt->id.attempt;
  }
  Store(std::move(rows), std::move(continuation));
}

void Core::AppFinalSaved(App& app, bool ok) {
  if (app.state != AppState::kFinalSaving) return;
  if (!ok) {
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled)) {
      Emit(model::rm::KillAnswer{call, false});
    }
    for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kUnregistered)) {
      Emit(model::rm::FinishMasterAnswer{call, false});
    }
    timers_.insert({now_ + config_.store_retry, TimerKind::kRetry, app.index.value, 0});
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
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kKilled)) Emit(model::rm::KillAnswer{call, true});
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kUnregistered)) {
    Emit(model::rm::FinishMasterAnswer{call, true});
  }
  for (const model::rm::CallToken call : app.TakeWaiting(WaitsFor::kSubmitted)) Emit(model::rm::CallDone{call});
}

void Core::Complete(App& app, AppEvent event, AppState final_state) {
  if (!SetState(app, event, final_state)) return;
  // A large application has been on all nodes, and they have left the cache.
  constexpr size_t kAhead = 4;
  const size_t nodes = app.ran_on.size();
  for (size_t i = 0; i < nodes + 3 * kAhead; ++i) {
    for (int step = 0; step < 3; ++step) {
      const size_t ahead = i - static_cast<size_t>(step) * kAhead;  // beyond all of them before its turn
      if (ahead < nodes) Prefetch(app.ran_on.begin()[static_cast<ptrdiff_t>(ahead)], step);
    }
    if (i < 3 * kAhead) continue;
    Node& node = LiveNode(app.ran_on.begin()[static_cast<ptrdiff_t>(i - 3 * kAhead)]);
    node.finished_apps.insert(app.submission.id);
    node.running_apps.erase(app.submission.id);
  }
  TellToForgetAll(app);
  if (app.in_scheduler) {
    app.in_scheduler = false;
    Tell(model::scheduler::AppRemoved{app.index});
  }
  if (app.finished.ms == 0) app.finished = wall_;
  ArmLifetime(app);
  app.submission.context.clear();
  app.submission.context.shrink_to_fit();
  app.node_changes.clear();
  for (auto& [number, attempt] : app.attempts) {
    attempt.known = false;
    attempt.last_answer.reset();
    // Only when the scheduler threw the application out: its attempt had no end of its own.
    if (AttemptLife().Knows(attempt.state, AttemptEvent::kApplicationEnded)) {
      SetState(attempt, AttemptEvent::kApplicationEnded, AttemptState::kFailed);
    }
  }
  completed_apps_.push_back(app.index);
  if (app.in_store) ++completed_in_store_;
  Evict();
}

void Core::Evict() {
  std::vector<model::rm::StoreRow> rows;
  const auto drop = [&](App& app) {
    if (!app.in_store) return;
    app.in_store = false;
    --completed_in_store_;
    rows.push_back({kAppTable, ToString(app.submission.id), "", true});
    for (const auto& [number, attempt] : app.attempts) rows.push_back({kAttemptTable, ToString(attempt.id), "", true});
  };
  for (size_t i = 0; completed_in_store_ > config_.max_stored_apps && i < completed_apps_.size(); ++i) {
    drop(At(completed_apps_[i]));
  }
  while (static_cast<int64_t>(completed_apps_.size()) > config_.max_completed_apps) {
    App& app = At(completed_apps_.front());
    completed_apps_.pop_front();
    drop(app);
    Forget(app);
  }
  if (!rows.empty()) Store(std::move(rows), {});
}

void Core::Forget(App& app) {
  if (app.deadline != base::Instant::Max()) {
    timers_.erase({app.deadline, TimerKind::kLifetime, app.index.value, 0});
  }
  apps_.Drop(app.index);
}

model::rm::StoreRow Core::RowOf(const App& app) const {
  model::rm::AppRecord record;
  record.submission = app.submission;
  record.submitted = app.submitted;
  record.started = app.started;
  record.launched = app.launched;
  record.finished = app.finished;
  record.expires = app.expires;
  record.diagnostics = app.diagnostics;
  if (app.state == AppState::kFinalSaving) {
    record.final_state = app.target == AppState::kFinishing ? AppState::kFinished : app.target;
    record.diagnostics += app.pending_diagnostics;
    record.submission.context.clear();
  }
  return {kAppTable, ToString(app.submission.id), base::EncodeStored(record), false};
}

void Core::On(const model::rm::MoveApp& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    return Refuse(event.call, Refusal::kCannotBeMoved, {std::string(EnumName(app->state))});
  }
  asked_.emplace(event.call, MoveAsked{app->index});
  Tell(model::scheduler::AppMoved{app->index, event.call, event.queue});
}

void Core::On(const model::scheduler::MoveAnswered& effect) {
  App& app = At(TakeAsked<MoveAsked>(effect.token).app);
  app.submission.queue = effect.queue;
  Continuation continuation;
  continuation.after = After::kAnswer;
  continuation.answers.push_back(model::rm::CallDone{effect.token});
  Store({RowOf(app)}, std::move(continuation));
}

void Core::On(const model::rm::SetPriority& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    if (IsCompleted(*app)) {
      Emit(model::rm::PriorityAnswer{event.call, app->submission.priority});
    } else {
      Refuse(event.call, Refusal::kPriorityIsSettled, {std::string(EnumName(app->state))});
    }
    return;
  }
  const int32_t priority = std::clamp(event.priority, 0, config_.max_priority);
  asked_.emplace(event.call, PriorityAsked{app->index, priority});
  Tell(model::scheduler::AppPriority{app->index, priority, event.call});
}

void Core::On(const model::scheduler::PriorityAnswered& effect) {
  const PriorityAsked asked = TakeAsked<PriorityAsked>(effect.token);
  App& app = At(asked.app);
  app.submission.priority = asked.priority;
  Continuation continuation;
  continuation.after = After::kAnswer;
  continuation.answers.push_back(model::rm::PriorityAnswer{effect.token, asked.priority});
  Store({RowOf(app)}, std::move(continuation));
}

void Core::On(const model::rm::SetLifetime& event) {
  App* app = Require(event.call, event.app);
  if (!app) return;
  if (!IsActive(app->state)) {
    if (IsCompleted(*app)) {
      Emit(model::rm::LifetimeAnswer{event.call, event.expires});
    } else {
      Refuse(event.call, Refusal::kLifetimeIsSettled, {std::string(EnumName(app->state))});
    }
    return;
  }
  if (event.expires.ms < wall_.ms) {
    return Refuse(event.call, Refusal::kLifetimeIsOver, {}, {wall_.ms, event.expires.ms});
  }
  app->expires = event.expires;
  ArmLifetime(*app);
  Continuation continuation;
  continuation.after = After::kAnswer;
  continuation.answers.push_back(model::rm::LifetimeAnswer{event.call, event.expires});
  Store({RowOf(*app)}, std::move(continuation));
}

}  // namespace fairlead::rm

#include "rm/attempts.h"

#include <utility>

#include "base/stored.h"
#include "rm/apps.h"
#include "rm/containers.h"

namespace fairlead::rm {

using model::rm::AttemptState;

bool Attempts::SetState(Attempt& attempt, AttemptEvent event, AttemptState to) {
  return context_.Advance(AttemptLife(), attempt.id, attempt.state, event, to);
}

void Attempts::Start(App& app, int32_t number, bool transfer) {
  Attempt* previous = app.current();
  Attempt& attempt = app.attempts[number];
  attempt.id = {app.submission.id, number};
  attempt.started = context_.wall();
  attempt.proxied_url = config_.ProxyBase() + "/proxy/" + ToString(app.submission.id) + "/";
  if (previous) {
    attempt.just_finished = std::move(previous->just_finished);
    attempt.told = std::move(previous->told);
    previous->just_finished.clear();
    previous->told.clear();
  }
  attempt.known = true;
  attempt.last_seen = context_.now();
  SetState(attempt, AttemptEvent::kStart, AttemptState::kSubmitted);
  context_.Tell(model::scheduler::AttemptAdded{app.index, number, transfer});
  ScheduleMaster(app, attempt);
}

void Attempts::Store(const App& app, const Attempt& attempt, Continuation::After after) {
  context_.Store({RowOf(attempt)}, {after, app.index, attempt.id.attempt, {}});
}

void Attempts::AwaitMaster(const App& app, Attempt& attempt, Timer::Kind kind) {
  attempt.last_seen = context_.now();
  context_.Arm({context_.now() + config_.master_expiry, kind, app.index.value, attempt.id.attempt});
}

void Attempts::ScheduleMaster(App& app, Attempt& attempt) {
  if (app.submission.unmanaged) {
    SetState(attempt, AttemptEvent::kAdded, AttemptState::kLaunchedUnmanagedSaving);
    Store(app, attempt, Continuation::After::kAttemptNew);
    return;
  }
  SetState(attempt, AttemptEvent::kAdded, AttemptState::kScheduled);
  model::scheduler::Allocate allocate;
  allocate.app = app.index;
  allocate.token = model::scheduler::MasterToken(app.index);
  allocate.asks = app.master_asks;
  context_.Await(allocate.token, MasterAsked{app.index, attempt.id.attempt});
  context_.Tell(std::move(allocate));
}

void Attempts::Refused(const MasterAsked& asked, uint64_t, const model::Refused& refused) {
  App& app = apps_.At(asked.app);
  const auto attempt = app.attempts.find(asked.attempt);
  if (attempt == app.attempts.end()) return;
  Fail(app, attempt->second, "The scheduler refuses the ask for the master's container: " + ToString(refused),
       model::kExitInvalid);
}

void Attempts::MasterGranted(App& app, Attempt& attempt, const model::ContainerId& id) {
  Container& container = *app.containers.Find(id);
  container.is_master = true;
  containers_.SetState(container, ContainerEvent::kAcquired, model::rm::ContainerState::kAcquired);
  attempt.master = containers_.InfoOf(container);
  context_.Tell(model::scheduler::Acquired{app.index, {id}});
  SetState(attempt, AttemptEvent::kContainerAllocated, AttemptState::kAllocatedSaving);
  Store(app, attempt, Continuation::After::kAttemptNew);
}

void Attempts::Saved(App& app, Attempt& attempt, bool ok) {
  const bool managed = attempt.state == AttemptState::kAllocatedSaving;
  if (!managed && attempt.state != AttemptState::kLaunchedUnmanagedSaving) return;
  if (!ok) {
    context_.Arm({context_.now() + config_.store_retry, Timer::Kind::kRetry, app.index.value, attempt.id.attempt});
    return;
  }
  if (!managed) return MarkLaunched(app, attempt, AttemptEvent::kNewSaved);
  SetState(attempt, AttemptEvent::kNewSaved, AttemptState::kAllocated);
  context_.Emit(model::rm::LaunchMaster{attempt.id, app.index, attempt.master});
}

void Attempts::On(const model::rm::MasterLaunched& event) {
  App* app = nullptr;
  Attempt* attempt = apps_.FindAttempt(event.attempt, &app);
  if (!attempt || attempt->state != AttemptState::kAllocated) return;
  if (event.error.empty()) {
    MarkLaunched(*app, *attempt, AttemptEvent::kLaunched);
  } else {
    Fail(*app, *attempt, event.error, model::kExitInvalid);
  }
}

void Attempts::MarkLaunched(App& app, Attempt& attempt, AttemptEvent event) {
  SetState(attempt, event, AttemptState::kLaunched);
  AwaitMaster(app, attempt, Timer::Kind::kMaster);
  if (app.launched.ms == 0) {
    app.launched = context_.wall();
    std::vector<model::rm::StoreRow> rows;
    rows.push_back(apps_.RowOf(app));
    context_.Store(std::move(rows));
  }
}

void Attempts::On(const model::rm::FailAttempt& event) {
  App* app = apps_.Require(event.call, event.attempt.app);
  if (!app) return;
  const auto it = app->attempts.find(event.attempt.attempt);
  if (it == app->attempts.end()) {
    return context_.Refuse(event.call, model::Refusal::kUnknownAttempt, {ToString(event.attempt)});
  }
  if (!IsEnding(app->state) && !IsOver(it->second.state)) {
    Fail(*app, it->second, "Attempt failed by user.", model::kExitInvalid);
  }
  context_.Emit(model::rm::CallDone{event.call});
}

void Attempts::Fail(App& app, Attempt& attempt, std::string diagnostics, int32_t exit_status) {
  SaveFinal(app, attempt, AttemptEvent::kFail, AttemptState::kFailed, std::move(diagnostics), exit_status);
}

void Attempts::Kill(App& app, Attempt& attempt, const std::string& diagnostics) {
  if (!AttemptLife().Knows(attempt.state, AttemptEvent::kKill)) return;
  attempt.kill_diagnostics = diagnostics;
  SaveFinal(app, attempt, AttemptEvent::kKill, AttemptState::kKilled, "", model::kExitInvalid);
}

std::string Attempts::CrashDiagnostics(const Attempt& attempt, const model::rm::ContainerEnd& end) const {
  return "AM Container for " + ToString(attempt.id) + " exited with  exitCode: " + std::to_string(end.exit_status) +
         "\nFailing this attempt.Diagnostics: " + end.diagnostics +
         "For more detailed output, check the application tracking page: " + config_.web_base + "/cluster/app/" +
         ToString(attempt.id.app) + " Then click on links to logs of each attempt.\n";
}

void Attempts::MasterContainerEnded(App& app, Attempt& attempt, const model::rm::ContainerEnd& end) {
  switch (attempt.state) {
    case AttemptState::kFinalSaving:
      attempt.master_gone = true;
      return;
    case AttemptState::kFinishing:
      End(app, attempt, AttemptEvent::kContainerFinished, AttemptState::kFinished);
      return;
    default:
      Fail(app, attempt, CrashDiagnostics(attempt, end), end.exit_status);
  }
}

void Attempts::SaveFinal(App& app, Attempt& attempt, AttemptEvent event, AttemptState target, std::string diagnostics,
                         int32_t exit_status) {
  if (!AttemptLife().Leads(attempt.state, event, AttemptState::kFinalSaving)) return;
  attempt.state_before_saving = attempt.state;
  attempt.target = target;
  if (static_cast<int64_t>(diagnostics.size()) > config_.diagnostics_limit) {
    diagnostics.erase(0, diagnostics.size() - static_cast<size_t>(config_.diagnostics_limit));
  }
  attempt.pending_diagnostics = std::move(diagnostics);
  attempt.exit_status = exit_status;
  attempt.finished = context_.wall();
  attempt.original_url = config_.web_base + "/cluster/app/" + ToString(attempt.id.app);
  if (target == AttemptState::kFailed || target == AttemptState::kKilled) attempt.proxied_url = attempt.original_url;
  SetState(attempt, event, AttemptState::kFinalSaving);
  Store(app, attempt, Continuation::After::kAttemptFinal);
}

void Attempts::FinalSaved(App& app, Attempt& attempt, bool ok) {
  if (attempt.state != AttemptState::kFinalSaving) return;
  if (!ok) {
    context_.Arm({context_.now() + config_.store_retry, Timer::Kind::kRetry, app.index.value, attempt.id.attempt});
    return;
  }
  // RMAppAttemptImpl.FinalTransition; a master that failed before it registered keeps what it has.
  if (attempt.target != AttemptState::kFailed || attempt.state_before_saving == AttemptState::kRunning)
    attempt.progress = 1;
  if (attempt.unregistration) {
    attempt.diagnostics += attempt.unregistration->diagnostics;
    attempt.original_url = attempt.unregistration->tracking_url;
    attempt.final_status = attempt.unregistration->status;
  } else {
    attempt.diagnostics += attempt.pending_diagnostics;
  }
  attempt.pending_diagnostics.clear();
  if (attempt.target == AttemptState::kFinishing && !attempt.master_gone) {
    SetState(attempt, AttemptEvent::kUpdateSaved, AttemptState::kFinishing);
    AwaitMaster(app, attempt, Timer::Kind::kFinishing);
    return;
  }
  End(app, attempt, AttemptEvent::kUpdateSaved,
      attempt.target == AttemptState::kFinishing ? AttemptState::kFinished : attempt.target);
}

void Attempts::AckToldContainers(Attempt& attempt) {
  for (ToldEnd& told : attempt.told) containers_.TellToForget(told.remembered_by, told.id);
  attempt.told.clear();
}

void Attempts::End(App& app, Attempt& attempt, AttemptEvent event, AttemptState final_state) {
  if (!SetState(attempt, event, final_state)) return;
  attempt.known = false;
  attempt.last_answer.reset();
  attempt.granted.clear();
  AckToldContainers(attempt);
  bool keep = false;
  if (final_state == AttemptState::kFailed) {
    keep = app.submission.keep_containers && !app.submission.unmanaged && app.max_attempts > 1 &&
           apps_.FailedAttempts(app) < app.max_attempts && app.state != model::rm::AppState::kKilling;
  }
  if (final_state != AttemptState::kFinished) {
    attempt.host = "N/A";
    attempt.rpc_port = -1;
  }
  if (app.in_scheduler) context_.Tell(model::scheduler::AttemptRemoved{app.index, attempt.id.attempt, keep});
  if (const Container* master = app.containers.Find(attempt.master.id); master && !master->reported_complete) {
    context_.Emit(
        model::rm::StopContainers{attempt.master.node, attempt.master.address, attempt.id, {attempt.master.id}});
  }
  switch (final_state) {
    case AttemptState::kFinished:
      apps_.AttemptFinished(app, attempt.diagnostics);
      return;
    case AttemptState::kKilled:
      apps_.AttemptKilled(app, attempt.kill_diagnostics);
      return;
    default:
      apps_.AttemptFailed(app, attempt.diagnostics, keep);
  }
}

void Attempts::ApplicationEnded(Attempt& attempt) {
  attempt.known = false;
  attempt.last_answer.reset();
  if (AttemptLife().Knows(attempt.state, AttemptEvent::kApplicationEnded)) {
    SetState(attempt, AttemptEvent::kApplicationEnded, AttemptState::kFailed);
  }
}

void Attempts::Registered(App& app, Attempt& attempt) {
  if (attempt.state != AttemptState::kLaunched) return;
  SetState(attempt, AttemptEvent::kRegistered, AttemptState::kRunning);
  apps_.AttemptRegistered(app);
}

void Attempts::Unregistered(App& app, Attempt& attempt) {
  SaveFinal(app, attempt, AttemptEvent::kUnregistered,
            app.submission.unmanaged ? AttemptState::kFinished : AttemptState::kFinishing, "", model::kExitInvalid);
  apps_.AttemptUnregistered(app);
}

void Attempts::Resume(App& app, Attempt& attempt) {
  attempt.known = true;
  attempt.response_id = -1;
  attempt.progress = 0;
  attempt.proxied_url = config_.ProxyBase() + "/proxy/" + ToString(app.submission.id) + "/";
  attempt.state = AttemptState::kNew;
  context_.Tell(model::scheduler::AttemptAdded{app.index, attempt.id.attempt, false});
  SetState(attempt, AttemptEvent::kRecover, AttemptState::kLaunched);
  AwaitMaster(app, attempt, Timer::Kind::kMaster);
}

void Attempts::Expire(App& app, Attempt& attempt, const Timer& timer) {
  if (attempt.last_seen + config_.master_expiry > context_.now()) {
    context_.Arm({attempt.last_seen + config_.master_expiry, timer.kind, timer.index, timer.attempt});
    return;
  }
  if (timer.kind == Timer::Kind::kFinishing) {
    if (attempt.state == AttemptState::kFinishing) End(app, attempt, AttemptEvent::kExpire, AttemptState::kFinished);
  } else if (attempt.state == AttemptState::kLaunched || attempt.state == AttemptState::kRunning) {
    attempt.progress = 1;
    Fail(app, attempt, "ApplicationMaster for attempt " + ToString(attempt.id) + " timed out");
  }
}

void Attempts::Retry(App& app, Attempt& attempt) {
  if (attempt.state == AttemptState::kFinalSaving) {
    Store(app, attempt, Continuation::After::kAttemptFinal);
  } else if (attempt.state == AttemptState::kAllocatedSaving ||
             attempt.state == AttemptState::kLaunchedUnmanagedSaving) {
    Store(app, attempt, Continuation::After::kAttemptNew);
  }
}

// Preemption, lost nodes, failed disks and kills by the resource manager are nobody's fault, and old failures are
// forgiven (RMAppAttemptImpl.shouldCountTowardsMaxAttemptRetry).
bool Attempts::CountsAsFailure(const App& app, const Attempt& attempt) const {
  const int64_t interval = app.submission.failures_validity_ms;
  if (interval > 0 && attempt.finished.ms > 0 && attempt.finished.ms < context_.wall().ms - interval) return false;
  switch (attempt.exit_status) {
    case model::kExitPreempted:
    case model::kExitAborted:
    case model::kExitDisksFailed:
    case model::kExitKilledByResourceManager:
      return false;
    default:
      return true;
  }
}

model::rm::StoreRow Attempts::RowOf(const Attempt& attempt) const {
  model::rm::AttemptRecord record;
  record.id = attempt.id;
  record.master = attempt.master;
  record.started = attempt.started;
  record.finished = attempt.finished;
  record.final_status = attempt.final_status;
  record.tracking_url = attempt.original_url;
  record.diagnostics = attempt.diagnostics;
  record.exit_status = attempt.exit_status;
  if (attempt.state == AttemptState::kFinalSaving) {
    record.final_state = attempt.target == AttemptState::kFinishing ? AttemptState::kFinished : attempt.target;
    record.diagnostics += attempt.pending_diagnostics;
    if (attempt.unregistration) {
      record.final_status = attempt.unregistration->status;
      record.tracking_url = attempt.unregistration->tracking_url;
      record.diagnostics = attempt.unregistration->diagnostics;
    }
  }
  record.memory_seconds = attempt.memory_ms / 1000;
  record.vcore_seconds = attempt.vcore_ms / 1000;
  record.preempted_memory_seconds = attempt.preempted_memory_ms / 1000;
  record.preempted_vcore_seconds = attempt.preempted_vcore_ms / 1000;
  record.containers_allocated = attempt.containers_allocated;
  return {kAttemptTable, ToString(attempt.id), base::EncodeStored(record), false};
}

}  // namespace fairlead::rm

#include <utility>

#include "base/stored.h"
#include "rm/core.h"

// The life of an attempt: its master's container from ask to end (RMAppAttemptImpl).

namespace fairlead::rm {

using model::rm::AttemptState;

namespace {
constexpr char kAttemptTable[] = "rm/attempt";
}  // namespace

bool Core::SetState(Attempt& attempt, AttemptEvent event, AttemptState to) {
  return Advance(AttemptLife(), attempt.id, attempt.state, event, to);
}

void Core::ScheduleMaster(App& app, Attempt& attempt) {
  if (app.submission.unmanaged) {
    SetState(attempt, AttemptEvent::kAdded, AttemptState::kLaunchedUnmanagedSaving);
    Store({RowOf(app, attempt)}, {After::kAttemptNew, app.index, attempt.id.attempt, {}});
    return;
  }
  SetState(attempt, AttemptEvent::kAdded, AttemptState::kScheduled);
  model::scheduler::Allocate allocate;
  allocate.app = app.index;
  allocate.token = model::scheduler::MasterToken(app.index);
  allocate.asks = app.master_asks;
  asked_.emplace(allocate.token, MasterAsked{app.index, attempt.id.attempt});
  Tell(std::move(allocate));
}

void Core::Refused(MasterAsked& asked, uint64_t, const model::Refused& refused) {
  App& app = At(asked.app);
  const auto attempt = app.attempts.find(asked.attempt);
  if (attempt == app.attempts.end()) return;
  FailAttemptNow(app, attempt->second, "The scheduler refuses the ask for the master's container: " + ToString(refused),
                 model::kExitInvalid);
}

void Core::MasterGranted(App& app, Attempt& attempt, const model::ContainerId& id) {
  Container& container = *app.containers.Find(id);
  container.is_master = true;
  SetState(container, ContainerEvent::kAcquired, model::rm::ContainerState::kAcquired);
  attempt.master = InfoOf(container);
  Tell(model::scheduler::Acquired{app.index, {id}});
  SetState(attempt, AttemptEvent::kContainerAllocated, AttemptState::kAllocatedSaving);
  Store({RowOf(app, attempt)}, {After::kAttemptNew, app.index, attempt.id.attempt, {}});
}

void Core::AttemptSaved(App& app, Attempt& attempt, bool ok, const std::string&) {
  const bool managed = attempt.state == AttemptState::kAllocatedSaving;
  if (!managed && attempt.state != AttemptState::kLaunchedUnmanagedSaving) return;
  if (!ok) {
    timers_.insert({now_ + config_.store_retry, TimerKind::kRetry, app.index.value, attempt.id.attempt});
    return;
  }
  if (!managed) return MarkLaunched(app, attempt, AttemptEvent::kNewSaved);
  SetState(attempt, AttemptEvent::kNewSaved, AttemptState::kAllocated);
  Emit(model::rm::LaunchMaster{attempt.id, app.index, attempt.master});
}

void Core::On(const model::rm::MasterLaunched& event) {
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(event.attempt, &app);
  if (!attempt || attempt->state != AttemptState::kAllocated) return;
  if (event.error.empty()) {
    MarkLaunched(*app, *attempt, AttemptEvent::kLaunched);
  } else {
    FailAttemptNow(*app, *attempt, event.error, model::kExitInvalid);
  }
}

void Core::MarkLaunched(App& app, Attempt& attempt, AttemptEvent event) {
  SetState(attempt, event, AttemptState::kLaunched);
  attempt.last_seen = now_;
  timers_.insert({now_ + config_.master_expiry, TimerKind::kMaster, app.index.value, attempt.id.attempt});
  if (app.launched.ms == 0) {
    app.launched = wall_;
    Store({RowOf(app)}, {});
  }
}

void Core::On(const model::rm::FailAttempt& event) {
  App* app = Require(event.call, event.attempt.app);
  if (!app) return;
  const auto it = app->attempts.find(event.attempt.attempt);
  if (it == app->attempts.end()) {
    return Refuse(event.call, model::Refusal::kUnknownAttempt, {ToString(event.attempt)});
  }
  if (!IsCompleted(*app) && !IsOver(it->second.state)) {
    FailAttemptNow(*app, it->second, "Attempt failed by user.", model::kExitInvalid);
  }
  Emit(model::rm::CallDone{event.call});
}

void Core::FailAttemptNow(App& app, Attempt& attempt, std::string diagnostics, int32_t exit_status) {
  SaveFinal(app, attempt, AttemptEvent::kFail, AttemptState::kFailed, std::move(diagnostics), exit_status);
}

void Core::KillAttempt(App& app, Attempt& attempt, const std::string& diagnostics) {
  if (!AttemptLife().Knows(attempt.state, AttemptEvent::kKill)) return;
  attempt.kill_diagnostics = diagnostics;
  SaveFinal(app, attempt, AttemptEvent::kKill, AttemptState::kKilled, "", model::kExitInvalid);
}

std::string Core::CrashDiagnostics(const Attempt& attempt, const model::rm::ContainerEnd& end) const {
  return "AM Container for " + ToString(attempt.id) + " exited with  exitCode: " + std::to_string(end.exit_status) +
         "\nFailing this attempt.Diagnostics: " + end.diagnostics +
         "For more detailed output, check the application tracking page: " + config_.web_base + "/cluster/app/" +
         ToString(attempt.id.app) + " Then click on links to logs of each attempt.\n";
}

void Core::MasterContainerEnded(App& app, Attempt& attempt, const model::rm::ContainerEnd& end) {
  switch (attempt.state) {
    case AttemptState::kFinalSaving:
      attempt.master_gone = true;
      return;
    case AttemptState::kFinishing:
      EndAttempt(app, attempt, AttemptEvent::kContainerFinished, AttemptState::kFinished);
      return;
    default:
      FailAttemptNow(app, attempt, CrashDiagnostics(attempt, end), end.exit_status);
  }
}

void Core::SaveFinal(App& app, Attempt& attempt, AttemptEvent event, AttemptState target, std::string diagnostics,
                     int32_t exit_status) {
  if (!AttemptLife().Leads(attempt.state, event, AttemptState::kFinalSaving)) return;
  attempt.state_before_saving = attempt.state;
  attempt.target = target;
  if (static_cast<int64_t>(diagnostics.size()) > config_.diagnostics_limit) {
    diagnostics.erase(0, diagnostics.size() - static_cast<size_t>(config_.diagnostics_limit));
  }
  attempt.pending_diagnostics = std::move(diagnostics);
  attempt.exit_status = exit_status;
  attempt.finished = wall_;
  attempt.original_url = config_.web_base + "/cluster/app/" + ToString(attempt.id.app);
  if (target == AttemptState::kFailed || target == AttemptState::kKilled) attempt.proxied_url = attempt.original_url;
  SetState(attempt, event, AttemptState::kFinalSaving);
  StoreFinal(app, attempt);
}

void Core::StoreFinal(App& app, Attempt& attempt) {
  Store({RowOf(app, attempt)}, {After::kAttemptFinal, app.index, attempt.id.attempt, {}});
}

void Core::AttemptFinalSaved(App& app, Attempt& attempt, bool ok) {
  if (attempt.state != AttemptState::kFinalSaving) return;
  if (!ok) {
    timers_.insert({now_ + config_.store_retry, TimerKind::kRetry, app.index.value, attempt.id.attempt});
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
    attempt.last_seen = now_;
    timers_.insert({now_ + config_.master_expiry, TimerKind::kFinishing, app.index.value, attempt.id.attempt});
    return;
  }
  EndAttempt(app, attempt, AttemptEvent::kUpdateSaved,
             attempt.target == AttemptState::kFinishing ? AttemptState::kFinished : attempt.target);
}

void Core::AckToldContainers(Attempt& attempt) {
  for (ToldEnd& told : attempt.told) TellToForget(told.remembered_by, told.id);
  attempt.told.clear();
}

void Core::EndAttempt(App& app, Attempt& attempt, AttemptEvent event, AttemptState final_state) {
  if (!SetState(attempt, event, final_state)) return;
  attempt.known = false;
  attempt.last_answer.reset();
  attempt.granted.clear();
  AckToldContainers(attempt);
  bool keep = false;
  if (final_state == AttemptState::kFailed) {
    keep = app.submission.keep_containers && !app.submission.unmanaged && app.max_attempts > 1 &&
           FailedAttempts(app) < app.max_attempts && app.state != model::rm::AppState::kKilling;
  }
  if (final_state != AttemptState::kFinished) {
    attempt.host = "N/A";
    attempt.rpc_port = -1;
  }
  if (app.in_scheduler) Tell(model::scheduler::AttemptRemoved{app.index, attempt.id.attempt, keep});
  if (const Container* master = app.containers.Find(attempt.master.id); master && !master->reported_complete) {
    Emit(model::rm::StopContainers{attempt.master.node, attempt.master.address, attempt.id, {attempt.master.id}});
  }
  switch (final_state) {
    case AttemptState::kFinished:
      AttemptFinished(app, attempt.diagnostics);
      return;
    case AttemptState::kKilled:
      AttemptKilled(app, attempt.kill_diagnostics);
      return;
    default:
      AttemptFailed(app, attempt.diagnostics, keep);
  }
}

// Preemption, lost nodes, failed disks and kills by the resource manager are nobody's fault, and old failures are
// forgiven (RMAppAttemptImpl.shouldCountTowardsMaxAttemptRetry).
bool Core::CountsAsFailure(const App& app, const Attempt& attempt) const {
  const int64_t interval = app.submission.failures_validity_ms;
  if (interval > 0 && attempt.finished.ms > 0 && attempt.finished.ms < wall_.ms - interval) return false;
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

model::rm::StoreRow Core::RowOf(const App&, const Attempt& attempt) const {
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

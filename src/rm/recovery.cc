#include <map>
#include <utility>

#include "rm/core.h"

// The start of a run: what the store held (RMAppManager.recover, RMAppImpl.recover, RMAppAttemptImpl.recover).

namespace fairlead::rm {

using model::rm::AppState;
using model::rm::AttemptState;

void Core::On(const model::rm::Started& event) {
  cluster_timestamp_ = event.cluster_timestamp;
  epoch_ = event.epoch;
  started_at_ = now_;
  std::map<model::ApplicationId, std::map<int32_t, const model::rm::AttemptRecord*>> attempts;
  for (const model::rm::AttemptRecord& record : event.attempts) attempts[record.id.app][record.id.attempt] = &record;
  std::map<model::ApplicationId, const model::rm::AppRecord*> apps;
  for (const model::rm::AppRecord& record : event.apps) apps[record.submission.id] = &record;
  for (const auto& [id, record] : apps) {
    std::vector<const model::rm::AttemptRecord*> of_app;
    for (const auto& [number, attempt] : attempts[id]) of_app.push_back(attempt);
    Recover(*record, of_app);
  }
  Evict();
}

void Core::Recover(const model::rm::AppRecord& record, const std::vector<const model::rm::AttemptRecord*>& attempts) {
  App& app = apps_.Add();
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
  apps_.Enter(app);
  ++apps_submitted_;
  for (const model::rm::AttemptRecord* row : attempts) {
    Attempt& attempt = app.AddAttempt(row->id.attempt);
    attempt.id = row->id;
    attempt.master = row->master;
    attempt.master.node = {};
    attempt.started = row->started;
    attempt.finished = row->finished;
    attempt.original_url = row->tracking_url;
    attempt.proxied_url = config_.web_base + "/proxy/" + ToString(row->id.app) + "/";
    attempt.diagnostics = row->diagnostics;
    attempt.final_status = row->final_status;
    attempt.exit_status = row->exit_status;
    attempt.memory_ms = row->memory_seconds * 1000;
    attempt.vcore_ms = row->vcore_seconds * 1000;
    attempt.preempted_memory_ms = row->preempted_memory_seconds * 1000;
    attempt.preempted_vcore_ms = row->preempted_vcore_seconds * 1000;
    attempt.containers_allocated = row->containers_allocated;
    // A final state that could not be stored any more: what came of an earlier attempt cannot be known.
    attempt.state = row->final_state == AttemptState::kNew ? AttemptState::kFailed : row->final_state;
    attempt.progress = 1;
    if (attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kKilled) {
      attempt.proxied_url = config_.web_base + "/cluster/app/" + ToString(row->id.app);
    }
    app.next_attempt = row->id.attempt + 1;
  }
  if (record.final_state != AppState::kNew) {
    if (!SetState(app, AppEvent::kRecover, record.final_state)) SetState(app, AppEvent::kRecover, AppState::kFailed);
    completed_apps_.push_back(app.index);
    ++completed_in_store_;
    return;
  }
  if (NormalizeMasterAsks(app)) app.master_asks = app.submission.master_asks;
  Place(app, OwnToken(), true);
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
      ResumeAttempt(app, attempt);
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

// The master may live on: it registers again, or its node says how it ended, or it expires.
void Core::ResumeAttempt(App& app, Attempt& attempt) {
  attempt.known = true;
  attempt.response_id = -1;
  attempt.progress = 0;
  attempt.proxied_url = config_.web_base + "/proxy/" + ToString(app.submission.id) + "/";
  attempt.state = AttemptState::kNew;
  Tell(model::scheduler::AttemptAdded{app.index, attempt.id.attempt, false});
  SetState(attempt, AttemptEvent::kRecover, AttemptState::kLaunched);
  attempt.last_seen = now_;
  timers_.insert({now_ + config_.master_expiry, TimerKind::kMaster, app.index.value, attempt.id.attempt});
}

}  // namespace fairlead::rm

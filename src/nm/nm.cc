#include "nm/nm.h"

#include <algorithm>

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

Nm::Nm(Config config)
    : config_(std::move(config)),
      room_(config_.capacity, config_.room_is_all_types),
      starts_(config_.remember_stopped),
      link_(config_.heartbeat_interval, config_.rm_retry_first, config_.rm_retry_max) {}

void Nm::Step(base::Instant now, base::WallTime wall, std::span<const Event> events, EffectSink& out) {
  now_ = now;
  wall_ = wall;
  out_ = &out;
  for (const Event& event : events) std::visit([this](const auto& e) { On(e); }, event);
  RunDeadlines();
  while (const auto id = room_.TakeNext()) Run(containers_.at(*id), false);
  const RmLink::State call = exited_ ? RmLink::State::kIdle : link_.Take(now_);
  if (call == RmLink::State::kRegister) SendRegister();
  if (call == RmLink::State::kBeat) SendHeartbeat();
  rows_.Commit(0, *out_);
  MaybeExit();
  out_ = nullptr;
}

// ---- Start and recovery -------------------------------------------------------------------------------------------

void Nm::On(const Started& event) {
  cache_.SetNext(event.next_resource);
  for (const ResourceRecord& record : event.resources) cache_.Restore(record);
  for (const AppRecord& record : event.apps) apps_.Restore(record, *out_);
  for (const SpentToken& token : event.spent_tokens) starts_.Note(token.container, token.expires);
  for (const ContainerRecord& record : event.containers) {
    starts_.Note(record.spec.id, record.spec.token_expires);
    if (!apps_.Rejoin(record)) {
      starts_.DropRow(record.spec.id, wall_, rows_);
      continue;
    }
    Container& container = containers_[record.spec.id];
    container.record = record;
    if (record.done) {
      container.state = ContainerState::kDone;
      container.end.Arise();
      continue;
    }
    container.attaching = true;
    room_.Hold(record.spec.id, record.spec.resources);
    container.state = record.kill_asked      ? ContainerState::kKilling
                      : record.restart_asked ? ContainerState::kReinitializing
                                             : ContainerState::kScheduled;
    out_->push_back(Attach{record.spec});
    if (record.kill_asked || record.restart_asked) Terminate(container);
  }
  link_.BeginRegistration(now_);
  next_cache_check_ = now_ + config_.cache_check_interval;
  for (const auto& [id, app] : apps_.all()) {
    if (app.record.finished) FinishApp(id, "Application killed by ResourceManager");
  }
}

void Nm::On(const Persisted& event) {
  const auto at = pending_.extract(event.txn);
  if (!at) return;
  if (const auto* change = std::get_if<PendingChange>(&at.mapped())) return ChangeStored(*change, event);
  auto& pending = std::get<PendingStart>(at.mapped());
  for (const model::ContainerId& id : pending.containers) {
    Container* container = FindContainer(id);
    if (event.ok) {
      pending.answer.succeeded.push_back(id);
      // It may have been killed while its row was on the way.
      if (container && !container->record.done) Begin(*container);
      continue;
    }
    pending.answer.failed.push_back(
        {id, "YarnException", "Container " + ToString(id) + " cannot be recorded on this node: " + event.error});
    starts_.Undo(id);
    containers_.erase(id);
    apps_.Undo(id, rows_);
    MaybeCleanApp(id.attempt.app);
  }
  out_->push_back(std::move(pending.answer));
}

// ---- Applications -------------------------------------------------------------------------------------------------

void Nm::FinishApp(const model::ApplicationId& app, const std::string& why) {
  if (!apps_.BeginFinish(app, rows_, *out_)) return;
  for (const model::ContainerId& id : apps_.Find(app)->all) {
    if (Container* container = FindContainer(id))
      Kill(*container, model::kExitKilledAfterAppCompletion, "Container killed on application-finish event: " + why);
  }
  MaybeCleanApp(app);
}

void Nm::MaybeCleanApp(const model::ApplicationId& id) {
  const App* app = apps_.BeginCleaning(id, *out_);
  if (!app) return;
  for (const ResourceRecord& gone : cache_.DropApp(id)) rows_.Remove(kResourcesTable, std::to_string(gone.number));
  out_->push_back(CleanApp{id, app->record.user});
}

void Nm::On(const AppCleaned& event) { apps_.Cleaned(event.app, *out_); }

void Nm::On(const LogsHandled& event) {
  for (const model::ContainerId& id : apps_.Drop(event.app, rows_)) {
    Container* container = FindContainer(id);
    if (!container) continue;
    if (container->end.heard()) {
      Forget(id);
    } else {
      container->forget_when_told = true;  // the resource manager has yet to hear of its end
    }
  }
}

const AppRecord* Nm::FindApp(const model::ApplicationId& app) const {
  const App* found = apps_.Find(app);
  return found ? &found->record : nullptr;
}

// ---- The resource manager -----------------------------------------------------------------------------------------

void Nm::SendRegister() {
  Register call;
  call.capacity = room_.capacity();
  for (auto& [id, container] : containers_) {
    const bool goes = apps_.Find(id.attempt.app) != nullptr;
    container.end.Send(goes);
    if (goes) call.containers.push_back(container.Report());
  }
  for (const auto& [id, app] : apps_.all()) {
    if (app.state == AppState::kRunning) call.apps.push_back(id);
  }
  call.healthy = health_.healthy;
  call.health_report = health_.report;
  call.health_checked = health_.checked;
  ++counters_.registrations;
  out_->push_back(std::move(call));
}

void Nm::SendHeartbeat() {
  Heartbeat beat;
  beat.response_id = link_.response_id();
  for (auto& [id, container] : containers_) {
    if (container.increase.Send()) beat.increased.push_back(container.Report());
    if (container.record.done && !container.end.Send()) continue;
    beat.containers.push_back(container.Report());
    if (std::exchange(container.measured_anew, false)) beat.containers.back().use = container.usage.use;
    beat.containers_use += container.usage.use;
  }
  beat.healthy = health_.healthy;
  beat.health_report = health_.report;
  beat.health_checked = health_.checked;
  beat.node_use = node_use_;
  ++counters_.heartbeats;
  out_->push_back(std::move(beat));
}

void Nm::CallAnswered() {
  for (auto at = containers_.begin(); at != containers_.end();) {
    Container& container = (at++)->second;
    container.increase.Answered();
    if (container.end.Answered() && container.forget_when_told) Forget(container.record.spec.id);
  }
}

void Nm::On(const Registered& event) {
  if (!link_.under_way() || link_.state() != RmLink::State::kRegister) return;
  if (event.resized) room_.SetCapacity(event.capacity);
  if (event.action == NodeAction::kShutdown) {
    return Stop({.exit = {1, "the resource manager refused this node: " + event.diagnostics}});
  }
  CallAnswered();
  for (auto& [id, container] : containers_) container.increase.Drop();  // its size was in the registration
  link_.OnRegistered(now_, event.rm_identifier);
}

void Nm::On(const HeartbeatAnswered& event) {
  if (!link_.under_way() || link_.state() != RmLink::State::kBeat) return;
  if (event.action == NodeAction::kResync) {
    out_->push_back(StateChanged{"node", "RUNNING", "RESYNC", event.diagnostics});
    link_.OnAnswered(now_, 0, {});
    link_.BeginRegistration(now_);
    return;
  }
  link_.OnAnswered(now_, event.response_id, base::Duration::Millis(event.next_interval_ms));
  CallAnswered();
  if (event.action == NodeAction::kShutdown) {
    return Stop({.exit = {0, "the resource manager asked this node to shut down: " + event.diagnostics}});
  }
  if (event.resized) room_.SetCapacity(event.capacity);
  for (const model::ContainerId& id : event.forget) {
    Container* container = FindContainer(id);
    if (!container) continue;
    if (container->record.done) {
      Forget(id);
    } else {
      container->forget_when_told = true;
    }
  }
  for (const model::ContainerId& id : event.cleanup) {
    if (Container* container = FindContainer(id))
      Kill(*container, model::kExitKilledByResourceManager, "Container Killed by ResourceManager");
  }
  for (const model::ApplicationId& id : event.finished_apps) FinishApp(id, "Application killed by ResourceManager");
  for (const ContainerSignal& signal : event.signals) SendSignal(signal.container, signal.command);
  for (const ContainerResize& update : event.updates) {
    Container* container = FindContainer(update.container);
    if (!container || container->record.done) continue;
    container->record.spec.resources = update.resources;
    container->record.spec.version = update.version;
    rows_.Put(container->record);
    room_.Resize(update.container, update.resources);
    out_->push_back(Resize{update.container, update.resources});
  }
}

void Nm::On(const RmCallFailed&) {
  if (!link_.under_way()) return;
  ++counters_.heartbeat_failures;
  link_.OnFailed(now_);
}

void Nm::On(const Health& event) {
  if (event.healthy != health_.healthy || event.report != health_.report) link_.Nudge(now_);
  health_ = event;
}

// ---- The end ------------------------------------------------------------------------------------------------------

void Nm::On(const Shutdown& event) {
  Stop({.keep_containers = event.keep_containers, .unregister = link_.registered() && !event.keep_containers});
}

void Nm::Stop(Stopping how) {
  if (stop_) return;
  how.at_the_latest = now_ + config_.kill_delay + config_.stop_limit;
  stop_ = std::move(how);
  link_.Stop();
  if (stop_->keep_containers) return;
  for (auto& [id, container] : containers_) {
    Kill(container, model::kExitKilledByResourceManager, "Container killed on node manager shutdown");
  }
  for (const auto& [id, app] : apps_.all()) FinishApp(id, "Application killed on shutdown");
}

void Nm::MaybeExit() {
  if (!stop_ || exited_) return;
  if (!stop_->keep_containers && now_ < stop_->at_the_latest) {
    for (const auto& [id, container] : containers_) {
      if (!container.record.done) return;
    }
    if (!apps_.all().empty()) return;  // files and logs are still on their way
  }
  exited_ = true;
  if (stop_->unregister) out_->push_back(Unregister{});
  out_->push_back(stop_->exit);
}

void Nm::RunDeadlines() {
  for (auto& [id, container] : containers_) {
    if (container.kill_at <= now_) {
      container.kill_at = base::Instant::Max();
      out_->push_back(Signal{id, SignalKind::kKill});
    }
    if (container.relaunch_at <= now_) {
      container.relaunch_at = base::Instant::Max();
      Launch(container, true);
    }
  }
  starts_.ForgetStopped(now_);
  if (next_cache_check_ > now_) return;
  next_cache_check_ = now_ + config_.cache_check_interval;
  starts_.ForgetTokens(
      wall_, [&](const auto& id) { return containers_.contains(id); }, rows_);
  for (const ResourceRecord& gone : cache_.Shrink(config_.cache_bytes_max)) {
    rows_.Remove(kResourcesTable, std::to_string(gone.number));
    out_->push_back(RemoveResource{gone.number, gone.path, gone.user});
  }
}

base::Instant Nm::NextDeadline() const {
  base::Instant next = std::min(link_.NextDeadline(), next_cache_check_);
  for (const auto& [id, container] : containers_) next = std::min({next, container.kill_at, container.relaunch_at});
  if (stop_ && !exited_) next = std::min(next, stop_->at_the_latest);
  return next;
}

// ---- Views --------------------------------------------------------------------------------------------------------

View Nm::GetView() const {
  View view;
  for (const auto& [id, app] : apps_.all()) {
    AppView& a = view.apps.emplace_back();
    a.id = id;
    a.state = app.state;
    a.user = app.record.user;
    a.view_acl = app.record.view_acl;
    for (const model::ContainerId& c : app.all) {
      if (containers_.contains(c)) a.containers.push_back(c);
    }
  }
  for (const auto& [id, container] : containers_) {
    const ContainerRecord& record = container.record;
    view.containers.push_back({id, container.state, record.spec.user, record.spec.resources, record.exit_status,
                               record.diagnostics, container.pid, record.spec.is_master, container.usage.use,
                               record.started});
    if (!record.done) view.allocated += record.spec.resources;
  }
  view.counters = counters_;
  view.capacity = room_.capacity();
  view.counters.resources_fetched = cache_.fetched();
  view.counters.resource_hits = cache_.hits();
  view.cache_bytes = cache_.bytes();
  view.registered = link_.registered();
  view.healthy = health_.healthy;
  view.health_report = health_.report;
  view.health_checked = health_.checked;
  view.rm_identifier = rm_identifier();
  return view;
}

std::string Nm::CheckInvariants() const {
  if (std::string wrong = cache_.CheckInvariants(); !wrong.empty()) return wrong;
  for (const auto& [id, app] : apps_.all()) {
    for (const model::ContainerId& c : app.live) {
      const auto at = containers_.find(c);
      if (at == containers_.end() || at->second.record.done) return ToString(c) + " counts as live but is not";
    }
    if (!app.live.empty() && (app.state == AppState::kCleaningUp || app.state == AppState::kFinished))
      return ToString(id) + " is cleaned up under live containers";
  }
  for (const auto& [id, container] : containers_) {
    if (container.record.done != (container.state == ContainerState::kDone))
      return ToString(id) + ": state and record differ on its end";
    const App* app = apps_.Find(id.attempt.app);
    if (!container.record.done && (!app || !app->live.contains(id)))
      return ToString(id) + " lives outside its application";
    if (container.record.done && room_.Holds(id)) return ToString(id) + " has ended but holds room";
    if (container.record.done && container.kill_at != base::Instant::Max())
      return ToString(id) + " has ended but waits to be killed";
    if (const ResourceNumber number = container.links.Unreferenced(cache_, id); number != 0)
      return ToString(id) + " uses resource " + std::to_string(number) + " without a reference";
  }
  for (const auto& [number, entry] : cache_.entries()) {
    for (const model::ContainerId& user : entry.users) {
      const auto at = containers_.find(user);
      if (at == containers_.end() || at->second.record.done)
        return "resource " + std::to_string(number) + " is held by the dead";
    }
  }
  return "";
}

uint64_t Nm::StateHash() const {
  base::StateHasher hasher;
  link_.HashInto(hasher);
  cache_.HashInto(hasher);
  room_.HashInto(hasher);
  apps_.HashInto(hasher);
  starts_.HashInto(hasher);
  for (const auto& [id, container] : containers_) {
    base::HashInto(hasher, container.record);
    container.links.HashInto(hasher);
    base::HashInto(hasher, container.kill_at);
    base::HashInto(hasher, container.relaunch_at);
    hasher.Mix(static_cast<uint64_t>(container.state) * 4 + container.attaching * 2u + container.forget_when_told);
    hasher.Mix(container.end.Hash() * 4 + container.increase.Hash());
  }
  hasher.Mix(next_txn_);
  hasher.Mix(stop_.has_value() * 2u + exited_);
  return hasher.value();
}

}  // namespace fairlead::nm

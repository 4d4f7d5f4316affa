#include "nm/nm.h"

#include <algorithm>

#include "base/stored.h"
#include "nm/tables.h"

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

Nm::Nm(Config config)
    : config_(std::move(config)),
      capacity_(config_.capacity),
      link_(config_.heartbeat_interval, config_.rm_retry_first, config_.rm_retry_max) {}

void Nm::Step(base::Instant now, base::WallTime wall, std::span<const Event> events, EffectSink& out) {
  now_ = now;
  wall_ = wall;
  out_ = &out;
  for (const Event& event : events) std::visit([this](const auto& e) { On(e); }, event);
  RunDeadlines();
  LaunchWaiting();
  SpeakToRm();
  FlushRows();
  MaybeExit();
  out_ = nullptr;
}

void Nm::FlushRows() {
  if (!rows_.empty()) out_->push_back(Persist{0, std::exchange(rows_, {})});
}

void Nm::Put(std::string table, std::string key, std::string value) {
  rows_.push_back({std::move(table), std::move(key), std::move(value), false});
}

void Nm::Remove(std::string table, std::string key) { rows_.push_back({std::move(table), std::move(key), {}, true}); }

// ---- Start and recovery -------------------------------------------------------------------------------------------

void Nm::On(const Started& event) {
  cache_.SetNext(event.next_resource);
  for (const ResourceRecord& record : event.resources) cache_.Restore(record);
  for (const AppRecord& record : event.apps) {
    App& app = apps_[record.id];
    app.record = record;
    app.state = AppState::kRunning;
    for (const ServiceData& service : record.services) out_->push_back(InitService{record.id, record.user, service});
  }
  for (const SpentToken& token : event.spent_tokens) seen_[token.container] = token.expires;
  for (const ContainerRecord& record : event.containers) {
    seen_[record.spec.id] = record.spec.token_expires;
    const auto app = apps_.find(record.spec.id.attempt.app);
    if (app == apps_.end()) {
      Remove(kContainersTable, ToString(record.spec.id));
      KeepToken(record.spec.id, record.spec.token_expires);
      continue;
    }
    Container& container = containers_[record.spec.id];
    container.record = record;
    app->second.all.insert(record.spec.id);
    if (record.done) {
      container.state = ContainerState::kDone;
      continue;
    }
    app->second.live.insert(record.spec.id);
    container.attaching = true;
    container.has_room = true;
    container.state = record.kill_asked      ? ContainerState::kKilling
                      : record.restart_asked ? ContainerState::kReinitializing
                                             : ContainerState::kScheduled;
    out_->push_back(Attach{record.spec});
    if (record.kill_asked || record.restart_asked) Terminate(container);
  }
  link_.BeginRegistration(now_);
  next_cache_check_ = now_ + config_.cache_check_interval;
  for (auto& [id, app] : apps_) {
    if (app.record.finished) FinishApp(app, "Application killed by ResourceManager");
  }
}

void Nm::On(const Persisted& event) {
  if (const auto change = pending_changes_.extract(event.txn)) return ChangeStored(change.mapped(), event);
  const auto at = pending_starts_.find(event.txn);
  if (at == pending_starts_.end()) return;
  PendingStart pending = std::move(at->second);
  pending_starts_.erase(at);
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
    seen_.erase(id);
    containers_.erase(id);
    const auto app = apps_.find(id.attempt.app);
    if (app == apps_.end()) continue;
    app->second.live.erase(id);
    app->second.all.erase(id);
    StoreApp(app->second);  // its row was refused with the container's
    MaybeCleanApp(app->second);
  }
  out_->push_back(std::move(pending.answer));
}

// ---- Applications -------------------------------------------------------------------------------------------------

Nm::App& Nm::OpenApp(const ContainerSpec& spec) {
  const model::ApplicationId id = spec.id.attempt.app;
  const auto [at, is_new] = apps_.try_emplace(id);
  App& app = at->second;
  if (is_new) {
    app.record.id = id;
    app.record.user = spec.user;
    app.record.view_acl = spec.view_acl;
    app.record.modify_acl = spec.modify_acl;
    app.record.log_context = spec.log_context;
    SetState(app, AppState::kRunning);
  }
  return app;
}

void Nm::GiveServiceData(App& app, const ContainerSpec& spec) {
  for (const ServiceData& service : spec.service_data) {
    out_->push_back(InitService{app.record.id, app.record.user, service});
    const auto known = std::find_if(app.record.services.begin(), app.record.services.end(),
                                    [&](const ServiceData& s) { return s.service == service.service; });
    if (known == app.record.services.end()) {
      app.record.services.push_back(service);
      StoreApp(app);
    } else if (known->data != service.data) {
      *known = service;
      StoreApp(app);
    }
  }
}

void Nm::SetState(App& app, AppState state) {
  out_->push_back(
      StateChanged{ToString(app.record.id), std::string(EnumName(app.state)), std::string(EnumName(state)), {}});
  app.state = state;
}

void Nm::StoreApp(const App& app) { Put(kAppsTable, ToString(app.record.id), base::EncodeStored(app.record)); }

void Nm::FinishApp(App& app, const std::string& why) {
  if (app.state != AppState::kRunning && app.state != AppState::kInitializing) return;
  if (!app.record.finished) {
    app.record.finished = true;
    StoreApp(app);
  }
  SetState(app, AppState::kFinishingContainersWait);
  const std::vector<model::ContainerId> live(app.live.begin(), app.live.end());
  for (const model::ContainerId& id : live) {
    Kill(containers_.at(id), model::kExitKilledAfterAppCompletion,
         "Container killed on application-finish event: " + why);
  }
  MaybeCleanApp(app);
}

void Nm::MaybeCleanApp(App& app) {
  if (app.state != AppState::kFinishingContainersWait || !app.live.empty()) return;
  SetState(app, AppState::kCleaningUp);
  for (const ResourceRecord& gone : cache_.DropApp(app.record.id)) Remove(kResourcesTable, std::to_string(gone.number));
  out_->push_back(CleanApp{app.record.id, app.record.user});
}

void Nm::On(const AppCleaned& event) {
  const auto at = apps_.find(event.app);
  if (at == apps_.end() || at->second.state != AppState::kCleaningUp) return;
  App& app = at->second;
  SetState(app, AppState::kFinished);
  out_->push_back(HandleLogs{event.app,
                             app.record.user,
                             app.record.view_acl,
                             app.record.modify_acl,
                             app.record.log_context,
                             {app.all.begin(), app.all.end()}});
}

void Nm::On(const LogsHandled& event) {
  const auto at = apps_.find(event.app);
  if (at == apps_.end() || at->second.state != AppState::kFinished) return;
  const std::set<model::ContainerId> all = at->second.all;
  Remove(kAppsTable, ToString(event.app));
  apps_.erase(at);
  for (const model::ContainerId& id : all) {
    const Container* container = FindContainer(id);
    if (!container) continue;
    if (container->reported) {
      Forget(id);
    } else {
      forget_when_done_.insert(id);
    }
  }
}

bool Nm::IsAwaited(ResourceNumber number) const {
  const ResourceCache::Entry* entry = cache_.Find(number);
  return entry && entry->state == ResourceCache::State::kDownloading && !entry->users.empty();
}

const std::string* Nm::UserOf(const model::ApplicationId& app) const {
  const AppRecord* record = FindApp(app);
  return record == nullptr ? nullptr : &record->user;
}

const AppRecord* Nm::FindApp(const model::ApplicationId& app) const {
  const auto at = apps_.find(app);
  return at == apps_.end() ? nullptr : &at->second.record;
}

// ---- The resource manager -----------------------------------------------------------------------------------------

void Nm::SpeakToRm() {
  if (exited_) return;
  switch (link_.Take(now_)) {
    case RmLink::State::kRegister:
      SendRegister();
      break;
    case RmLink::State::kBeat:
      SendHeartbeat();
      break;
    case RmLink::State::kIdle:
    case RmLink::State::kStopped:
      break;
  }
}

void Nm::SendRegister() {
  Register call;
  call.capacity = capacity_;
  in_flight_.clear();
  for (const auto& [id, container] : containers_) {
    if (!apps_.contains(id.attempt.app)) continue;
    call.containers.push_back(Report(container));
    if (container.record.done) in_flight_.push_back(id);
  }
  for (const auto& [id, app] : apps_) {
    if (app.state == AppState::kRunning || app.state == AppState::kInitializing) call.apps.push_back(id);
  }
  call.healthy = healthy_;
  call.health_report = health_report_;
  call.health_checked = health_checked_;
  ++counters_.registrations;
  out_->push_back(std::move(call));
}

void Nm::SendHeartbeat() {
  Heartbeat beat;
  beat.response_id = link_.response_id();
  in_flight_.clear();
  for (auto& [id, container] : containers_) {
    if (container.record.done && container.reported) continue;
    beat.containers.push_back(Report(container));
    if (std::exchange(container.measured_anew, false)) beat.containers.back().use = container.usage.use;
    if (container.record.done) in_flight_.push_back(id);
    beat.containers_use += container.usage.use;
  }
  for (const model::ContainerId& id : increased_) {
    const Container* container = FindContainer(id);
    if (container) beat.increased.push_back(Report(*container));
  }
  increased_in_flight_ = increased_.size();
  beat.healthy = healthy_;
  beat.health_report = health_report_;
  beat.health_checked = health_checked_;
  beat.node_use = usage_.node;
  ++counters_.heartbeats;
  out_->push_back(std::move(beat));
}

void Nm::MarkReported() {
  for (const model::ContainerId& id : std::exchange(in_flight_, {})) {
    Container* container = FindContainer(id);
    if (!container) continue;
    container->reported = true;
    if (forget_when_done_.contains(id)) Forget(id);
  }
}

void Nm::On(const Registered& event) {
  if (!link_.under_way() || link_.state() != RmLink::State::kRegister) return;
  if (event.resized) capacity_ = event.capacity;
  if (event.action == NodeAction::kShutdown) {
    stop_reason_ = "the resource manager refused this node: " + event.diagnostics;
    stop_code_ = 1;
    On(Shutdown{false});
    unregister_ = false;
    return;
  }
  rm_identifier_ = event.rm_identifier;
  ever_registered_ = true;
  MarkReported();
  increased_.clear();
  link_.OnRegistered(now_);
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
  MarkReported();
  increased_.erase(increased_.begin(), increased_.begin() + static_cast<std::ptrdiff_t>(increased_in_flight_));
  increased_in_flight_ = 0;
  if (event.action == NodeAction::kShutdown) {
    stop_reason_ = "the resource manager asked this node to shut down: " + event.diagnostics;
    On(Shutdown{false});
    unregister_ = false;
    return;
  }
  if (event.resized) capacity_ = event.capacity;
  for (const model::ContainerId& id : event.forget) {
    const Container* container = FindContainer(id);
    if (!container) continue;
    if (container->record.done) {
      Forget(id);
    } else {
      forget_when_done_.insert(id);
    }
  }
  for (const model::ContainerId& id : event.cleanup) {
    Container* container = FindContainer(id);
    if (container) Kill(*container, model::kExitKilledByResourceManager, "Container Killed by ResourceManager");
  }
  for (const model::ApplicationId& id : event.finished_apps) {
    const auto app = apps_.find(id);
    if (app != apps_.end()) FinishApp(app->second, "Application killed by ResourceManager");
  }
  for (const ContainerSignal& signal : event.signals) {
    Container* container = FindContainer(signal.container);
    if (container) SendSignal(*container, signal.command);
  }
  for (const ContainerResize& update : event.updates) {
    Container* container = FindContainer(update.container);
    if (!container || container->record.done) continue;
    container->record.spec.resources = update.resources;
    container->record.spec.version = update.version;
    Store(*container);
    out_->push_back(Resize{update.container, update.resources});
  }
}

void Nm::On(const RmCallFailed&) {
  if (!link_.under_way()) return;
  ++counters_.heartbeat_failures;
  link_.OnFailed(now_);
}

void Nm::On(const Health& event) {
  const bool news = event.healthy != healthy_ || event.report != health_report_;
  healthy_ = event.healthy;
  health_report_ = event.report;
  health_checked_ = event.checked;
  if (news) link_.Nudge(now_);
}

// ---- The end ------------------------------------------------------------------------------------------------------

void Nm::On(const Shutdown& event) {
  if (stopping_) return;
  stopping_ = true;
  stop_by_ = now_ + config_.kill_delay + config_.stop_limit;
  keep_containers_ = event.keep_containers;
  unregister_ = link_.registered() && !event.keep_containers;
  link_.Stop();
  if (keep_containers_) return;
  std::vector<model::ContainerId> live;
  for (const auto& [id, container] : containers_) {
    if (!container.record.done) live.push_back(id);
  }
  for (const model::ContainerId& id : live) {
    Kill(containers_.at(id), model::kExitKilledByResourceManager, "Container killed on node manager shutdown");
  }
  for (auto& [id, app] : apps_) FinishApp(app, "Application killed on shutdown");
}

void Nm::MaybeExit() {
  if (!stopping_ || exited_) return;
  if (!keep_containers_ && now_ < stop_by_) {
    for (const auto& [id, container] : containers_) {
      if (!container.record.done) return;
    }
    if (!apps_.empty()) return;  // files and logs are still on their way
  }
  exited_ = true;
  if (unregister_) out_->push_back(Unregister{});
  out_->push_back(Exit{stop_code_, stop_reason_});
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
  std::erase_if(stopped_, [&](const auto& entry) { return entry.second <= now_; });
  if (next_cache_check_ > now_) return;
  next_cache_check_ = now_ + config_.cache_check_interval;
  std::erase_if(seen_, [&](const auto& entry) {
    if (entry.second >= wall_ || containers_.contains(entry.first)) return false;
    Remove(kSpentTokensTable, ToString(entry.first));
    return true;
  });
  for (const ResourceRecord& gone : cache_.Shrink(config_.cache_bytes_max)) {
    Remove(kResourcesTable, std::to_string(gone.number));
    out_->push_back(RemoveResource{gone.number, gone.path, gone.user});
  }
}

base::Instant Nm::NextDeadline() const {
  base::Instant next = std::min(link_.NextDeadline(), next_cache_check_);
  for (const auto& [id, container] : containers_) next = std::min({next, container.kill_at, container.relaunch_at});
  if (stopping_ && !exited_) next = std::min(next, stop_by_);
  return next;
}

// ---- Views --------------------------------------------------------------------------------------------------------

View Nm::GetView() const {
  View view;
  for (const auto& [id, app] : apps_) {
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
  view.capacity = capacity_;
  view.cache_bytes = cache_.bytes();
  view.registered = link_.registered();
  view.healthy = healthy_;
  view.health_report = health_report_;
  view.health_checked = health_checked_;
  view.rm_identifier = rm_identifier_;
  return view;
}

std::string Nm::CheckInvariants() const {
  if (std::string wrong = cache_.CheckInvariants(); !wrong.empty()) return wrong;
  for (const auto& [id, app] : apps_) {
    for (const model::ContainerId& c : app.live) {
      const Container* container = FindContainer(c);
      if (!container || container->record.done) return ToString(c) + " counts as live but is not";
    }
    if (!app.live.empty() && (app.state == AppState::kCleaningUp || app.state == AppState::kFinished))
      return ToString(id) + " is cleaned up under live containers";
  }
  for (const auto& [id, container] : containers_) {
    if (container.record.done != (container.state == ContainerState::kDone))
      return ToString(id) + ": state and record differ on its end";
    const auto app = apps_.find(id.attempt.app);
    if (!container.record.done && (app == apps_.end() || !app->second.live.contains(id)))
      return ToString(id) + " lives outside its application";
    if (container.record.done && container.kill_at != base::Instant::Max())
      return ToString(id) + " has ended but waits to be killed";
    for (const auto& [link, number] : container.resources) {
      const ResourceCache::Entry* entry = cache_.Find(number);
      if (!container.record.done && entry && !entry->users.contains(id))
        return ToString(id) + " uses resource " + std::to_string(number) + " without a reference";
    }
  }
  for (const auto& [number, entry] : cache_.entries()) {
    for (const model::ContainerId& user : entry.users) {
      const Container* container = FindContainer(user);
      if (!container || container->record.done) return "resource " + std::to_string(number) + " is held by the dead";
    }
  }
  return "";
}

uint64_t Nm::StateHash() const {
  base::StateHasher hasher;
  link_.HashInto(hasher);
  cache_.HashInto(hasher);
  base::HashInto(hasher, capacity_);
  for (const auto& [id, app] : apps_) {
    base::HashInto(hasher, app.record);
    hasher.Mix(static_cast<uint64_t>(app.state));
    base::HashInto(hasher, app.live);
    base::HashInto(hasher, app.all);
  }
  for (const auto& [id, container] : containers_) {
    base::HashInto(hasher, container.record);
    base::HashInto(hasher, container.missing);
    base::HashInto(hasher, container.failed_links);
    base::HashInto(hasher, container.kill_at);
    base::HashInto(hasher, container.relaunch_at);
    hasher.Mix(static_cast<uint64_t>(container.state) * 8 + container.has_room * 4u + container.attaching * 2u +
               container.reported);
  }
  base::HashInto(hasher, seen_);
  base::HashInto(hasher, stopped_);
  base::HashInto(hasher, forget_when_done_);
  base::HashInto(hasher, waiting_for_room_);
  base::HashInto(hasher, increased_);
  hasher.Mix(next_txn_);
  hasher.Mix(static_cast<uint64_t>(rm_identifier_));
  hasher.Mix(stopping_ * 2u + exited_);
  return hasher.value();
}

}  // namespace fairlead::nm

#include "nm/apps.h"

#include <algorithm>
#include <utility>

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events

void Apps::Restore(const AppRecord& record, EffectSink& out) {
  App& app = apps_[record.id];
  app.record = record;
  app.state = AppState::kRunning;
  for (const ServiceData& service : record.services) out.push_back(InitService{record.id, record.user, service});
}

bool Apps::Rejoin(const ContainerRecord& container) {
  const auto at = apps_.find(container.spec.id.attempt.app);
  if (at == apps_.end()) return false;
  at->second.all.insert(container.spec.id);
  if (!container.done) at->second.live.insert(container.spec.id);
  return true;
}

void Apps::Join(const ContainerSpec& spec, Rows& rows, EffectSink& out) {
  const model::ApplicationId id = spec.id.attempt.app;
  const auto [at, is_new] = apps_.try_emplace(id);
  App& app = at->second;
  if (is_new) {
    app.record = {id, spec.user, spec.view_acl, spec.modify_acl, spec.log_context, {}, false};
    SetState(app, AppState::kRunning, out);
  }
  app.live.insert(spec.id);
  app.all.insert(spec.id);
  rows.Put(app.record);
}

void Apps::Undo(const model::ContainerId& container, Rows& rows) {
  const auto at = apps_.find(container.attempt.app);
  if (at == apps_.end()) return;
  at->second.live.erase(container);
  at->second.all.erase(container);
  rows.Put(at->second.record);
}

void Apps::Ended(const model::ContainerId& container) { apps_.at(container.attempt.app).live.erase(container); }

void Apps::GiveServiceData(const ContainerSpec& spec, Rows& rows, EffectSink& out) {
  AppRecord& record = apps_.at(spec.id.attempt.app).record;
  for (const ServiceData& given : spec.service_data) {
    out.push_back(InitService{record.id, record.user, given});
    const auto known = std::find_if(record.services.begin(), record.services.end(),
                                    [&](const ServiceData& s) { return s.service == given.service; });
    if (known == record.services.end()) {
      record.services.push_back(given);
    } else if (known->data != given.data) {
      *known = given;
    } else {
      continue;
    }
    rows.Put(record);
  }
}

bool Apps::BeginFinish(const model::ApplicationId& id, Rows& rows, EffectSink& out) {
  App* app = In(id, AppState::kRunning);
  if (!app) return false;
  if (!std::exchange(app->record.finished, true)) rows.Put(app->record);
  SetState(*app, AppState::kFinishingContainersWait, out);
  return true;
}

const App* Apps::BeginCleaning(const model::ApplicationId& id, EffectSink& out) {
  App* app = In(id, AppState::kFinishingContainersWait);
  if (!app || !app->live.empty()) return nullptr;
  SetState(*app, AppState::kCleaningUp, out);
  return app;
}

void Apps::Cleaned(const model::ApplicationId& id, EffectSink& out) {
  App* app = In(id, AppState::kCleaningUp);
  if (!app) return;
  SetState(*app, AppState::kFinished, out);
  const AppRecord& record = app->record;
  out.push_back(HandleLogs{
      id, record.user, record.view_acl, record.modify_acl, record.log_context, {app->all.begin(), app->all.end()}});
}

std::set<model::ContainerId> Apps::Drop(const model::ApplicationId& id, Rows& rows) {
  if (!In(id, AppState::kFinished)) return {};
  rows.Remove(kAppsTable, ToString(id));
  return std::move(apps_.extract(id).mapped().all);
}

const App* Apps::Find(const model::ApplicationId& id) const {
  const auto at = apps_.find(id);
  return at == apps_.end() ? nullptr : &at->second;
}

App* Apps::In(const model::ApplicationId& id, AppState state) {
  const auto at = apps_.find(id);
  return at == apps_.end() || at->second.state != state ? nullptr : &at->second;
}

void Apps::SetState(App& app, AppState state, EffectSink& out) {
  out.push_back(
      StateChanged{ToString(app.record.id), std::string(EnumName(app.state)), std::string(EnumName(state)), {}});
  app.state = state;
}

void Apps::HashInto(base::StateHasher& hasher) const {
  for (const auto& [id, app] : apps_) {
    base::HashInto(hasher, app.record);
    hasher.Mix(static_cast<uint64_t>(app.state));
    base::HashInto(hasher, app.live);
    base::HashInto(hasher, app.all);
  }
}

}  // namespace fairlead::nm

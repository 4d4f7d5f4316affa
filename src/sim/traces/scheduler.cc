#include "sim/traces/scheduler.h"

#include <iterator>
#include <utility>

namespace fairlead::sim {

namespace ms = model::scheduler;

void SchedulerTarget::Step(base::Instant now, std::vector<ms::Event>& events, scheduler::EffectSink& out) {
  told_.clear();
  // A master unregisters before its process ends.
  for (const ms::Event& event : events) {
    if (const auto* removed = std::get_if<ms::AppRemoved>(&event)) {
      apps_[removed->app.value].state = App::State::kUnregistering;
      stored_.emplace_back(removed->app.value, Stored::kUnregistration);
      if (log_) log_->unregistered.push_back(removed->app);
    }
  }
  for (ms::Event& event : events) Handle(event);
  const size_t said = told_.size();
  Turns(now, out);
  while (!stored_.empty()) {
    for (const auto& [app, what] : std::exchange(stored_, {})) OnStored(app, what);
    Turns(now, out);
  }
  if (log_) log_->steps.push_back({now, said, log_->unregistered.size(), log_->turns.size()});
}

void SchedulerTarget::Handle(ms::Event& event) {
  if (std::holds_alternative<ms::AppRemoved>(event)) return;
  if (const auto* added = std::get_if<ms::AppAdded>(&event)) {
    if (apps_.size() <= added->app.value) apps_.resize(added->app.value + 1);
    apps_[added->app.value].master_asks = added->master_asks;
  } else if (const auto* call = std::get_if<ms::Allocate>(&event)) {
    for (const model::ContainerId& id : call->releases) std::erase(apps_[call->app.value].granted, id);
  }
  told_.push_back(std::move(event));
}

void SchedulerTarget::Turns(base::Instant now, scheduler::EffectSink& out) {
  for (bool first = true; first || !told_.empty(); first = false) {
    if (told_.empty() && scheduler_.NextDeadline() > now) return;
    const size_t before = out.size();
    scheduler_.Step(now, told_, out);
    if (log_) LogTurn(std::span(out).subspan(before));
    told_.clear();
    for (size_t i = before; i < out.size(); ++i) {
      std::visit([this](const auto& one) { On(one); }, out[i]);
    }
  }
}

void SchedulerTarget::LogTurn(std::span<const ms::Effect> effects) {
  log_->events.insert(log_->events.end(), std::make_move_iterator(told_.begin()), std::make_move_iterator(told_.end()));
  log_->effects.insert(log_->effects.end(), effects.begin(), effects.end());
  log_->turns.push_back({log_->events.size(), log_->effects.size()});
}

void SchedulerTarget::On(const ms::AppAccepted& effect) { stored_.emplace_back(effect.app.value, Stored::kSubmission); }

void SchedulerTarget::On(const ms::Granted& effect) {
  App& app = apps_[effect.app.value];
  if (effect.container.attempt.attempt != app.attempt) return;
  if (app.state != App::State::kWaiting) {
    app.granted.push_back(effect.container);
    return;
  }
  app.state = App::State::kRunning;
  app.master = effect.container;
  told_.push_back(ms::Acquired{effect.app, {effect.container}});
}

void SchedulerTarget::On(const ms::AllocateAnswered& effect) {
  if (effect.token == ms::MasterToken(effect.app)) return;
  App& app = apps_[effect.app.value];
  if (!app.granted.empty()) told_.push_back(ms::Acquired{effect.app, std::exchange(app.granted, {})});
}

void SchedulerTarget::On(const ms::Finished& effect) {
  App& app = apps_[effect.app.value];
  if (app.state == App::State::kEnded) return;
  if (effect.container != app.master) {
    std::erase(app.granted, effect.container);
    return;
  }
  switch (app.state) {
    case App::State::kUnregistering:
      app.master_gone = true;
      return;
    case App::State::kFinishing:
      return End(effect.app.value);
    default:
      stored_.emplace_back(effect.app.value, Stored::kFailure);
  }
}

void SchedulerTarget::OnStored(uint32_t index, Stored what) {
  App& app = apps_[index];
  switch (what) {
    case Stored::kUnregistration:
      app.state = App::State::kFinishing;
      if (app.master_gone) End(index);
      return;
    case Stored::kFailure:
      told_.push_back(ms::AttemptRemoved{{index}, app.attempt, false});
      return StartAttempt(index);
    case Stored::kSubmission:
      return StartAttempt(index);
  }
}

void SchedulerTarget::StartAttempt(uint32_t index) {
  App& app = apps_[index];
  app.state = App::State::kWaiting;
  app.granted.clear();
  app.master = {};
  ++app.attempt;
  told_.push_back(ms::AttemptAdded{{index}, app.attempt, false});
  ms::Allocate ask;
  ask.app = {index};
  ask.token = ms::MasterToken(ask.app);
  ask.asks = app.master_asks;
  told_.push_back(std::move(ask));
}

void SchedulerTarget::End(uint32_t index) {
  App& app = apps_[index];
  told_.push_back(ms::AttemptRemoved{{index}, app.attempt, false});
  told_.push_back(ms::AppRemoved{{index}});
  app = {};
  app.state = App::State::kEnded;
}

}  // namespace fairlead::sim

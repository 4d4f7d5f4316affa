#include <algorithm>

#include "base/check.h"
#include "scheduler/fairlead/core.h"

// One batch from outside: its events in order, then everything that can be placed, then the answers.

namespace fairlead::scheduler {

std::unique_ptr<Scheduler> MakeFairlead(const FairleadConfig& config) { return std::make_unique<native::Core>(config); }

namespace native {

Core::Core(const FairleadConfig& config, bool in_order)
    : config_(config), in_order_(in_order), types_(std::max<size_t>(2, model::ResourceTypes::Count())) {
  partitions_.emplace_back(types_);
  BuildQueues(CheckQueueTree(config.queues) ? config.queues : model::QueueTree{});
}

void Core::Step(Instant now, std::span<const ev::Event> events, EffectSink& out) {
  now_ = now;
  out_ = &out;
  FireTimers();
  for (const ev::Event& event : events) {
    std::visit([this](const auto& alternative) { On(alternative); }, event);
  }
  if (!reopened_queues_.empty() || !reopened_users_.empty()) RunWaiting();
  PlaceAll();
  for (const auto& [app, token] : answers_) {
    const uint32_t slot = app_slots_[app.value];
    Emit(ev::AllocateAnswered{app, token, slot == kNone ? Resources{} : Headroom(apps_[slot]), alive_nodes_});
  }
  answers_.clear();
  out_ = nullptr;
}

Instant Core::NextDeadline() const { return timers_.empty() ? review_at_ : std::min(review_at_, timers_.front().at); }

std::unique_ptr<Scheduler> Core::Fork() const { return std::make_unique<Core>(*this); }

uint32_t Core::AppSlot(AppIndex app) const {
  FL_CHECK(app.value < app_slots_.size() && app_slots_[app.value] != kNone, "unknown application index");
  return app_slots_[app.value];
}

/// What the application may still get: the least that its queues leave, at most what the cluster has free.
Resources Core::Headroom(const App& app) const {
  Resources room = schedulable_ + closed_used_ - cluster_used_;
  for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
    for (size_t t = 0; t < types_; ++t) room[t] = std::min(room[t], queues_[q].high[t] - queues_[q].used[t]);
  }
  for (int64_t& amount : room.amount) amount = std::max<int64_t>(amount, 0);
  return room;
}

void Core::On(const ev::Allocate& event) {
  const uint32_t slot = AppSlot(event.app);
  if (model::Refused refused = CheckAsks(apps_[slot], event)) {
    Emit(ev::CallRefused{event.token, std::move(refused)});
    return;
  }
  answers_.emplace_back(event.app, event.token);
  for (const model::ContainerId& id : event.releases) {
    const uint32_t container = containers_.Find(id);
    // An application releases what is its own.
    if (container == kNone || containers_[container].app != slot) continue;
    FinishContainer(container, -100, "Container released by application");
  }
  ChangeBlacklist(slot, event);
  for (const model::Ask& ask : event.asks) ApplyAsk(slot, ask);
  DropIdleWants(slot);
  RefreshClasses(slot);
}

void Core::On(const ev::Acquired& event) {
  // Granted some time ago, they have left the cache: all are asked for before the first is needed.
  for (const model::ContainerId& id : event.containers) containers_.PrefetchEntry(id);
  for (const model::ContainerId& id : event.containers) containers_.PrefetchLikely(id);
  for (const model::ContainerId& id : event.containers) {
    const uint32_t container = containers_.Find(id);
    if (container != kNone) containers_[container].acquired = true;
  }
}

void Core::On(const ev::ContainerEnded& event) {
  const uint32_t container = containers_.Find(event.container);
  if (container != kNone && containers_[container].app != kNone) FinishContainer(container, event.exit_status, "");
}

void Core::On(const ev::Pass&) {
  // Nothing waits for a pass: placing ends every batch, and timers come from NextDeadline().
}

}  // namespace native
}  // namespace fairlead::scheduler

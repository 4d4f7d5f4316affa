#include "scheduler/yarn_fair/core.h"

#include <algorithm>
#include <variant>

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

std::unique_ptr<YarnFairScheduler> MakeYarnFair(const YarnFairConfig& config, const model::QueueTree& tree,
                                                base::Instant start) {
  return std::make_unique<Core>(config, tree, start);
}

/// FairScheduler.initScheduler: the root (3.3.x: and root.default) under default settings, then the allocation file.
Core::Core(const YarnFairConfig& config, const model::QueueTree& tree, base::Instant start)
    : config_(config),
      types_(model::ResourceTypes::Count()),
      locality_matters_(config.continuous ? config.locality_delay_node_ms >= 0 && config.locality_delay_rack_ms >= 0
                                          : config.locality_threshold_node >= 0 && config.locality_threshold_rack >= 0),
      now_ms_(start.millis()) {
  reservation_threshold_ = MultiplyDown(config_.increment, config_.reservation_threshold_multiple);
  const QueueId root = AddQueue("root", {}, false);
  queues_[root].dynamic = false;
  if (config_.quirks.default_queue_always) {
    const QueueId standard = GetLeaf("root.default", true, {}).id;
    queues_[standard].dynamic = false;
  }
  EffectSink ignored;
  out_ = &ignored;
  Load(Read(tree), ReadAcls(tree));
  out_ = nullptr;
  if (!config_.timed_passes) return;
  if (config_.update_interval_ms > 0) next_update_ms_ = now_ms_ + config_.update_interval_ms;
  if (config_.continuous) next_continuous_ms_ = now_ms_;
  next_queue_check_ms_ = now_ms_ + config_.queue_check_ms;
}

void Core::Step(base::Instant now, std::span<const ms::Event> events, EffectSink& out) {
  now_ms_ = now.millis();
  out_ = &out;
  for (const ms::Event& event : events) {
    std::visit([this](const auto& e) { Apply(e); }, event);
    FinishEvent();
  }
  if (config_.timed_passes) RunDuePasses();
  FinishEvent();
  out_ = nullptr;
}

base::Instant Core::NextDeadline() const {
  if (!config_.timed_passes) return base::Instant::Max();
  int64_t next = std::min({next_update_ms_, next_continuous_ms_, next_queue_check_ms_});
  if (!kills_.empty()) next = std::min(next, kills_.front().at_ms);
  if (next == kNever) return base::Instant::Max();
  return base::Instant{next * 1'000'000};
}

/// Hadoop's threads within one instant: kill timer, queue check, update, preemption, continuous scheduling.
void Core::RunDuePasses() {
  KillPass();
  if (next_queue_check_ms_ <= now_ms_) {
    RunPass(ms::PassKind::kQueueCheck);
    next_queue_check_ms_ = now_ms_ + config_.queue_check_ms;
  }
  if (next_update_ms_ <= now_ms_) {
    UpdatePass();
    next_update_ms_ = now_ms_ + config_.update_interval_ms;
    PreemptPass();
  }
  if (next_continuous_ms_ <= now_ms_) {
    ContinuousPass();
    next_continuous_ms_ = now_ms_ + std::max<int64_t>(config_.continuous_sleep_ms, 1);
  }
}

void Core::RunPass(ms::PassKind kind) {
  switch (kind) {
    case ms::PassKind::kUpdate:
      return UpdatePass();
    case ms::PassKind::kContinuous:
      return ContinuousPass();
    case ms::PassKind::kPreempt:
      return PreemptPass();
    case ms::PassKind::kQueueCheck:
      RemoveEmptyDynamicQueues();
      return RunPendingConversions();
    case ms::PassKind::kTimers:
      return KillPass();
  }
}

/// What Hadoop's dispatcher delivers after the scheduler's call has returned: an application learns that its master has
/// a container (RMAppAttemptImpl), from then on its blacklist is its own and the container counts as a master's.
void Core::FinishEvent() {
  for (const auto& [attempt, container] : new_masters_) {
    attempts_[attempt].master.SetKnown();
    if (containers_.Has(container)) containers_.SetMaster(container);
  }
  new_masters_.clear();
}

void Core::Apply(const ms::Pass& event) { RunPass(event.kind); }

void Core::Refuse(uint64_t token, model::Refusal why, std::vector<std::string> names) {
  Emit(ms::CallRefused{token, {why, std::move(names), {}, {}}});
}

void Core::Apply(const ms::AppPriority& event) { Refuse(event.token, model::Refusal::kPriorityIsFixed); }

void Core::Apply(const ms::ContainerResized& event) { Refuse(event.token, model::Refusal::kResizeFixed); }

Resources Core::FreeOf(model::NodeIndex node) const {
  return node.value < nodes_.size() ? nodes_[node].unallocated : Resources{};
}

std::vector<std::string> Core::LeafOrder() const {
  std::vector<std::string> names;
  for (const QueueId id : leaf_order_) names.push_back(queues_[id].name);
  return names;
}

}  // namespace fairlead::scheduler::yarn_fair

#include <utility>

#include "rm/core.h"

// Containers from grant to the master's acknowledgement of their end (RMContainerImpl).

namespace fairlead::rm {

using model::rm::AttemptState;
using model::rm::ContainerState;

void Core::On(const model::scheduler::Granted& effect) {
  App& app = At(effect.app);
  const auto found = app.attempts.find(effect.container.attempt.attempt);
  if (!app.alive || found == app.attempts.end() || !found->second.known) return;  // it ends with its attempt
  Attempt& attempt = found->second;
  app.reservations.erase(effect.container);
  const Node& node = nodes_[effect.node.value];
  Container container;
  container.info.id = effect.container;
  container.info.node = effect.node;
  container.info.address = node.address;
  container.info.http_address = node.HttpAddress();
  container.info.resources = effect.resources;
  container.info.priority = effect.priority;
  container.info.allocation_request_id = effect.allocation_request_id;
  container.info.created = wall_;
  const auto [it, is_new] = app.containers.emplace(effect.container, std::move(container));
  if (!is_new) return;
  SetExpiry(app, it->second, now_ + config_.grant_expiry);
  ++attempt.containers_allocated;
  if (attempt.state == AttemptState::kScheduled) {
    MasterGranted(app, attempt, effect.container);
  } else {
    attempt.granted.push_back(effect.container);
  }
}

void Core::SetExpiry(App& app, Container& container, base::Instant when) {
  const model::ContainerId& id = container.info.id;
  if (container.expires != base::Instant::Max()) ++spent_grant_timers_;
  container.expires = when;
  if (when != base::Instant::Max()) {
    grant_timers_.push_back({when, app.index.value, id.attempt.attempt, id.value});
  }
}

std::string Core::EndDiagnostics(const Container& container, const model::scheduler::Finished& effect) const {
  if (!container.diagnostics.empty()) return container.diagnostics;
  if (!effect.diagnostics.empty()) return effect.diagnostics;
  if (effect.exit_status == model::rm::kExitPreempted) return "Container preempted by scheduler";
  const Node* node = NodeAt(container.info.node);
  if (node && !node->in_scheduler) return "Container released on a *lost* node";
  if (effect.exit_status == model::rm::kExitAborted) return "Container of a completed application";
  return "";
}

void Core::On(const model::scheduler::Finished& effect) {
  App& app = At(effect.app);
  const auto it = app.containers.find(effect.container);
  if (it == app.containers.end()) return;
  SetExpiry(app, it->second, base::Instant::Max());
  Container container = std::move(it->second);
  app.containers.erase(it);
  if (container.info.id.epoch() < epoch_) app.RememberEndedRecovered(container.info.id);
  model::rm::ContainerEnd end;
  end.id = effect.container;
  end.node = container.info.node;
  end.resources = container.info.resources;
  end.exit_status = container.reported_complete ? container.exit_status : effect.exit_status;
  end.diagnostics = EndDiagnostics(container, effect);
  // It stays among the node's running ones until the node says that it ended, or says nothing of it any more: so long
  // the scheduler keeps its room.
  Node& node = LiveNode(container.info.node);
  node.running.MarkOver(end.id);
  const bool handed_out = container.launched || container.state != ContainerState::kAllocated;
  if (!container.reported_complete && handed_out && node.index == container.info.node) {
    node.cleanup.insert(end.id);
    if (node.in_scheduler) {
      Emit(model::rm::StopContainers{node.index, node.address, end.id.attempt, {end.id}});
    }
  }
  const auto attempt = app.attempts.find(end.id.attempt.attempt);
  if (attempt != app.attempts.end()) {
    if (end.exit_status == model::rm::kExitPreempted) {
      ++attempt->second.containers_preempted;
      container.state = ContainerState::kKilled;
    }
    Account(attempt->second, container);
    attempt->second.preempt_strict.erase(end.id);
    attempt->second.preempt_contract.erase(end.id);
  }
  if (effect.silent) {
    if (node.completed.contains(end.id)) node.forget.insert(end.id);
    return;
  }
  DeliverEnd(app, end);
}

// What an allocation has cost, from grant to end (RMAppAttemptMetrics).
void Core::Account(Attempt& attempt, const Container& container) {
  const int64_t ms = wall_.ms - container.info.created.ms;
  if (ms <= 0) return;
  attempt.memory_ms += ms * container.info.resources.memory_mib();
  attempt.vcore_ms += ms * container.info.resources.vcores();
  if (container.state == ContainerState::kKilled) {
    attempt.preempted_memory_ms += ms * container.info.resources.memory_mib();
    attempt.preempted_vcore_ms += ms * container.info.resources.vcores();
  }
}

void Core::DeliverEnd(App& app, const model::rm::ContainerEnd& end) {
  const auto own = app.attempts.find(end.id.attempt.attempt);
  if (own != app.attempts.end() && own->second.master.id == end.id) {
    MasterContainerEnded(app, own->second, end);
    return;
  }
  Attempt* attempt = app.current();
  if (attempt && attempt->known) {
    attempt->just_finished.push_back(end);
    return;
  }
  Node& node = LiveNode(end.node);
  if (node.completed.contains(end.id)) node.forget.insert(end.id);
}

void Core::On(const model::scheduler::Reserved& effect) {
  At(effect.app).reservations[effect.container] = effect.resources;
}

void Core::On(const model::scheduler::Unreserved& effect) { At(effect.app).reservations.erase(effect.container); }

// The new size reaches the master with its next answer and, for a decrease, the node with its next heartbeat.
void Core::On(const model::scheduler::ResizeAnswered& effect) {
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(effect.container.attempt, &app);
  if (!attempt) return;
  const auto it = app->containers.find(effect.container);
  if (it == app->containers.end()) return;
  Container& container = it->second;
  const auto type = effect.token == 1 ? model::rm::UpdateType::kIncrease : model::rm::UpdateType::kDecrease;
  if (!effect.error.empty()) {
    model::rm::ContainerUpdate update{effect.container, container.info.version, type, effect.resources};
    attempt->update_errors.push_back({update, effect.error, container.info.version});
    return;
  }
  container.info.resources = effect.resources;
  ++container.info.version;
  attempt->updated.push_back({container.info, type});
  if (type == model::rm::UpdateType::kDecrease) {
    LiveNode(container.info.node).updates[effect.container] = container.info;
  }
}

void Core::On(const model::rm::SignalContainer& event) {
  App* app = MutableApp(event.container.attempt.app);
  const auto it = app ? app->containers.find(event.container) : ContainerMap::iterator{};
  if (!app || it == app->containers.end()) {
    Refuse(event.call, "YarnException", "Trying to signal an absent container " + ToString(event.container));
    return;
  }
  LiveNode(it->second.info.node).signals.push_back({event.container, event.command});
  Emit(model::rm::CallDone{event.call});
}

}  // namespace fairlead::rm

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Containers from grant to end: RMContainerImpl's states, FSAppAttempt.containerCompleted, SchedulerNode's books.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

namespace {

/// Where Attempt::by_number has a container id; huge for ids of another epoch.
size_t IndexOf(const Attempt& attempt, int64_t value) { return static_cast<size_t>(value - attempt.number_base - 1); }

}  // namespace

ContainerSlot Core::NewSlot() {
  if (!free_containers_.empty()) {
    const ContainerSlot slot = free_containers_.back();
    free_containers_.pop_back();
    return slot;
  }
  containers_.emplace_back();
  return static_cast<ContainerSlot>(containers_.size() - 1);
}

/// FSAppAttempt.createContainer: takes the next number, also for a reservation.
ContainerSlot Core::CreateContainer(AttemptId attempt_id, uint32_t node, const Resources& size, const RequestKey& key) {
  const ContainerSlot slot = NewSlot();
  Attempt& attempt = attempts_[attempt_id];
  Container& container = containers_[slot];
  container.attempt = attempt_id;
  container.app = attempt.app;
  container.attempt_number = attempt.number;
  container.value = attempt.number_base + attempt.next_container++;
  container.node = node;
  container.key = key;
  container.resources = size;
  attempt.by_number.push_back(slot);
  return slot;
}

model::ContainerId Core::IdOf(const Container& container) const {
  return {{apps_[container.app].id, container.attempt_number}, container.value};
}

/// ApplicationId.hashCode.
int32_t Core::HashOfApplication(const model::ApplicationId& id) {
  const uint32_t hash = 371237u * 6521u + static_cast<uint32_t>(java::HashOfLong(id.cluster_timestamp));
  return java::Wrap(371237u * hash + static_cast<uint32_t>(id.number));
}

/// ContainerId.hashCode.
int32_t Core::HashOf(const Container& container) const {
  auto hash = static_cast<uint32_t>(HashOfApplication(apps_[container.app].id));
  hash = 347671u * (347671u * 5501u + hash) + static_cast<uint32_t>(container.attempt_number);
  return java::Wrap(31u * static_cast<uint32_t>(java::HashOfLong(container.value)) + hash);
}

/// AbstractYarnScheduler.getRMContainer: a live container of the application's current attempt.
ContainerSlot Core::FindLive(const model::ContainerId& id) const {
  const auto it = app_ids_.find(id.attempt.app);
  if (it == app_ids_.end()) return kNone;
  const Attempt* attempt = CurrentAttempt(it->second);
  if (attempt == nullptr) return kNone;
  ContainerSlot slot = kNone;
  if (id.attempt.attempt == attempt->number) {
    const size_t index = IndexOf(*attempt, id.value);
    if (index < attempt->by_number.size()) slot = attempt->by_number[index];
  }
  if (slot == kNone) {
    const auto recovered = attempt->recovered.find(id.value);
    if (recovered != attempt->recovered.end()) slot = recovered->second;
  }
  if (slot == kNone || !containers_[slot].live || containers_[slot].attempt_number != id.attempt.attempt) return kNone;
  return slot;
}

ContainerSlot Core::FindOnNode(const Node& node, const model::ContainerId& id) const {
  for (ContainerSlot slot = node.first; slot != kNone; slot = containers_[slot].next_on_node) {
    const Container& c = containers_[slot];
    if (c.value == id.value && c.attempt_number == id.attempt.attempt && apps_[c.app].id == id.attempt.app) return slot;
  }
  return kNone;
}

void Core::LinkLive(ContainerSlot slot) {
  Container& container = containers_[slot];
  Attempt& attempt = attempts_[container.attempt];
  container.live = true;
  container.next_live = kNone;
  container.previous_live = attempt.last_live;
  if (attempt.last_live != kNone) {
    containers_[attempt.last_live].next_live = slot;
  } else {
    attempt.first_live = slot;
  }
  attempt.last_live = slot;
  ++attempt.live_count;
}

void Core::UnlinkLive(ContainerSlot slot) {
  Container& c = containers_[slot];
  Attempt& attempt = attempts_[c.attempt];
  (c.previous_live == kNone ? attempt.first_live : containers_[c.previous_live].next_live) = c.next_live;
  (c.next_live == kNone ? attempt.last_live : containers_[c.next_live].previous_live) = c.previous_live;
  c.live = false;
  --attempt.live_count;
  Forget(slot);
}

/// Its number leads nowhere any more.
void Core::Forget(ContainerSlot slot) {
  const Container& c = containers_[slot];
  Attempt& attempt = attempts_[c.attempt];
  const size_t index = IndexOf(attempt, c.value);
  if (index < attempt.by_number.size() && attempt.by_number[index] == slot) {
    attempt.by_number[index] = kNone;
    return;
  }
  const auto it = attempt.recovered.find(c.value);
  if (it != attempt.recovered.end() && it->second == slot) attempt.recovered.erase(it);
}

/// SchedulerNode.allocateContainer.
void Core::PutOnNode(ContainerSlot slot, bool launched) {
  Container& container = containers_[slot];
  Node& node = nodes_[container.node];
  container.on_node = true;
  container.launched_on_node = launched;
  container.next_on_node = kNone;
  container.previous_on_node = node.last;
  if (node.last != kNone) {
    containers_[node.last].next_on_node = slot;
  } else {
    node.first = slot;
  }
  node.last = slot;
  node.most_containers = std::max(node.most_containers, ++node.container_count);
  node.unallocated -= container.resources;
  node.allocated += container.resources;
}

/// FSSchedulerNode.releaseContainer: what the node reported launched stays until the node reports its end.
void Core::ReleaseFromNode(ContainerSlot slot, bool by_node) {
  Container& c = containers_[slot];
  if (!c.on_node) return;
  c.set_apart = false;
  if (!by_node && c.launched_on_node) return;
  Node& node = nodes_[c.node];
  (c.previous_on_node == kNone ? node.first : containers_[c.previous_on_node].next_on_node) = c.next_on_node;
  (c.next_on_node == kNone ? node.last : containers_[c.next_on_node].previous_on_node) = c.previous_on_node;
  c.on_node = false;
  --node.container_count;
  node.unallocated += c.resources;
  node.allocated -= c.resources;
}

void Core::FreeIfGone(ContainerSlot slot) {
  Container& c = containers_[slot];
  if (c.state == ContainerState::kFree || c.live || c.on_node || c.state == ContainerState::kReserved) return;
  DropTaken(c);
  const AttemptId attempt = c.attempt;
  c = Container{};
  free_containers_.push_back(slot);
  FreeIfUnpinned(attempt);
}

/// AbstractYarnScheduler.completedContainer. The slot may be free afterwards when its node does not hold it.
void Core::Complete(ContainerSlot slot, const Ending& ending) {
  Container& container = containers_[slot];
  const bool known = CurrentAttempt(container.app) != nullptr;
  if (!known) return;
  if (container.state == ContainerState::kReserved) {
    Unreserve(container.attempt, container.node, false);
    return;
  }
  if (container.live) CompleteLive(slot, ending);
  if (nodes_[container.node].alive) ReleaseFromNode(slot, false);
  UpdateAvailable();
  const AttemptId current = apps_[container.app].current;
  if (container.taken != kNone && !attempts_[current].stopped) GiveBack(current, container);
  FreeIfGone(slot);
}

/// FSAppAttempt.containerCompleted.
void Core::CompleteLive(ContainerSlot slot, const Ending& ending) {
  Container& container = containers_[slot];
  const bool acquired = container.state != ContainerState::kAllocated;
  const bool announced = Announce(container, ending);
  Emit(ms::Finished{model::AppIndex{container.app}, IdOf(container), model::NodeIndex{container.node},
                    ending.exit_status, acquired, ending.diagnostics, !announced});
  if (announced) container.state = ContainerState::kEnded;
  Attempt& attempt = attempts_[container.attempt];
  if (container.marked) {
    container.marked = false;
    attempt.to_be_preempted -= container.resources;
  }
  UnlinkLive(slot);
  allocated_ -= container.resources;
  Charge(container.attempt, container.resources, -1);
}

/// Whether RMContainerImpl's state machine knows this end in this state (else: "Invalid event", nobody is told).
bool Core::Announce(const Container& container, const Ending& ending) {
  switch (container.state) {
    case ContainerState::kAllocated:
      return ending.how == End::kKilled || ending.how == End::kExpired;
    case ContainerState::kAcquired:
      return true;
    case ContainerState::kRunning:
      return ending.how != End::kExpired;
    default:
      return false;
  }
}

/// AbstractYarnScheduler.recoverResourceRequestForContainer: a grant that nobody picked up is asked for again.
void Core::GiveBack(AttemptId id, const Container& container) {
  std::vector<Asks::Line> lines;
  const Taken& taken = taken_[container.taken];
  for (uint32_t i = 0; i < taken.size; ++i) {
    lines.push_back({taken.lines[i].name, container.key, {1, taken.lines[i].relax, taken.lines[i].capability}});
  }
  UpdateAsks(id, std::move(lines), true);
}

void Core::KeepTaken(Container& container, const Taken& taken) {
  if (free_taken_.empty()) {
    container.taken = static_cast<uint32_t>(taken_.size());
    taken_.push_back(taken);
  } else {
    container.taken = free_taken_.back();
    free_taken_.pop_back();
    taken_[container.taken] = taken;
  }
  for (uint32_t i = 0; i < taken.size; ++i) names_.AddUse(taken.lines[i].name);
}

void Core::DropTaken(Container& container) {
  if (container.taken == kNone) return;
  const Taken& taken = taken_[container.taken];
  for (uint32_t i = 0; i < taken.size; ++i) names_.Release(taken.lines[i].name);
  free_taken_.push_back(container.taken);
  container.taken = kNone;
}

/// AbstractYarnScheduler.releaseContainers.
void Core::ReleaseAsked(AttemptId id, const std::vector<model::ContainerId>& releases) {
  for (const model::ContainerId& container : releases) {
    const ContainerSlot slot = FindLive(container);
    if (slot == kNone || containers_[slot].attempt != id) continue;
    Complete(slot, {End::kReleased, model::kExitAborted, "Container released by application"});
  }
}

void Core::Apply(const ms::ContainerEnded& event) {
  const ContainerSlot slot = FindLive(event.container);
  if (slot == kNone) return;
  const bool picked_up = containers_[slot].state == ContainerState::kRunning;
  Complete(slot,
           {picked_up ? End::kKilled : End::kExpired, event.exit_status, "Container ended by the resource manager"});
}

/// AbstractYarnScheduler.nodeUpdate: launches, then completions.
void Core::NodeReport(uint32_t node, const ms::NodeUpdated& event) {
  for (const model::ContainerId& id : event.launched) {
    const auto app = app_ids_.find(id.attempt.app);
    if (app == app_ids_.end() || CurrentAttempt(app->second) == nullptr) continue;
    ContainerSlot slot = FindLive(id);
    if (slot != kNone && containers_[slot].state == ContainerState::kAcquired) {
      containers_[slot].state = ContainerState::kRunning;
    }
    if (slot == kNone || containers_[slot].node != node) slot = FindOnNode(nodes_[node], id);
    if (slot != kNone) containers_[slot].launched_on_node = true;
  }
  for (const ms::Completion& completion : event.completed) {
    const ContainerSlot live = FindLive(completion.container);
    if (live != kNone) {
      const bool here = containers_[live].node == node && containers_[live].launched_on_node;
      Complete(live, {End::kFinished, completion.exit_status, ""});
      if (here) {
        ReleaseFromNode(live, true);
        FreeIfGone(live);
      }
      continue;
    }
    const ContainerSlot lingering = FindOnNode(nodes_[node], completion.container);
    if (lingering == kNone) continue;
    ReleaseFromNode(lingering, true);
    FreeIfGone(lingering);
  }
}

/// AbstractYarnScheduler.recoverContainersOnNode, FSAppAttempt.recoverContainer.
void Core::Apply(const ms::ContainerRecovered& event) {
  Attempt* attempt = CurrentAttempt(event.app.value);
  if (attempt == nullptr || attempt->stopped || event.node.value >= nodes_.size() || !nodes_[event.node.value].alive ||
      FindLive(event.container) != kNone || event.resources.AnyNegative()) {
    return;
  }
  const AttemptId id = apps_[event.app.value].current;
  const ContainerSlot slot = NewSlot();
  Container& container = containers_[slot];
  container.state = ContainerState::kRunning;
  container.attempt = id;
  container.app = event.app.value;
  container.attempt_number = event.container.attempt.attempt;
  container.value = event.container.value;
  container.node = event.node.value;
  container.key = {event.priority, -1};
  container.resources = event.resources;
  container.is_master = event.is_master;
  attempt->recovered[container.value] = slot;
  if (container.attempt_number == attempt->number && IndexOf(*attempt, container.value) < (size_t{1} << 24)) {
    const auto number = static_cast<int64_t>(IndexOf(*attempt, container.value)) + 1;
    if (number >= attempt->next_container) {
      attempt->by_number.resize(static_cast<size_t>(number), kNone);
      attempt->next_container = number + 1;
    }
  }
  LinkLive(slot);
  PutOnNode(slot, true);
  allocated_ += event.resources;
  Charge(id, event.resources, 1);
  if (!attempt->am_running && !attempt->unmanaged) {
    attempt->am_resource = event.resources;
    queues_[attempt->queue].am_used += event.resources;
    attempt->am_running = true;
    attempt->master_known = true;
  }
  UpdateAvailable();
}

}  // namespace fairlead::scheduler::yarn_fair

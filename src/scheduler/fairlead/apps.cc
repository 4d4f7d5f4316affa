#include <algorithm>

#include "base/check.h"
#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"
#include "scheduler/fairlead/placement_rules.h"
#include "scheduler/fairlead/queue_names.h"

// Applications: into which queue, whether they may run, their attempts, moves and ends.

namespace fairlead::scheduler::native {

using model::Refusal;

base::Result<std::string, model::Refused> Core::PlaceApp(const ev::AppAdded& event) const {
  QueueLookup lookup;
  lookup.exists = [this](std::string_view name) { return FindQueue(name) != kNone; };
  lookup.leaf = [this](std::string_view name) { return FindQueue(name) != kNone && queues_[FindQueue(name)].leaf; };
  lookup.configured = [this](std::string_view name) {
    return FindQueue(name) != kNone && queues_[FindQueue(name)].configured;
  };
  if (!event.place) {
    const std::string name = event.queue.empty() ? "root.default" : event.queue;
    auto full = FullQueueName(name);
    if (!full) return model::Refused{Refusal::kBadQueueName, {name, full.error().message}, {}, {}};
    return std::move(full).value();
  }
  const PlacementDefaults defaults{config_.undeclared_queues, config_.user_as_default_queue};
  const PlacementRequest request{event.queue, event.user, event.groups};
  return PlaceByRules(config_.queues.placement, defaults, request, lookup);
}

void Core::On(const ev::AppAdded& event) {
  FL_CHECK(event.app.valid(), "an application needs an index");
  const auto placed = PlaceApp(event);
  if (!placed) return Emit(ev::CallRefused{event.token, placed.error()});
  const std::string& name = placed.value();
  if (FindQueue(name) == kNone && !event.place && !config_.undeclared_queues && !event.recovering) {
    return Emit(ev::CallRefused{event.token, {Refusal::kUnknownQueue, {name}, {}, {}}});
  }
  const uint32_t leaf = LeafFor(name);
  if (leaf == kNone) return Emit(ev::CallRefused{event.token, {Refusal::kNotALeaf, {name}, {}, {}}});
  if (event.app.value >= app_slots_.size()) app_slots_.resize(event.app.value + 1, kNone);
  FL_CHECK(app_slots_[event.app.value] == kNone, "an application index is used once");
  uint32_t slot;
  if (spare_apps_.empty()) {
    slot = static_cast<uint32_t>(apps_.size());
    apps_.emplace_back();
  } else {
    slot = spare_apps_.back();
    spare_apps_.pop_back();
    apps_[slot] = App{};
  }
  app_slots_[event.app.value] = slot;
  App& app = apps_[slot];
  app.used_slot = true;
  app.index = event.app;
  app.id = event.id;
  app.unmanaged = event.unmanaged;
  app.priority = event.priority;
  app.leaf = leaf;
  app.user = users_by_name_.Intern(event.user);
  if (app.user >= users_.size()) users_.push_back(User{0, UserLimit(event.user), {}});
  ++queues_[leaf].applications;
  app.starting = !app.unmanaged;
  EnterLeaf(slot);
  if (event.recovering || MayRun(leaf, app.user)) {
    StartRunning(slot);
  } else {
    queues_[leaf].waiting.insert(event.app.value);
    users_[app.user].waiting.insert(event.app.value);
  }
  Emit(ev::AppAccepted{event.app, queues_[leaf].name, app.runnable, event.token});
}

int32_t Core::UserLimit(const std::string& user) const {
  const auto it = config_.queues.user_max_apps.find(user);
  return it != config_.queues.user_max_apps.end() ? it->second
                                                  : config_.queues.user_max_apps_default.value_or(INT32_MAX);
}

bool Core::MayRun(uint32_t leaf, uint32_t user) const {
  if (users_[user].running >= users_[user].max_running) return false;
  for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) {
    if (queues_[q].running >= queues_[q].max_running) return false;
  }
  return true;
}

void Core::StartRunning(uint32_t slot) {
  App& app = apps_[slot];
  app.runnable = true;
  ++room_version_;
  queues_[app.leaf].waiting.erase(app.index.value);
  users_[app.user].waiting.erase(app.index.value);
  ++users_[app.user].running;
  for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
    if (queues_[q].running++ == 0 && q != kRoot) queues_[queues_[q].parent].active_weight += queues_[q].weight;
  }
  RefreshApp(slot);
  RefreshPath(app.leaf);
}

void Core::StopRunning(uint32_t slot) {
  App& app = apps_[slot];
  if (!app.runnable) {
    queues_[app.leaf].waiting.erase(app.index.value);
    users_[app.user].waiting.erase(app.index.value);
    return;
  }
  app.runnable = false;
  User& user = users_[app.user];
  if (user.running-- == user.max_running) reopened_users_.push_back(app.user);
  uint32_t reopened = kNone;
  bool emptied = false;
  for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) {
    if (queues_[q].running-- == queues_[q].max_running) reopened = q;
    if (queues_[q].running == 0 && q != kRoot) {
      queues_[queues_[q].parent].active_weight -= queues_[q].weight;
      emptied = true;
    }
  }
  if (reopened != kNone) reopened_queues_.push_back(reopened);
  if (emptied) ReopenMasters();
}

void Core::GatherWaiting(uint32_t queue, std::vector<const std::set<uint32_t>*>& lists) const {
  if (queues_[queue].leaf && !queues_[queue].waiting.empty()) lists.push_back(&queues_[queue].waiting);
  for (const uint32_t child : queues_[queue].children) GatherWaiting(child, lists);
}

/// Applications that wait because a limit on running ones was reached start in order of submission, as far as the
/// limits now allow.
void Core::RunWaiting() {
  std::vector<const std::set<uint32_t>*> lists;
  for (const uint32_t queue : reopened_queues_) {
    if (queues_[queue].alive) GatherWaiting(queue, lists);
  }
  for (const uint32_t user : reopened_users_) {
    if (!users_[user].waiting.empty()) lists.push_back(&users_[user].waiting);
  }
  reopened_queues_.clear();
  reopened_users_.clear();
  uint32_t next = 0;
  for (;;) {
    uint32_t first = kNone;
    for (const auto* list : lists) {
      const auto it = list->lower_bound(next);
      if (it != list->end()) first = std::min(first, *it);
    }
    if (first == kNone) return;
    next = first + 1;
    const uint32_t slot = app_slots_[first];
    if (MayRun(apps_[slot].leaf, apps_[slot].user)) StartRunning(slot);
  }
}

void Core::EnterLeaf(uint32_t slot) {
  App& app = apps_[slot];
  Queue& leaf = queues_[app.leaf];
  app.slot = (app.starting ? leaf.starting : leaf.order).Add(slot);
}

void Core::LeaveLeaf(uint32_t slot) {
  App& app = apps_[slot];
  Queue& leaf = queues_[app.leaf];
  (app.starting ? leaf.starting : leaf.order).Remove(app.slot);
}

void Core::RefreshApp(uint32_t slot) {
  App& app = apps_[slot];
  Queue& leaf = queues_[app.leaf];
  const uint64_t classes = app.runnable && app.active ? app.classes : 0;
  if (in_order_) (app.starting ? leaf.starting : leaf.order).Update(app.slot, AppKey(app), classes);
  Refreshed(slot);
}

void Core::On(const ev::AttemptAdded& event) {
  const uint32_t slot = AppSlot(event.app);
  App& app = apps_[slot];
  app.attempt = event.attempt;
  app.next_sequence = 0;
  app.active = true;
  app.needs_master = !app.unmanaged;
  if (!event.transfer_containers) EndContainers(slot, false);
  SetStarting(slot, app.needs_master);
}

void Core::SetStarting(uint32_t slot, bool starting) {
  App& app = apps_[slot];
  if (app.starting != starting) {
    LeaveLeaf(slot);
    app.starting = starting;
    EnterLeaf(slot);
  }
  RefreshApp(slot);
  RefreshPath(app.leaf);
}

void Core::On(const ev::AttemptRemoved& event) {
  const uint32_t slot = AppSlot(event.app);
  if (apps_[slot].attempt == event.attempt) EndAttempt(slot, event.keep_containers);
}

void Core::EndAttempt(uint32_t slot, bool keep_containers) {
  apps_[slot].active = false;
  DropWants(slot);
  EndContainers(slot, keep_containers);
  RefreshApp(slot);
  RefreshPath(apps_[slot].leaf);
}

void Core::EndContainers(uint32_t slot, bool keep_running) {
  for (uint32_t container = apps_[slot].first_container; container != kNone;) {
    const uint32_t next = containers_[container].app_next;
    const bool kept = keep_running && containers_[container].launched && !containers_[container].is_master;
    if (!kept) FinishContainer(container, -100, "Container of a completed application");
    container = next;
  }
}

void Core::On(const ev::AppRemoved& event) {
  // An application that was refused has no slot.
  if (event.app.value >= app_slots_.size() || app_slots_[event.app.value] == kNone) return;
  const uint32_t slot = AppSlot(event.app);
  EndAttempt(slot, false);
  StopRunning(slot);
  LeaveLeaf(slot);
  Removed(slot);
  const uint32_t leaf = apps_[slot].leaf;
  --queues_[leaf].applications;
  app_slots_[event.app.value] = kNone;
  apps_[slot] = App{};
  spare_apps_.push_back(slot);
  RefreshPath(leaf);
  DropQueueIfUnused(leaf);
}

void Core::On(const ev::AppPriority& event) {
  const uint32_t slot = AppSlot(event.app);
  apps_[slot].priority = event.priority;
  RefreshApp(slot);
  RefreshPath(apps_[slot].leaf);
  Emit(ev::PriorityAnswered{event.token});
}

model::Refused Core::CheckMove(const App& app, uint32_t target, const std::string& name) const {
  if (target == kNone) return {Refusal::kMoveToNoLeaf, {name}, {}, {}};
  std::set<uint32_t> above;
  for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) above.insert(q);
  for (uint32_t q = target; !above.contains(q); q = queues_[q].parent) {
    if (app.runnable && queues_[q].running >= queues_[q].max_running) {
      return {Refusal::kMoveQueueFull, {name, queues_[q].name}, {}, {}};
    }
    if (!(queues_[q].used + app.used).FitsIn(queues_[q].high)) {
      return {Refusal::kMoveQueueMaximum, {name, queues_[q].name}, {}, {}};
    }
  }
  return {};
}

void Core::On(const ev::AppMoved& event) {
  const uint32_t slot = AppSlot(event.app);
  const auto full = FullQueueName(event.queue);
  const uint32_t found = full ? FindQueue(full.value()) : kNone;
  const uint32_t target = found != kNone && queues_[found].leaf ? found : kNone;
  if (model::Refused refused = CheckMove(apps_[slot], target, event.queue)) {
    return Emit(ev::CallRefused{event.token, std::move(refused)});
  }
  if (target != apps_[slot].leaf) MoveTo(slot, target);
  Emit(ev::MoveAnswered{event.app, event.token, queues_[apps_[slot].leaf].name});
}

void Core::MoveTo(uint32_t slot, uint32_t target) {
  App& app = apps_[slot];
  const uint32_t source = app.leaf;
  StopRunning(slot);
  LeaveLeaf(slot);
  RemoveUsage(source, app.used);
  RemoveDemand(source, app.used + app.pending);
  ChangeMasters(source, app.master_used, app.master_used.IsZero() ? 0 : -1);
  --queues_[source].applications;
  RefreshPath(source);
  app.leaf = target;
  ++queues_[target].applications;
  EnterLeaf(slot);
  AddDemand(target, app.used + app.pending);
  AddUsage(target, app.used);
  ChangeMasters(target, app.master_used, app.master_used.IsZero() ? 0 : 1);
  if (MayRun(target, app.user)) {
    StartRunning(slot);
  } else {
    queues_[target].waiting.insert(app.index.value);
    users_[app.user].waiting.insert(app.index.value);
  }
  RefreshApp(slot);
  RefreshPath(target);
  DropQueueIfUnused(source);
}

void Core::On(const ev::QueuesReloaded& event) {
  if (const base::Status status = CheckReload(event.tree); !status) {
    return Emit(ev::CallRefused{event.token, {Refusal::kBadQueues, {status.error().message}, {}, {}}});
  }
  ApplyConfig(event.tree);
  LeafFor("root.default");
  reopened_queues_.push_back(kRoot);
  for (uint32_t user = 0; user < users_.size(); ++user) reopened_users_.push_back(user);
  Emit(ev::ReloadAnswered{event.token});
}

base::Status Core::CheckReload(const model::QueueTree& tree) const {
  if (base::Status status = CheckQueueTree(tree); !status) return status;
  for (const model::QueueConfig& queue : tree.queues) {
    // Every queue above it is a parent, and it is one itself if it says so.
    const size_t last_dot = queue.name.rfind('.');
    std::string above =
        queue.parent_type || last_dot == std::string::npos ? queue.name : queue.name.substr(0, last_dot);
    for (;;) {
      const uint32_t known = FindQueue(above);
      if (known != kNone && queues_[known].leaf && queues_[known].applications > 0) {
        return base::Error{"queue " + queue.name + ": " + above + " has applications and cannot become a parent queue"};
      }
      const size_t dot = above.rfind('.');
      if (dot == std::string::npos) break;
      above.resize(dot);
    }
  }
  return {};
}

}  // namespace fairlead::scheduler::native

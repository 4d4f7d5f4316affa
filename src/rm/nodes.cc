#include "rm/nodes.h"

#include <algorithm>
#include <utility>

#include "base/stored.h"
#include "rm/apps.h"
#include "rm/attempts.h"
#include "rm/containers.h"
#include "rm/state_hash.h"

namespace fairlead::rm {

using model::rm::ContainerState;
using model::rm::NodeAction;
using model::rm::NodeContainerState;
using model::rm::NodeState;

namespace {

bool AppIsOver(const App* app) { return !app || IsOver(app->state); }

/// Where it stands who remembers the end of `id`; null when its master knows of it.
model::NodeIndex* RememberedBy(Attempt& attempt, const model::ContainerId& id) {
  const auto untold = std::find_if(attempt.just_finished.begin(), attempt.just_finished.end(),
                                   [&](const UntoldEnd& one) { return one.end.id == id; });
  if (untold != attempt.just_finished.end()) return &untold->remembered_by;
  const auto told =
      std::find_if(attempt.told.begin(), attempt.told.end(), [&](const ToldEnd& one) { return one.id == id; });
  return told == attempt.told.end() ? nullptr : &told->remembered_by;
}

// A node remembers an end until the master has confirmed that it knows: should this run end before, the next one hears
// of it from the node (RMNodeFinishedContainersPulledByAMEvent).
void ForgetWhenKnown(Node& node, App& app, const model::ContainerId& id, model::NodeIndex remembered_by) {
  Attempt* attempt = app.current();
  model::NodeIndex* mark = attempt ? RememberedBy(*attempt, id) : nullptr;
  const bool awaited = mark && attempt->known;
  if (mark) *mark = awaited ? remembered_by : model::NodeIndex{};  // told now, it is not told at the application's end
  if (!awaited) node.forget.insert(id);
}

/// Whether it must be kept in case the node asks for it again: all else can be composed again.
bool TellsSomething(const model::rm::HeartbeatAnswer& answer) {
  return !answer.cleanup.empty() || !answer.forget.empty() || !answer.finished_apps.empty() || !answer.update.empty() ||
         !answer.signals.empty() || answer.resized;
}

/// What a node hears when there is nothing to tell.
model::rm::HeartbeatAnswer NothingNew(const Node& node) {
  model::rm::HeartbeatAnswer answer;
  answer.node = node.index;
  answer.response_id = node.response_id;
  answer.capacity = node.capacity;
  return answer;
}

}  // namespace

Nodes::Nodes(Context& context, Apps& apps, Attempts& attempts, Containers& containers)
    : context_(context),
      config_(context.config()),
      apps_(apps),
      attempts_(attempts),
      containers_(containers),
      include_hosts_(config_.include_hosts.begin(), config_.include_hosts.end()),
      exclude_hosts_(config_.exclude_hosts.begin(), config_.exclude_hosts.end()) {}

bool Nodes::SetState(Node& node, NodeEvent event, NodeState to, std::string_view detail) {
  return context_.Advance(NodeLife(), node.address, node.state, event, to, detail);
}

std::vector<model::NodeIndex> Nodes::ActiveByName() const {
  std::vector<model::NodeIndex> nodes;
  nodes.reserve(table_.active());
  table_.ForEachActive([&](const Node& node) { nodes.push_back(node.index); });
  std::sort(nodes.begin(), nodes.end(),
            [this](model::NodeIndex a, model::NodeIndex b) { return table_[a].address < table_[b].address; });
  return nodes;
}

Node* Nodes::Active(model::NodeIndex index) {
  Node& slot = table_[index];
  return slot.in_scheduler ? &slot : table_.Active(slot.address);  // mostly without looking for its name
}

Node& Nodes::Live(model::NodeIndex index) {
  Node* active = Active(index);
  return active ? *active : table_[index];
}

// NodesListManager.isValidNode: a list may name a host or its address.
bool Nodes::HostAllowed(const std::string& host, const std::string& ip) const {
  return (include_hosts_.empty() || include_hosts_.contains(host) || include_hosts_.contains(ip)) &&
         !exclude_hosts_.contains(host) && !exclude_hosts_.contains(ip);
}

Node& Nodes::Add(const model::rm::RegisterNode& event) {
  Node& node = table_.Add({});
  node.registered_as = node.index;
  node.address = event.address;
  node.ip = event.ip;
  node.http_port = event.http_port;
  node.rack = event.rack;
  node.capacity = event.capacity;
  node.physical = event.physical;
  node.version = event.version;
  if (const std::string& label = labels_.Of(node.address); !label.empty()) node.labels = {label};
  node.health_report = event.health_report;
  node.health_time = context_.wall();
  table_.Activate(node);
  AwaitHeartbeat(node);
  node.last_seen = context_.now();
  if (event.healthy) {
    Enlist(node);
    SetState(node, NodeEvent::kStarted, NodeState::kRunning);
    TellApps(node, model::rm::NodeChange::kUsable);
  } else {
    SetState(node, NodeEvent::kStarted, NodeState::kUnhealthy, event.health_report);
  }
  return node;
}

void Nodes::Enlist(Node& node) {
  node.in_scheduler = true;
  context_.Tell(model::scheduler::NodeAdded{node.index, node.address.host, node.address.port, node.rack, node.capacity,
                                            node.labels});
  if (!windows_.empty()) TellWindows(node);
}

void Nodes::TellWindows(const Node& node) {
  model::scheduler::NodeWindows told{node.index, {}};
  const auto at = [this](base::WallTime wall) {
    return context_.now() + base::Duration::Millis(wall.ms - context_.wall().ms);
  };
  for (const model::rm::HostWindow& window : windows_) {
    if (window.host != node.address.host || window.until <= context_.wall()) continue;
    told.windows.push_back({at(window.from), at(window.until)});
  }
  context_.Tell(std::move(told));
}

bool Nodes::InWindow(const std::string& host) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const model::rm::HostWindow& window) {
    return window.host == host && window.from <= context_.wall();
  });
}

void Nodes::Remove(Node& node, NodeEvent event, NodeState to, std::string_view detail) {
  if (!SetState(node, event, to, detail)) return;
  table_.Remove(node);
  if (to == NodeState::kDecommissioned) draining_.erase(node.address.host);
  if (node.in_scheduler) {
    node.in_scheduler = false;
    context_.Tell(model::scheduler::NodeRemoved{node.index});
    TellApps(node, model::rm::NodeChange::kUnusable);
  }
  node.running.Clear();
  node.forget.clear();
  node.cleanup.clear();
}

void Nodes::TellApps(const Node& node, model::rm::NodeChange change) {
  apps_.ForEach([&](App& app) {
    if (IsEnding(app.state)) return;
    app.node_changes[node.index] = change;
    // Of a master that does not call while names come and go. Those that came first went first.
    if (app.node_changes.size() > 2 * NodeTable::kGoneKept) {
      app.node_changes.erase(app.node_changes.begin(), app.node_changes.begin() + NodeTable::kGoneKept);
    }
  });
}

std::string Nodes::Objection(const model::rm::RegisterNode& event, const Node* old) const {
  const std::string& host = event.address.host;
  const bool drains = (old && old->state == NodeState::kDecommissioning) || draining_.contains(host);
  if (!HostAllowed(host, event.ip) && !drains) {
    return "Disallowed NodeManager from  " + host + ", Sending SHUTDOWN signal to the NodeManager.";
  }
  if (!old && table_.active() >= NodeTable::kActiveMax) {
    return "NodeManager from  " + host + " is one too many: " + std::to_string(table_.active()) +
           " nodes are registered, and a resource manager takes no more. Sending SHUTDOWN signal to the NodeManager.";
  }
  const model::Resources& minimum = config_.minimum;
  if (event.capacity.memory_mib() >= minimum.memory_mib() && event.capacity.vcores() >= minimum.vcores()) return "";
  return "NodeManager from  " + host +
         " doesn't satisfy minimum allocations, Sending SHUTDOWN signal to the NodeManager. Node capabilities are " +
         ToString(event.capacity) + "; minimums are " + std::to_string(minimum.memory_mib()) + "mb and " +
         std::to_string(minimum.vcores()) + " vcores";
}

void Nodes::On(const model::rm::RegisterNode& event) {
  model::rm::RegisterNodeAnswer answer;
  answer.call = event.call;
  answer.action = model::rm::NodeAction::kShutdown;
  Node* old = table_.Active(event.address);
  answer.diagnostics = Objection(event, old);
  if (!answer.diagnostics.empty()) return context_.Emit(std::move(answer));
  answer.action = model::rm::NodeAction::kNormal;
  const bool reconnects = old && (!event.running_apps.empty() || old->state == NodeState::kDecommissioning);
  if (old && !reconnects) Remove(*old, NodeEvent::kRebooting, NodeState::kRebooted, "it has lost its applications");
  Node& node = reconnects ? *old : Add(event);
  if (reconnects) Reconnect(node, event);
  const auto draining = draining_.find(event.address.host);
  if (draining != draining_.end() && node.state == NodeState::kRunning) Drain(node, draining->second);
  answer.node = node.index;
  for (const model::ApplicationId& id : event.running_apps) {
    App* app = apps_.Find(id);
    if (AppIsOver(app)) {
      node.finished_apps.insert(id);
    } else {
      node.running_apps.insert(id);
      app->ran_on.insert(node.index);
    }
  }
  RecoverContainers(node, event.containers);
  context_.Emit(std::move(answer));
}

// A node manager that was restarted and kept its containers: the node stays what it is.
void Nodes::Reconnect(Node& node, const model::rm::RegisterNode& event) {
  node.http_port = event.http_port;
  node.version = event.version;
  node.response_id = 0;
  node.last_answer.reset();
  node.last_seen = context_.now();
  apps_.ForEach([&](App& app) {
    if (Attempt* attempt = app.current()) attempt->token_nodes.Erase(node.index);
  });
  if (event.capacity != node.capacity) {
    node.capacity = event.capacity;
    table_.Resized();
    if (node.in_scheduler) context_.Tell(model::scheduler::NodeResized{node.index, node.capacity});
  }
  context_.Log(node.address, EnumName(node.state), EnumName(node.state), "RECONNECTED");
}

void Nodes::RecoverContainers(Node& node, const std::vector<model::rm::NodeContainer>& containers) {
  std::set<model::ContainerId> reported;
  model::scheduler::NodeUpdated update;
  update.node = node.index;
  for (const model::rm::NodeContainer& container : containers) {
    reported.insert(container.id);
    RecoverContainer(node, container, update);
  }
  if (node.in_scheduler && !(update.launched.empty() && update.completed.empty())) context_.Tell(std::move(update));
  // A master that the store knows and its own node does not: it never started, or ended unseen.
  apps_.ForEach([&](App& app) {
    Attempt* attempt = app.current();
    if (!attempt || attempt->state != model::rm::AttemptState::kLaunched || attempt->response_id >= 0) return;
    const model::ContainerId& master = attempt->master.id;
    if (master.value == 0 || master.epoch() >= context_.epoch() || attempt->master.address != node.address ||
        app.containers.Contains(master) || reported.contains(master)) {
      return;
    }
    model::rm::ContainerEnd end;
    end.id = master;
    end.node = node.index;
    end.exit_status = model::kExitAborted;
    end.diagnostics = "Container " + ToString(master) +
                      " is not known to its node after a restart of the "
                      "ResourceManager.\n";
    apps_.Touch(app);
    attempts_.MasterContainerEnded(app, *attempt, end);
  });
}

// AbstractYarnScheduler.recoverContainersOnNode: what belongs to a live attempt is kept, orphans are killed. `update`
// gets what the scheduler must hear: every end, also of a container that its application has given back long ago,
// because its room stays taken until its node says so (RMNodeImpl.ReconnectNodeTransition.handleNMContainerStatus).
void Nodes::RecoverContainer(Node& node, const model::rm::NodeContainer& status,
                             model::scheduler::NodeUpdated& update) {
  const model::ContainerId& id = status.id;
  App* app = apps_.Find(id.attempt.app);
  const bool complete = status.state == NodeContainerState::kComplete;
  if (app && app->containers.Contains(id)) {
    TakeStatus(node, status, update);
    return;
  }
  if (complete) {
    node.running.Erase(id);
    update.completed.push_back({id, status.exit_status});
  }
  if (AppIsOver(app)) {
    node.finished_apps.insert(id.attempt.app);
    (complete ? node.forget : node.cleanup).insert(id);
    return;
  }
  if (complete) return TakeEndOfUnknown(node, *app, status, node.index);
  if (!MayBeLeftOver(*app, id)) {
    node.cleanup.insert(id);
    return;
  }
  app->ran_on.insert(node.index);
  node.running_apps.insert(id.attempt.app);
  Attempt* attempt = app->current();
  const bool is_master = attempt->master.id == id;
  Container container;
  container.id = id;
  container.node = node.index;
  container.resources = status.resources;
  container.priority = status.priority;
  container.allocation_request_id = status.allocation_request_id;
  // What the node says, as far as it can be.
  container.created = std::min(std::max(status.created, app->submitted), context_.wall());
  container.version = status.version;
  container.is_master = is_master;
  container.state = ContainerState::kRunning;
  container.launched = true;
  container.launched_at = context_.wall();
  if (is_master) attempt->master = containers_.InfoOf(container);
  if (attempt->id != id.attempt && attempt->response_id >= 0)
    attempt->recovered.push_back(containers_.InfoOf(container));
  app->containers.Add(std::move(container));
  node.running.Insert(id);
  context_.Tell(
      model::scheduler::ContainerRecovered{app->index, node.index, id, status.resources, status.priority, is_master});
}

bool Nodes::MayBeLeftOver(const App& app, const model::ContainerId& id) const {
  const bool ended = id.epoch() >= context_.epoch() || (app.ended_recovered && app.ended_recovered->contains(id));
  if (ended || !config_.keep_work || AppIsOver(&app)) return false;
  // An attempt that is over, with no other to come, leaves nobody to book for (schedulerAttempt.isStopped()).
  const Attempt* attempt = app.current();
  return attempt && attempt->known && (attempt->id == id.attempt || app.submission.keep_containers);
}

// Its master may have started it, by a grant of an earlier run, while its node registered with this one: then no
// registration has told of it, and the master must not wait for ever.
void Nodes::TakeEndOfUnknown(Node& node, App& app, const model::rm::NodeContainer& status,
                             model::NodeIndex remembered_by) {
  if (!MayBeLeftOver(app, status.id)) return ForgetWhenKnown(node, app, status.id, remembered_by);
  app.ran_on.insert(node.index);
  node.running_apps.insert(app.submission.id);
  app.RememberEndedRecovered(status.id);
  containers_.DeliverEnd(
      app, {{status.id, status.exit_status, status.diagnostics, status.resources, node.index}, remembered_by});
}

/// What makes a node stop or register again.
void Nodes::TurnAway(model::rm::CallToken call, model::rm::NodeAction action, std::string diagnostics) {
  model::rm::HeartbeatAnswer answer;
  answer.call = call;
  answer.action = action;
  answer.diagnostics = std::move(diagnostics);
  context_.Emit(std::move(answer));
}

void Nodes::On(const model::rm::Heartbeat& event) {
  Node* node = table_.Active(event.address);
  if (node) AnswerWaitingHeartbeat(node->index);
  static const std::string kNotLookedUp;
  if (!HostAllowed(event.address.host, node ? node->ip : kNotLookedUp) &&
      !(node && node->state == NodeState::kDecommissioning)) {
    return TurnAway(event.call, NodeAction::kShutdown,
                    "Disallowed NodeManager nodeId: " + ToString(event.address) + " hostname: " + event.address.host);
  }
  if (!node) return TurnAway(event.call, NodeAction::kResync, "Node not found resyncing " + ToString(event.address));
  node->last_seen = context_.now();
  if (NextResponseId(event.response_id) == node->response_id) {
    model::rm::HeartbeatAnswer answer = node->last_answer ? *node->last_answer : NothingNew(*node);
    answer.call = event.call;
    context_.Emit(std::move(answer));
    return;
  }
  if (event.response_id != node->response_id) {
    const std::string why = "Too far behind rm response id:" + std::to_string(node->response_id) +
                            " nm response id:" + std::to_string(event.response_id);
    Remove(*node, NodeEvent::kRebooting, NodeState::kRebooted, why);
    return TurnAway(event.call, NodeAction::kResync, why);
  }
  TakeUse(*node, event);
  TakeStatuses(*node, event);
  node = TakeHealth(*node, event);
  if (node->state == NodeState::kDecommissioning && node->running.empty() && node->running_apps.empty() &&
      !InWindow(node->address.host)) {
    Remove(*node, NodeEvent::kDecommission, NodeState::kDecommissioned, "no application is left");
    return TurnAway(event.call, NodeAction::kShutdown,
                    "DECOMMISSIONING " + ToString(event.address) + " is ready to be decommissioned");
  }
  node->heartbeat = event.call;
  heartbeats_.push_back(node->index);
}

void Nodes::AnswerWaitingHeartbeat(model::NodeIndex index) {
  Node& node = table_[index];
  if (!node.heartbeat) return;
  const model::rm::CallToken call = *std::exchange(node.heartbeat, std::nullopt);
  node.response_id = NextResponseId(node.response_id);
  model::rm::HeartbeatAnswer answer = NothingNew(node);
  answer.call = call;
  answer.cleanup.assign(node.cleanup.begin(), node.cleanup.end());
  answer.forget.assign(node.forget.begin(), node.forget.end());
  answer.finished_apps.assign(node.finished_apps.begin(), node.finished_apps.end());
  for (const auto& [id, info] : node.updates) answer.update.push_back(info);
  answer.signals = std::exchange(node.signals, {});
  answer.resized = std::exchange(node.resized, false);
  node.cleanup.clear();
  node.forget.clear();
  node.finished_apps.clear();
  node.updates.clear();
  node.last_answer = TellsSomething(answer) ? std::make_shared<const model::rm::HeartbeatAnswer>(answer) : nullptr;
  context_.Emit(std::move(answer));
}

/// No machine has more memory in use than it has, and what it offers it has.
model::MeasuredUse Nodes::Bounded(model::MeasuredUse use, const Node& node) {
  const int64_t mib = std::max(node.physical.memory_mib(), node.capacity.memory_mib());
  if (mib > 0 && mib < INT64_MAX >> 20) use.physical_bytes = std::min(use.physical_bytes, mib << 20);
  return use;
}

/// Before the rest: room that the same heartbeat frees is not given away on a node that is known to be overloaded.
void Nodes::TakeUse(Node& node, const model::rm::Heartbeat& event) {
  node.use = Bounded(event.use, node);
  node.containers_use = Bounded(event.containers_use, node);
  if (!node.in_scheduler || !node.use.told()) return;
  context_.Tell(
      model::scheduler::NodeMeasured{node.index, node.use, node.containers_use, node.physical, event.each_use});
}

void Nodes::TakeStatuses(Node& node, const model::rm::Heartbeat& event) {
  model::scheduler::NodeUpdated update;
  update.node = node.index;
  node.running.BeginReport();
  for (const model::ContainerId& id : event.running) {
    if (node.running.Report(id)) continue;
    model::rm::NodeContainer status;
    status.id = id;
    TakeStatus(node, status, update);
  }
  for (const model::rm::NodeContainer& status : event.containers) {
    const bool settled = node.running.Report(status.id) && status.state != NodeContainerState::kComplete;
    if (!settled) TakeStatus(node, status, update);
  }
  for (const model::ContainerId& id : node.running.TakeUnreported()) {
    model::rm::NodeContainer status;
    status.id = id;
    status.state = NodeContainerState::kComplete;
    status.exit_status = model::kExitAborted;
    status.diagnostics = "Container " + ToString(id) + " was running but not reported from " + ToString(node.address);
    TakeEnd(node, status, {}, update);
  }
  if (node.in_scheduler) context_.Tell(std::move(update));
}

void Nodes::TakeStatus(Node& node, const model::rm::NodeContainer& status, model::scheduler::NodeUpdated& update) {
  const model::ContainerId& id = status.id;
  if (status.state == NodeContainerState::kComplete) {
    TakeEnd(node, status, node.index, update);
    return;
  }
  App* app = apps_.Find(id.attempt.app);
  Container* container = app ? app->containers.Find(id) : nullptr;
  if (AppIsOver(app)) node.finished_apps.insert(id.attempt.app);
  if (!container) {
    node.cleanup.insert(id);
    return;
  }
  if (container->launched) return;
  container->launched = true;
  container->launched_at = context_.wall();
  if (ContainerLife().Knows(container->state, ContainerEvent::kLaunched)) {
    containers_.SetState(*container, ContainerEvent::kLaunched, ContainerState::kRunning);
  }
  container->StopWaiting();
  app->ran_on.insert(node.index);
  node.running_apps.insert(id.attempt.app);
  node.running.Insert(id);
  update.launched.push_back(id);
}

// `remembered_by` is the node itself, or nobody when it only does not report the container any more.
void Nodes::TakeEnd(Node& node, const model::rm::NodeContainer& status, model::NodeIndex remembered_by,
                    model::scheduler::NodeUpdated& update) {
  const model::ContainerId& id = status.id;
  App* app = apps_.Find(id.attempt.app);
  Container* container = app ? app->containers.Find(id) : nullptr;
  if (AppIsOver(app)) node.finished_apps.insert(id.attempt.app);
  node.running.Erase(id);
  update.completed.push_back({id, status.exit_status});
  if (!container) {
    if (app) return TakeEndOfUnknown(node, *app, status, remembered_by);
    node.forget.insert(id);
    return;
  }
  if (std::exchange(container->remembered_by, remembered_by) == node.index) return;  // it has said so before
  container->reported_complete = true;
  container->exit_status = status.exit_status;
  container->diagnostics = status.diagnostics;
  containers_.SetState(*container, ContainerEvent::kFinished, ContainerState::kCompleted);
  container->StopWaiting();
  if (!container->launched) app->ran_on.insert(node.index);  // over before its node ever said that it runs
}

// An unhealthy node leaves the scheduler and its containers end, as in Hadoop; healthy again it gets a new index.
Node* Nodes::TakeHealth(Node& node, const model::rm::Heartbeat& event) {
  if (node.health_report != event.health_report) node.health_report = event.health_report;
  node.health_time = event.health_time;
  if (node.state == NodeState::kRunning && !event.healthy) {
    node.in_scheduler = false;
    context_.Tell(model::scheduler::NodeRemoved{node.index});
    TellApps(node, model::rm::NodeChange::kUnusable);
    SetState(node, NodeEvent::kStatusUpdate, NodeState::kUnhealthy, event.health_report);
    return &node;
  }
  if (node.state == NodeState::kUnhealthy && event.healthy) {
    Node& fresh = table_.Add(node);
    table_.Activate(fresh);
    AwaitHeartbeat(fresh);
    Enlist(fresh);
    SetState(fresh, NodeEvent::kStatusUpdate, NodeState::kRunning);
    TellApps(fresh, model::rm::NodeChange::kUsable);
    return &fresh;
  }
  return &node;
}

void Nodes::On(const model::rm::UnregisterNode& event) {
  if (Node* node = table_.Active(event.address)) Remove(*node, NodeEvent::kShutdown, NodeState::kShutdown);
  context_.Emit(model::rm::CallDone{event.call});
}

void Nodes::On(const model::rm::RefreshNodes& event) {
  include_hosts_ = {event.include.begin(), event.include.end()};
  exclude_hosts_ = {event.exclude.begin(), event.exclude.end()};
  std::vector<model::rm::HostWindow> windows = event.windows;
  std::sort(windows.begin(), windows.end());
  const bool others = std::exchange(windows_, std::move(windows)) != windows_;
  std::erase_if(draining_, [this](const auto& host) { return !exclude_hosts_.contains(host.first); });
  for (const model::rm::HostWindow& window : windows_) {
    if (exclude_hosts_.contains(window.host) && InWindow(window.host)) draining_.try_emplace(window.host, -1);
  }
  if (!event.runs.empty()) context_.Tell(model::scheduler::RunTimesRecalled{event.runs, true});
  for (const model::NodeIndex index : ActiveByName()) {
    Node& node = table_[index];
    const bool allowed = HostAllowed(node.address.host, node.ip);
    if (allowed && node.state == NodeState::kDecommissioning) {
      node.decommission_deadline = base::Instant::Max();
      SetState(node, NodeEvent::kRecommission, NodeState::kRunning);
      context_.Tell(model::scheduler::NodeSchedulable{node.index, true});
      TellApps(node, model::rm::NodeChange::kUsable);
    } else if (!allowed && ((!event.graceful && !InWindow(node.address.host)) || node.state == NodeState::kUnhealthy)) {
      Remove(node, NodeEvent::kDecommission, NodeState::kDecommissioned);
    } else if (!allowed) {
      Decommission(node, event);
    }
    if (others && node.in_scheduler) TellWindows(node);
  }
  context_.Emit(model::rm::CallDone{event.call});
}

// Gracefully; once more with another time to do it in (RMNodeImpl.DecommissioningNodeTransition).
void Nodes::Decommission(Node& node, const model::rm::RefreshNodes& event) {
  int64_t seconds = event.timeout_s;
  for (const std::string* name : {&node.ip, &node.address.host}) {
    if (const auto own = event.timeouts_s.find(*name); own != event.timeouts_s.end()) seconds = own->second;
  }
  if (node.state == NodeState::kDecommissioning && node.decommission_timeout_s == seconds) return;
  Drain(node, seconds);
}

void Nodes::Drain(Node& node, int64_t seconds) {
  if (node.state == NodeState::kRunning) {
    SetState(node, NodeEvent::kGracefulDecommission, NodeState::kDecommissioning);
    context_.Tell(model::scheduler::NodeSchedulable{node.index, false});
    TellApps(node, model::rm::NodeChange::kDecommissioning);
  }
  node.decommission_timeout_s = seconds;
  node.decommission_deadline = seconds < 0 ? base::Instant::Max() : context_.now() + base::Duration::Seconds(seconds);
  if (seconds >= 0) context_.Arm({node.decommission_deadline, Timer::Kind::kDecommission, node.index.value, 0});
}

void Nodes::On(const model::rm::ResizeNode& event) {
  Node* node = table_.Active(event.address);
  if (!node) {
    return context_.Refuse(event.call, model::Refusal::kUnknownNode, {ToString(event.address)});
  }
  node->capacity = event.capacity;
  node->resized = true;
  table_.Resized();
  if (node->in_scheduler) context_.Tell(model::scheduler::NodeResized{node->index, event.capacity});
  context_.Emit(model::rm::CallDone{event.call});
}

void Nodes::Recover(const model::rm::Started& event) {
  draining_ = event.draining;
  windows_ = event.windows;
  std::sort(windows_.begin(), windows_.end());
  for (const model::rm::HostWindow& window : windows_) {
    if (InWindow(window.host)) draining_.try_emplace(window.host, -1);
  }
  if (!event.runs.empty() || !windows_.empty()) {
    context_.Tell(model::scheduler::RunTimesRecalled{event.runs, !windows_.empty()});
  }
  if (!config_.node_labels) return;
  labels_ = Labels(event.labels);
  if (!event.labels.labels.empty()) context_.Tell(model::scheduler::LabelsAdded{event.labels.labels});
}

void Nodes::On(const model::rm::AddLabels& event) {
  std::vector<model::scheduler::ClusterLabel> added;
  if (model::Refused refused = labels_.Add(event.labels, added)) return context_.Refuse(event.call, refused);
  if (!added.empty()) context_.Tell(model::scheduler::LabelsAdded{std::move(added)});
  LabelsChanged(event.call);
}

void Nodes::On(const model::rm::RemoveLabels& event) {
  if (model::Refused refused = labels_.Remove(event.labels, *context_.queues())) {
    return context_.Refuse(event.call, refused);
  }
  LabelsChanged(event.call);
}

void Nodes::On(const model::rm::ReplaceLabels& event) {
  if (event.fail_on_unknown) {
    std::string unknown;
    for (const model::rm::NodeLabelRecord& one : event.nodes) {
      bool known = false;
      const auto look = [&](const Node& node) {
        const bool port = one.node.port == 0 || node.address.port == one.node.port;
        known = known || (port && node.address.host == one.node.host);
      };
      table_.ForEachActive(look);
      table_.ForEachGone(look);
      if (!known) unknown += (unknown.empty() ? "" : ", ") + ToString(one.node);
    }
    if (!unknown.empty()) return context_.Refuse(event.call, model::Refusal::kLabelNodes, {unknown});
  }
  if (model::Refused refused = labels_.Replace(event.nodes)) return context_.Refuse(event.call, refused);
  LabelsChanged(event.call);
}

void Nodes::LabelsChanged(model::rm::CallToken call) {
  for (const model::NodeIndex index : ActiveByName()) {
    Node& node = At(index);
    const std::string label = labels_.Of(node.address);
    if ((node.labels.empty() ? "" : node.labels.front()) == label) continue;
    node.labels.clear();
    if (!label.empty()) node.labels.push_back(label);
    if (node.in_scheduler) context_.Tell(model::scheduler::NodeRelabelled{index, label});
  }
  context_.StoreAndAnswer({kLabelsTable, "all", base::EncodeStored(labels_.Record()), false},
                          model::rm::CallDone{call});
}

void Nodes::AwaitHeartbeat(Node& node) {
  node.last_seen = context_.now();
  context_.Arm({context_.now() + config_.node_expiry, Timer::Kind::kNode, node.index.value, 0});
}

void Nodes::Expire(const Timer& timer) {
  Node& node = At({timer.index});
  if (table_.Active(node.address) != &node) return;
  if (node.last_seen + config_.node_expiry > context_.now()) {
    context_.Arm({node.last_seen + config_.node_expiry, timer.kind, timer.index, 0});
    return;
  }
  Remove(node, NodeEvent::kExpire, NodeState::kLost);
}

void Nodes::DecommissionIsOver(Node& node) {
  if (node.state != NodeState::kDecommissioning || node.decommission_deadline > context_.now()) return;
  Remove(node, NodeEvent::kDecommission, NodeState::kDecommissioned, "it timed out");
}

void Nodes::AnswerHeartbeats() {
  std::sort(heartbeats_.begin(), heartbeats_.end());
  for (const model::NodeIndex index : heartbeats_) AnswerWaitingHeartbeat(index);
  heartbeats_.clear();
}

model::Resources Nodes::MaximumAllocation(base::Instant now) const {
  if (table_.active() == 0 || now < context_.started_at() + config_.configured_maximum_for) return config_.maximum;
  model::Resources maximum;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
    maximum[type] = std::min(table_.largest()[type], config_.maximum[type]);
  }
  return maximum;
}

std::string Nodes::Check() const {
  std::string wrong;
  table_.ForEachActive([&](const Node& node) {
    if (table_.Gone(node.address)) wrong = "node is active and gone: " + ToString(node.address);
    const bool wanted = node.state == NodeState::kRunning || node.state == NodeState::kDecommissioning;
    if (node.in_scheduler != wanted) wrong = "the scheduler disagrees about node " + ToString(node.address);
  });
  return wrong;
}

void Nodes::Mix(base::StateHasher& hasher) const {
  table_.ForEach([&](const Node& node) { rm::Mix(hasher, node); });
  for (const std::string& host : include_hosts_) hasher.Mix(host);
  hasher.Mix(include_hosts_.size());
  for (const std::string& host : exclude_hosts_) hasher.Mix(host);
  for (const auto& [host, seconds] : draining_) {
    hasher.Mix(host);
    hasher.Mix(static_cast<uint64_t>(seconds));
  }
  for (const model::NodeIndex index : heartbeats_) hasher.Mix(index.value);
  for (const model::rm::HostWindow& window : windows_) base::HashInto(hasher, window);
  labels_.Mix(hasher);
}

}  // namespace fairlead::rm

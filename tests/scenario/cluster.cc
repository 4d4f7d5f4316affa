#include "scenario/cluster.h"

#include <algorithm>
#include <cstdio>

#include "scenario/words.h"

namespace fairlead::scenario {

namespace ev = model::scheduler;

namespace {

constexpr base::Duration kBeat = base::Duration::Seconds(1);
constexpr int32_t kTakenBack = model::kExitPreempted;

}  // namespace

Cluster::Cluster(std::unique_ptr<scheduler::Scheduler> scheduler, std::function<void(const std::string&)> show)
    : scheduler_(std::move(scheduler)), show_(std::move(show)) {}

void Cluster::AddNode(const std::string& name, const model::Resources& capacity, const std::string& rack,
                      const std::string& label) {
  const model::NodeIndex index{static_cast<uint32_t>(node_names_.size())};
  nodes_[name] = {index, rack};
  node_names_.push_back(name);
  std::vector<std::string> labels;
  if (!label.empty()) labels.push_back(label);
  Step({ev::NodeAdded{index, name, 8041, rack, capacity, labels}});
}

void Cluster::LoseNode(const std::string& name) {
  Node& node = nodes_.at(name);
  if (!std::exchange(node.alive, false)) return;
  Step({ev::NodeRemoved{node.index}});
  for (Container& container : containers_) {
    if (container.node == name) container.reported = true;
  }
}

void Cluster::SetSchedulable(const std::string& name, bool schedulable) {
  Step({ev::NodeSchedulable{nodes_.at(name).index, schedulable}});
}

void Cluster::Measure(const std::string& name, const model::MeasuredUse& use, int64_t each_percent) {
  ev::NodeMeasured measured{nodes_.at(name).index, use, {}, {}};
  for (const Container& container : containers_) {
    if (each_percent < 0 || container.node != name || container.ended) continue;
    model::ContainerUse& one = measured.each.emplace_back();
    one.container = container.id;
    one.use.milli_cores = container.size.vcores() * 10 * each_percent;
  }
  Step({measured});
}

void Cluster::ResizeNode(const std::string& name, const model::Resources& capacity) {
  Step({ev::NodeResized{nodes_.at(name).index, capacity}});
}

void Cluster::AddApp(const NewApp& app) {
  const model::AppIndex index{static_cast<uint32_t>(app_names_.size())};
  apps_[app.name].index = index;
  app_names_.push_back(app.name);
  ev::AppAdded added;
  added.app = index;
  added.id = {1, static_cast<int32_t>(index.value) + 1};
  added.queue = app.queue;
  added.user = app.user;
  added.groups = {app.user};
  added.priority = app.priority;
  added.submitted = {now_.ns / 1'000'000};
  added.session = app.session;
  added.session.kind = app.name;
  std::erase_if(added.session.kind, [](char c) { return c >= '0' && c <= '9'; });
  added.unmanaged = app.master.IsZero();
  if (!added.unmanaged) added.master_asks = {{0, -1, "*", true, app.master, 1, ""}};
  added.token = CallOf(app.name);
  Step({added});
  if (apps_.at(app.name).refused) {
    apps_.at(app.name).lives = false;
    return;
  }
  Step({ev::AttemptAdded{index, 1, false}});
  if (added.unmanaged) return;
  Wish wish;
  wish.count = 1;
  wish.size = app.master;
  wish.priority = 0;
  Ask(app.name, wish);
}

void Cluster::RemoveApp(const std::string& name) {
  const model::AppIndex index = apps_.at(name).index;
  Step({ev::AttemptRemoved{index, 1, false}, ev::AppRemoved{index}});
  apps_.at(name).wanted.clear();
  apps_.at(name).lives = false;
}

void Cluster::MoveApp(const std::string& name, const std::string& queue) {
  Step({ev::AppMoved{apps_.at(name).index, CallOf(name), queue}});
}

void Cluster::SetPriority(const std::string& name, int32_t priority) {
  Step({ev::AppPriority{apps_.at(name).index, priority, CallOf(name)}});
}

void Cluster::Ask(const std::string& app, const Wish& wish) {
  ev::Allocate call;
  call.app = apps_.at(app).index;
  call.token = CallOf(app);
  const auto add = [&](const std::string& name, bool relax) {
    model::Ask ask{wish.priority, -1, name, relax, wish.size, wish.count, wish.label};
    ask.gang = wish.gang;
    call.asks.push_back(ask);
  };
  std::set<std::string> racks(wish.racks.begin(), wish.racks.end());
  for (const std::string& host : wish.hosts) {
    add(host, true);
    racks.insert(nodes_.at(host).rack);
  }
  const bool only_racks = wish.hosts.empty();
  for (const std::string& rack : racks) add(rack, !wish.strict || only_racks);
  add("*", !wish.strict);
  if (!wish.excluded.empty()) call.exclusions.push_back({wish.priority, -1, wish.excluded});
  App& asking = apps_.at(app);
  const auto before = asking.wanted;
  asking.wanted[{wish.priority, wish.size.amount}] = wish.count;
  Step({call});
  if (asking.refused) asking.wanted = before;
}

void Cluster::Exclude(const std::string& app, const std::string& node, bool exclude) {
  ev::Allocate call;
  call.app = apps_.at(app).index;
  call.token = CallOf(app);
  (exclude ? call.blacklist_add : call.blacklist_remove) = {node};
  Step({call});
}

bool Cluster::End(const std::string& app, int64_t count, const std::string& node) {
  std::map<std::string, std::vector<size_t>> ending;
  for (size_t i = 0; i < containers_.size() && count > 0; ++i) {
    const Container& one = containers_[i];
    if (one.app != app || one.ended || one.master || (!node.empty() && one.node != node)) continue;
    ending[one.node].push_back(i);
    --count;
  }
  for (const std::string& name : node_names_) {
    if (ending.contains(name)) Beat(name, ending.at(name));
  }
  return count == 0;
}

bool Cluster::Resize(const std::string& app, size_t number, const model::Resources& size) {
  for (Container& one : containers_) {
    if (one.app != app || --number != 0) continue;
    ev::ContainerResized event;
    event.container = one.id;
    event.resources = size;
    event.token = CallOf(app);
    Step({event});
    return true;
  }
  return false;
}

void Cluster::Reload(const model::QueueTree& queues) {
  ev::QueuesReloaded event;
  event.tree = queues;
  event.token = ++token_;
  Step({event});
}

/// The token of the application's next call, which is then its last one.
uint64_t Cluster::CallOf(const std::string& app) {
  App& caller = apps_.at(app);
  caller.refused = false;
  return caller.last_call = ++token_;
}

void Cluster::Advance(base::Duration time) {
  const base::Instant end = now_ + time;
  base::Instant beat{(now_.ns / kBeat.ns + 1) * kBeat.ns};
  while (true) {
    const base::Instant next = std::min({end, beat, std::max(now_, scheduler_->NextDeadline())});
    const bool stands_still = next == now_;
    now_ = next;
    if (now_ == beat) {
      for (const std::string& name : node_names_) {
        if (nodes_.at(name).alive) Beat(name, {});
      }
      beat = beat + kBeat;
    } else {
      Step({});
      if (stands_still && scheduler_->NextDeadline() <= now_) now_.ns += 1;  // a deadline of this very moment
    }
    if (now_ >= end) return;
  }
}

int64_t Cluster::waiting(const std::string& app) const {
  int64_t sum = 0;
  for (const auto& [key, count] : apps_.at(app).wanted) sum += count;
  return sum;
}

std::set<std::string> Cluster::reasons(const std::string& app) const {
  std::set<std::string> out;
  for (const ev::Pending& pending : scheduler_->Why(apps_.at(app).index, now_)) {
    out.insert(std::string(ev::EnumName(pending.reason)));
  }
  return out;
}

std::string Cluster::reserved(const std::string& node) const {
  const uint32_t app = nodes_.at(node).reserved_for.value;
  return app == UINT32_MAX ? "" : app_names_[app];
}

scheduler::AppView Cluster::ViewOf(const std::string& app) const {
  for (scheduler::AppView& view : scheduler_->GetView().apps) {
    if (view.app == apps_.at(app).index) return view;
  }
  return {};
}

/// The node's heartbeat: what started since the last one, and what ended.
void Cluster::Beat(const std::string& name, const std::vector<size_t>& ended) {
  ev::NodeUpdated event;
  event.node = nodes_.at(name).index;
  for (size_t i = 0; i < containers_.size(); ++i) {
    Container& one = containers_[i];
    if (one.node != name || one.reported) continue;
    if (!one.launched && !one.ended) {
      event.launched.push_back(one.id);
      one.launched = true;
    }
    const bool now = std::find(ended.begin(), ended.end(), i) != ended.end();
    if (!now && !(one.ended && one.launched)) continue;
    event.completed.push_back({one.id, 0});
    one.reported = true;
  }
  Step({event});
}

void Cluster::Step(const std::vector<ev::Event>& events) {
  scheduler::EffectSink effects;
  scheduler_->Step(now_, events, effects);
  std::vector<ev::Event> picked_up;
  for (const ev::Effect& effect : effects) {
    if (const auto* grant = std::get_if<ev::Granted>(&effect)) {
      Note(*grant, picked_up);
    } else if (const auto* finished = std::get_if<ev::Finished>(&effect)) {
      Note(*finished);
    } else {
      Note(effect);
    }
  }
  if (!picked_up.empty()) Step(picked_up);
}

void Cluster::Note(const ev::Granted& grant, std::vector<ev::Event>& picked_up) {
  const std::string& app = AppName(grant.app);
  containers_.push_back({app, NodeName(grant.node), grant.container, grant.resources, grant.priority, grant.is_master});
  int64_t& wanted = apps_.at(app).wanted[{grant.priority, grant.resources.amount}];
  wanted = std::max<int64_t>(0, wanted - 1);
  if (grant.from_reservation) nodes_.at(NodeName(grant.node)).reserved_for = {UINT32_MAX};
  picked_up.emplace_back(ev::Acquired{grant.app, {grant.container}});
  Say(app + " gets " + TextOf(grant.resources) + " on " + NodeName(grant.node) + " (priority " +
      std::to_string(grant.priority) + (grant.is_master ? ", its master)" : ")"));
}

void Cluster::Note(const ev::Finished& finished) {
  Container* container = Find(finished.container);
  if (container == nullptr) return;
  container->ended = true;
  container->taken_back = finished.exit_status == kTakenBack;
  if (!container->launched) container->reported = true;
  Say("a container of " + container->app + " on " + container->node + " ends" +
      (container->taken_back ? ": taken back" : ", status " + std::to_string(finished.exit_status)));
}

void Cluster::Note(const ev::Effect& effect) {
  if (const auto* refusal = std::get_if<ev::CallRefused>(&effect)) {
    Say("refused: " + model::ToString(refusal->refused));
    for (auto& [name, app] : apps_) app.refused = app.refused || app.last_call == refusal->token;
  } else if (const auto* reserved = std::get_if<ev::Reserved>(&effect)) {
    nodes_.at(NodeName(reserved->node)).reserved_for = reserved->app;
    Say(NodeName(reserved->node) + " is reserved for " + AppName(reserved->app));
  } else if (const auto* unreserved = std::get_if<ev::Unreserved>(&effect)) {
    nodes_.at(NodeName(unreserved->node)).reserved_for = {UINT32_MAX};
    Say(NodeName(unreserved->node) + " is reserved no more");
  } else if (const auto* notice = std::get_if<ev::PreemptionNotice>(&effect)) {
    if (Container* container = Find(notice->container)) container->warned = true;
    Say(AppName(notice->app) + " is warned of a container that will be taken back");
  }
}

void Cluster::Say(const std::string& text) {
  char time[32];
  std::snprintf(time, sizeof time, "%8.3f s  ", static_cast<double>(now_.ns) / 1e9);
  show_(time + text);
}

Cluster::Container* Cluster::Find(const model::ContainerId& id) {
  for (Container& container : containers_) {
    if (container.id == id) return &container;
  }
  return nullptr;
}

}  // namespace fairlead::scenario

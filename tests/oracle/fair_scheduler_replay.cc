#include "oracle/fair_scheduler_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "config/allocation_file.h"
#include "model/scheduler.h"
#include "scheduler/yarn_fair/yarn_fair.h"

namespace fairlead::oracle {
namespace {

namespace ms = model::scheduler;
using nlohmann::json;
using scheduler::yarn_fair::YarnFairConfig;
using scheduler::yarn_fair::YarnFairScheduler;

json ToJson(const model::Resources& r) {
  json array = json::array();
  for (size_t i = 0; i < model::ResourceTypes::Count(); ++i) array.push_back(r[i]);
  return array;
}

model::Resources SizeOf(const json& step) {
  model::Resources r = model::Resources::Of(step.at("mem").get<int64_t>(), step.at("vc").get<int64_t>());
  if (step.contains("ext")) {
    for (const auto& [name, value] : step["ext"].items()) {
      const int type = model::ResourceTypes::Find(name);
      if (type >= 0) r[static_cast<size_t>(type)] = value.get<int64_t>();
    }
  }
  return r;
}

const char* JavaNameOf(int fault) {
  switch (static_cast<config::AllocationFault>(fault)) {
    case config::AllocationFault::kXml:
      return "SAXParseException";
    case config::AllocationFault::kConfiguration:
      return "AllocationConfigurationException";
    case config::AllocationFault::kNumber:
      return "NumberFormatException";
    case config::AllocationFault::kEmptyElement:
      return "NullPointerException";
  }
  return "?";
}

/// The exception that Hadoop's scheduler throws; empty: it only reports that the application is rejected.
std::string ThrownBy(model::Refusal why) {
  switch (why) {
    case model::Refusal::kQueueHasNone:
      return "SchedulerInvalidResoureRequestException";
    case model::Refusal::kBadQueueName:
      return "InvalidQueueNameException";
    case model::Refusal::kBadPlacement:
    case model::Refusal::kNoGroups:
    case model::Refusal::kMoveUnknownApplication:
    case model::Refusal::kMoveStopped:
    case model::Refusal::kMoveToNoLeaf:
    case model::Refusal::kMoveQueueFull:
    case model::Refusal::kMoveQueueMaximum:
    case model::Refusal::kMoveNotRunnable:
      return "YarnException";
    default:
      return "";
  }
}

/// One scenario being replayed; what FairSchedulerOracle.java does around the real scheduler.
class Player {
 public:
  /// Empty, or why the scenario cannot start.
  std::string Start(const json& scenario, const std::string& version);
  /// The step as the recorder would have written it.
  json Play(const json& step);
  std::string CheckInvariants() const { return core_->CheckInvariants(); }

 private:
  struct ReservedContainer {
    std::string name;
    json description;
  };

  base::Result<YarnFairConfig> ReadConf(const json& scenario, const std::string& version);
  void Apply(const std::string& op, const json& step, json& out);
  void AddNode(const json& step);
  void AddApp(const json& step, json& out);
  void Ask(const json& step, json& out);
  void Heartbeat(const json& step, json& out);
  void Reload(const json& step, json& out);
  void Preempt(json& out);
  void Acquire(int app);
  void Record(json& out);
  void DumpQueues(json& out);
  void DumpApps(json& out);
  void Send(ms::Event event);
  void RunPass(ms::PassKind kind) { Send(ms::Pass{kind}); }
  template <class T>
  const T* Last() const {
    for (auto it = effects_.rbegin(); it != effects_.rend(); ++it) {
      if (const T* found = std::get_if<T>(&*it)) return found;
    }
    return nullptr;
  }

  model::AppIndex AppOf(int number);
  model::ApplicationAttemptId AttemptOf(int number) const { return {{timestamp_, number}, 1}; }
  model::ContainerId ContainerOf(const std::string& name) const;
  static std::string NameOf(const model::ContainerId& id) {
    return std::to_string(id.attempt.app.number) + ":" + std::to_string(id.value);
  }
  json Describe(const ms::Granted& grant) const;

  std::unique_ptr<YarnFairScheduler> core_;
  YarnFairConfig config_;
  int64_t timestamp_ = 0;
  int64_t now_ms_ = 0;
  bool auto_acquire_ = true;
  int index_ = 0;
  std::string leaf_order_;
  std::vector<ms::Effect> effects_;  // of the step
  std::map<int, model::AppIndex> app_index_;
  std::set<int> apps_;  // that the recorder still knows
  std::map<int, std::vector<model::ContainerId>> fresh_;
  std::map<std::string, model::NodeIndex> nodes_;
  std::vector<std::string> hosts_;                            // by node index
  std::map<std::string, ReservedContainer> reserved_;         // by host, now
  std::map<std::string, ReservedContainer> reserved_before_;  // at the start of the step
};

std::string Player::Start(const json& scenario, const std::string& version) {
  timestamp_ = scenario.value("clusterTimestamp", int64_t{1700000000000});
  auto_acquire_ = scenario.value("acquire", "auto") != "manual";
  now_ms_ = scenario.value("clock", int64_t{0});
  base::Result<YarnFairConfig> config = ReadConf(scenario, version);
  if (!config) return config.error().message;
  config_ = *config;
  const base::Result<config::AllocationFile> file =
      config::ParseAllocationFile(scenario.at("allocations").get<std::string>());
  if (!file) return file.error().message;
  core_ = scheduler::yarn_fair::MakeYarnFair(config_, file->tree, base::Instant{now_ms_ * 1'000'000});
  for (const json& node : scenario.value("nodes", json::array())) AddNode(node);
  effects_.clear();
  return "";
}

base::Result<YarnFairConfig> Player::ReadConf(const json& scenario, const std::string& version) {
  std::map<std::string, std::string> keys;
  const json conf = scenario.value("conf", json::object());
  for (const auto& [key, value] : conf.items()) {
    keys[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  base::Result<YarnFairConfig> config = scheduler::yarn_fair::ReadConfig(
      [&](const std::string& key) -> std::optional<std::string> {
        const auto it = keys.find(key);
        return it == keys.end() ? std::nullopt : std::optional(it->second);
      },
      version, keys);
  if (!config) return config;
  config->timed_passes = false;
  config->cap_at_largest_node = false;  // the recorder ends before that rule begins
  return config;
}

void Player::Send(ms::Event event) {
  core_->Step(base::Instant{now_ms_ * 1'000'000}, std::span<const ms::Event>(&event, 1), effects_);
}

model::AppIndex Player::AppOf(int number) {
  return app_index_.try_emplace(number, model::AppIndex{static_cast<uint32_t>(app_index_.size())}).first->second;
}

model::ContainerId Player::ContainerOf(const std::string& name) const {
  const size_t colon = name.find(':');
  return {AttemptOf(std::stoi(name.substr(0, colon))), std::stoll(name.substr(colon + 1))};
}

json Player::Play(const json& step) {
  effects_.clear();
  reserved_before_ = reserved_;
  const std::string op = step.at("op").get<std::string>();
  json out = {{"i", index_++}, {"op", op}, {"t", now_ms_}};
  Apply(op, step, out);
  if (Last<ms::ReloadCutShort>() != nullptr) out["error"] = "NullPointerException";
  if (const auto* call = Last<ms::CallRefused>()) {
    const std::string thrown = ThrownBy(call->refused.why);
    out[thrown.empty() ? "rejected" : "error"] = thrown.empty() ? json(true) : json(thrown);
  }
  Record(out);
  return out;
}

void Player::Apply(const std::string& op, const json& step, json& out) {
  if (op == "addApp") return AddApp(step, out);
  if (op == "ask") return Ask(step, out);
  if (op == "hb") return Heartbeat(step, out);
  if (op == "addNode") return AddNode(step);
  if (op == "reload") return Reload(step, out);
  if (op == "preempt") return Preempt(out);
  if (op == "continuous") return RunPass(ms::PassKind::kContinuous);
  if (op == "acquire") return Acquire(step.at("app").get<int>());
  if (op == "update") {
    RunPass(ms::PassKind::kUpdate);
    DumpQueues(out);
    DumpApps(out);
  } else if (op == "queueCheck") {
    RunPass(ms::PassKind::kQueueCheck);
    DumpQueues(out);
  } else if (op == "clock") {
    now_ms_ += step.at("ms").get<int64_t>();
    out["t"] = now_ms_;
    RunPass(ms::PassKind::kTimers);
  } else if (op == "endApp") {
    const int app = step.at("app").get<int>();
    apps_.erase(app);
    Send(ms::AttemptRemoved{AppOf(app), 1, false});
    Send(ms::AppRemoved{AppOf(app)});
  } else if (op == "move") {
    Send(ms::AppMoved{AppOf(step.at("app").get<int>()), 1, step.at("queue").get<std::string>()});
  } else if (op == "removeNode" || op == "resizeNode") {
    const std::string host = step.at("node").get<std::string>();
    const auto node = nodes_.find(host);
    if (node == nodes_.end()) {
      out["error"] = "NullPointerException";
    } else if (op == "resizeNode") {
      Send(ms::NodeResized{node->second, SizeOf(step)});
    } else {
      Send(ms::NodeRemoved{node->second});
      nodes_.erase(host);
    }
  } else {
    out["unknown step"] = op;
  }
}

void Player::AddNode(const json& step) {
  const std::string host = step.at("host").get<std::string>();
  const model::NodeIndex index{static_cast<uint32_t>(hosts_.size())};
  hosts_.push_back(host);
  nodes_[host] = index;
  Send(ms::NodeAdded{index, host, 1, step.at("rack").get<std::string>(), SizeOf(step), {}});
}

void Player::AddApp(const json& step, json& out) {
  const int number = step.at("app").get<int>();
  const bool unmanaged = step.value("unmanaged", false);
  const bool place = step.value("place", false);
  ms::AppAdded added;
  added.app = AppOf(number);
  added.id = AttemptOf(number).app;
  added.queue = step.value("queue", place ? "default" : "");
  added.user = step.value("user", "u");
  // No groups: the recorder's group service is made before it sees a scenario's mapping and knows no such user.
  added.place = place;
  added.unmanaged = unmanaged;
  if (step.contains("am") && !unmanaged) {
    model::Ask ask;
    ask.name = "*";
    ask.capability = SizeOf(step["am"]);
    ask.count = 1;
    added.master_asks.push_back(ask);
  }
  Send(added);
  const auto* accepted = Last<ms::AppAccepted>();
  if (accepted == nullptr) return;
  out["queue"] = accepted->queue;
  out["runnable"] = accepted->runnable;
  apps_.insert(number);
  Send(ms::AttemptAdded{added.app, 1, false});
  if (!added.master_asks.empty()) Send(ms::Allocate{added.app, 1, added.master_asks, {}, {}, {}});
}

void Player::Ask(const json& step, json& out) {
  ms::Allocate call;
  call.app = AppOf(step.at("app").get<int>());
  for (const json& a : step.value("asks", json::array())) {
    model::Ask ask;
    ask.priority = a.at("p").get<int32_t>();
    ask.allocation_request_id = a.value("id", int64_t{0});
    ask.name = a.value("name", "*");
    ask.relax_locality = a.value("relax", true);
    ask.capability = SizeOf(a);
    ask.count = a.at("n").get<int32_t>();
    call.asks.push_back(ask);
  }
  for (const json& c : step.value("release", json::array())) call.releases.push_back(ContainerOf(c.get<std::string>()));
  for (const json& b : step.value("blacklistAdd", json::array())) call.blacklist_add.push_back(b.get<std::string>());
  for (const json& b : step.value("blacklistRemove", json::array())) {
    call.blacklist_remove.push_back(b.get<std::string>());
  }
  Send(call);
  if (const auto* answer = Last<ms::AllocateAnswered>()) out["headroom"] = ToJson(answer->headroom);
}

void Player::Heartbeat(const json& step, json& out) {
  const auto node = nodes_.find(step.at("node").get<std::string>());
  if (node == nodes_.end()) {
    out["error"] = "NullPointerException";
    return;
  }
  ms::NodeUpdated update;
  update.node = node->second;
  for (const json& c : step.value("launched", json::array()))
    update.launched.push_back(ContainerOf(c.get<std::string>()));
  for (const json& c : step.value("completed", json::array())) {
    update.completed.push_back({ContainerOf(c.get<std::string>()), 0});
  }
  Send(update);
  out["free"] = ToJson(core_->FreeOf(node->second));
}

void Player::Reload(const json& step, json& out) {
  const base::Result<config::AllocationFile> file =
      config::ParseAllocationFile(step.at("allocations").get<std::string>());
  if (!file) {
    out["error"] = JavaNameOf(file.error().code);
    return;
  }
  Send(ms::QueuesReloaded{file->tree});
  if (Last<ms::ReloadCutShort>() == nullptr) DumpQueues(out);
}

void Player::Preempt(json& out) {
  out["preempted"] = json::array();
  if (!config_.preemption) {
    out["error"] = "NullPointerException";
    return;
  }
  RunPass(ms::PassKind::kPreempt);
  for (const ms::Effect& effect : effects_) {
    const auto* chosen = std::get_if<ms::VictimsChosen>(&effect);
    if (chosen == nullptr) continue;
    const auto app = std::find_if(app_index_.begin(), app_index_.end(),
                                  [&](const auto& entry) { return entry.second == chosen->app; });
    json victims = json::array();
    for (const model::ContainerId& victim : chosen->victims) victims.push_back(NameOf(victim));
    out["preempted"].push_back(
        {{"app", app->first}, {"starvation", ToJson(chosen->starvation)}, {"victims", std::move(victims)}});
  }
}

void Player::Acquire(int app) {
  Send(ms::Acquired{AppOf(app), fresh_[app]});
  fresh_.erase(app);
}

json Player::Describe(const ms::Granted& grant) const {
  json d = {{"c", NameOf(grant.container)},
            {"p", grant.priority},
            {"node", hosts_[grant.node.value]},
            {"res", ToJson(grant.resources)},
            {"loc", EnumName(grant.locality)}};
  const auto before = reserved_before_.find(hosts_[grant.node.value]);
  if (before != reserved_before_.end() && before->second.name == NameOf(grant.container)) d["fromReservation"] = true;
  if (grant.is_master) d["am"] = true;
  return d;
}

void Player::Record(json& out) {
  std::set<int> granted;
  for (const ms::Effect& effect : effects_) {
    if (const auto* grant = std::get_if<ms::Granted>(&effect)) {
      out["grants"].push_back(Describe(*grant));
      fresh_[grant->container.attempt.app.number].push_back(grant->container);
      granted.insert(grant->container.attempt.app.number);
    } else if (const auto* reserved = std::get_if<ms::Reserved>(&effect)) {
      const std::string& host = hosts_[reserved->node.value];
      const std::string name = NameOf(reserved->container);
      reserved_[host] = {
          name, {{"c", name}, {"p", reserved->priority}, {"node", host}, {"res", ToJson(reserved->resources)}}};
    } else if (const auto* unreserved = std::get_if<ms::Unreserved>(&effect)) {
      reserved_.erase(hosts_[unreserved->node.value]);
    } else if (const auto* finished = std::get_if<ms::Finished>(&effect); finished != nullptr && !finished->silent) {
      out["finished"].push_back({{"c", NameOf(finished->container)}, {"exit", finished->exit_status}});
    }
  }
  for (const auto& [host, now] : reserved_) {
    const auto before = reserved_before_.find(host);
    if (before == reserved_before_.end() || before->second.name != now.name) out["reserved"].push_back(now.description);
  }
  for (const auto& [host, before] : reserved_before_) {
    const auto now = reserved_.find(host);
    if (now == reserved_.end() || now->second.name != before.name) {
      out["unreserved"].push_back({{"c", before.name}, {"node", host}});
    }
  }
  if (!auto_acquire_) return;
  for (const int app : granted) {
    if (apps_.contains(app)) Acquire(app);
  }
}

void Player::DumpQueues(json& out) {
  std::string order;
  for (const std::string& name : core_->LeafOrder()) order += (order.empty() ? "" : " ") + name;
  if (order != leaf_order_) {
    leaf_order_ = order;
    out["leafOrder"] = order;
  }
  json queues = json::object();
  for (const scheduler::QueueView& q : core_->GetView().queues) {
    json& entry = queues[q.name];
    entry = {{"fair", ToJson(q.fair_share)},
             {"steady", ToJson(q.steady_share)},
             {"demand", ToJson(q.demand)},
             {"used", ToJson(q.used)}};
    if (!q.leaf) continue;
    entry["amUsed"] = ToJson(q.master_used);
    entry["runnable"] = q.runnable_apps;
    entry["waiting"] = q.waiting_apps;
  }
  out["queues"] = std::move(queues);
}

void Player::DumpApps(json& out) {
  json apps = json::object();
  const scheduler::View view = core_->GetView();
  for (const scheduler::AppView& a : view.apps) {
    const auto app =
        std::find_if(app_index_.begin(), app_index_.end(), [&](const auto& entry) { return entry.second == a.app; });
    if (!apps_.contains(app->first)) continue;
    json& entry = apps[std::to_string(app->first)];
    entry = {{"fair", ToJson(a.fair_share)}, {"demand", ToJson(a.demand)}, {"used", ToJson(a.used)}};
    if (!a.runnable) entry["waiting"] = true;
  }
  out["apps"] = std::move(apps);
}

/// The order of `finished` is a Java hash order: compared as a set.
void SortFinished(json& step) {
  if (!step.contains("finished")) return;
  std::sort(step["finished"].begin(), step["finished"].end(),
            [](const json& a, const json& b) { return a.dump() < b.dump(); });
}

/// 3.3.x makes root.default first; beside that its order of leaves is that of the 3.4.3 trace it is compared with.
void DropDefaultQueue(json& step) {
  if (!step.contains("leafOrder")) return;
  std::string order = " " + step["leafOrder"].get<std::string>() + " ";
  const size_t at = order.find(" root.default ");
  if (at != std::string::npos) order.erase(at, std::string_view(" root.default").size());
  step["leafOrder"] = order;
}

/// Fields that differ, both sides.
std::string Explain(const json& ours, const json& real) {
  std::string text;
  json both = ours;
  both.update(real);
  for (const auto& [key, unused] : both.items()) {
    const json a = real.contains(key) ? real[key] : json();
    const json b = ours.contains(key) ? ours[key] : json();
    if (a == b) continue;
    if (a.is_object() && b.is_object()) {
      json members = a;
      members.update(b);
      for (const auto& [name, ignored] : members.items()) {
        const json x = a.contains(name) ? a[name] : json();
        const json y = b.contains(name) ? b[name] : json();
        if (x != y)
          text += "    " + key + " of " + name + "\n      real: " + x.dump() + "\n      ours: " + y.dump() + "\n";
      }
      continue;
    }
    text += "    " + key + "\n      real: " + a.dump() + "\n      ours: " + b.dump() + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> FairSchedulerVersions(const std::string& version) {
  if (version.starts_with("3.4.")) return {""};
  if (version == "3.3.6") return {"3.3.6", ""};
  if (version == "3.3.5") return {"3.3.5", "3.3.6", ""};
  return {};
}

Difference ReplayFairScheduler(const json& scenario, const std::vector<json>& expected, const std::string& version,
                               const std::string& trace_version, bool check_invariants) {
  Player player;
  const std::string problem = player.Start(scenario, version);
  if (!problem.empty()) return "  cannot start: " + problem;
  const json& steps = scenario.at("steps");
  if (steps.size() != expected.size()) {
    return "  " + std::to_string(steps.size()) + " steps, but " + std::to_string(expected.size()) + " recorded";
  }
  const bool trace_of_other_line = version.starts_with("3.3.") && trace_version.empty();
  for (size_t i = 0; i < steps.size(); ++i) {
    json ours = player.Play(steps[i]);
    if (ours.contains("unknown step")) return "  step " + std::to_string(i) + ": unknown step " + steps[i].dump();
    json real = expected[i];
    SortFinished(ours);
    SortFinished(real);
    if (trace_of_other_line) {
      DropDefaultQueue(ours);
      DropDefaultQueue(real);
    }
    if (ours != real) {
      return "  step " + std::to_string(i) + " differs: " + steps[i].dump() + "\n" + Explain(ours, real);
    }
    if (!check_invariants) continue;
    const std::string wrong = player.CheckInvariants();
    if (!wrong.empty()) return "  step " + std::to_string(i) + ": " + steps[i].dump() + "\n    " + wrong;
  }
  return "";
}

}  // namespace fairlead::oracle

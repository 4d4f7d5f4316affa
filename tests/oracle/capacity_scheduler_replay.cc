#include "oracle/capacity_scheduler_replay.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "config/capacity_file.h"
#include "model/scheduler.h"
#include "oracle/hadoop_replay.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::oracle {
namespace {

namespace ms = model::scheduler;
using nlohmann::json;
using scheduler::CapacityPartition;
using scheduler::QueueView;
using scheduler::yarn_capacity::YarnCapacityConfig;
using scheduler::yarn_capacity::YarnCapacityScheduler;
using Keys = std::map<std::string, std::string>;

constexpr const char* kAsynchronous = "yarn.scheduler.capacity.schedule-asynchronously.enable";

std::string TextOf(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void AddKeys(const json& object, Keys& keys) {
  for (const auto& [key, value] : object.items()) keys[key] = TextOf(value);
}

const char* JavaNameOf(int fault) {
  switch (static_cast<model::CapacityFault>(fault)) {
    case model::CapacityFault::kNumber:
      return "NumberFormatException";
    case model::CapacityFault::kArgument:
      return "IllegalArgumentException";
    case model::CapacityFault::kState:
      return "IllegalStateException";
    case model::CapacityFault::kIo:
      return "IOException";
    case model::CapacityFault::kYarn:
      return "YarnException";
    case model::CapacityFault::kRuntime:
      return "YarnRuntimeException";
    case model::CapacityFault::kNone:
      break;
  }
  return "?";
}

/// As Jackson writes a float.
json FloatToJson(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

/// Groups by user, as in "u=g1,g2;v=".
std::map<std::string, std::vector<std::string>> GroupsOf(const std::string& text) {
  std::map<std::string, std::vector<std::string>> groups;
  std::istringstream users(text);
  for (std::string user; std::getline(users, user, ';');) {
    const size_t equals = user.find('=');
    std::vector<std::string>& list = groups[user.substr(0, equals)];
    if (equals == std::string::npos) continue;
    std::istringstream names(user.substr(equals + 1));
    for (std::string name; std::getline(names, name, ',');) list.push_back(name);
  }
  return groups;
}

/// One scenario being replayed; what CapacitySchedulerOracle.java does around the real scheduler.
class Player final : public HadoopPlayer {
 public:
  /// The recorder's line when the scheduler refuses to start; null: it started.
  json Start(const json& scenario, const std::string& version);

 private:
  const scheduler::Scheduler& core() const override { return *core_; }
  scheduler::Scheduler& core() override { return *core_; }
  model::Resources FreeOf(model::NodeIndex node) const override { return core_->FreeOf(node); }
  void Describe(const ms::Granted& grant, json& out) const override;
  void Apply(const std::string& op, const json& step, json& out) override;

  void Do(const std::string& op, const json& step, json& out);
  void DoNode(const std::string& op, const json& step, json& out);
  void AddLabelledNode(const json& step);
  void SetLabel(const std::string& host, const std::string& label);
  void AddApp(const json& step, json& out);
  void Ask(const json& step, json& out);
  void Reload(const json& step, json& out);
  void Async(const json& step);
  void Preempt(json& out);
  void Move(const json& step, json& out);
  void ChangePriority(const json& step, json& out);
  void Label(model::Ask& ask, const std::string& queue) const;
  void RecordChildren(json& out);
  void DumpPartition(const CapacityPartition& partition, bool leaf, json& out) const;
  void DumpQueue(const QueueView& view, json& out) const;
  void DumpQueues(json& out) const;
  void DumpApps(json& out) const;

  std::unique_ptr<YarnCapacityScheduler> core_;
  Keys conf_;
  std::string version_;
  bool labels_on_ = false;
  bool first_ = true;
  bool checked_queues_ = false;
  std::map<std::string, std::vector<std::string>> groups_;
  std::map<std::string, std::string> label_of_host_;
  std::map<std::string, model::NodeIndex> index_of_host_;  // as last added
  uint32_t nodes_added_ = 0;
  std::map<int, std::string> queue_of_;
  std::map<std::string, std::vector<std::string>> children_;
};

json Player::Start(const json& scenario, const std::string& version) {
  Begin(scenario);
  version_ = version;
  AddKeys(scenario.value("conf", json::object()), conf_);
  if (version.starts_with("3.5.")) conf_.try_emplace(kAsynchronous, "false");  // its default became true
  std::istringstream types(conf_["yarn.resource-types"]);
  for (std::string type; std::getline(types, type, ',');) model::ResourceTypes::Add(type);
  groups_ = GroupsOf(conf_["hadoop.user.group.static.mapping.overrides"]);
  labels_on_ = conf_["yarn.node-labels.enabled"] == "true";
  base::Result<YarnCapacityConfig> config = scheduler::yarn_capacity::ReadConfig(conf_, version);
  if (!config) return {{"unreadable", config.error().message}};
  config->timed_passes = false;
  config->cap_at_largest_node = conf_["yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms"] == "-1";
  std::vector<ms::ClusterLabel> labels;
  for (const json& label : scenario.value("labels", json::array())) {
    labels.push_back({label.at("name").get<std::string>(), label.value("exclusive", true)});
  }
  Keys keys = conf_;
  AddKeys(scenario.at("capacity"), keys);
  auto core = scheduler::yarn_capacity::MakeYarnCapacity(*config, config::ReadCapacityQueues(keys), labels, now());
  if (!core) return {{"op", "init"}, {"error", JavaNameOf(core.error().code)}, {"message", core.error().message}};
  core_ = std::move(*core);
  for (const json& node : scenario.value("nodes", json::array())) AddLabelledNode(node);
  ForgetEffects();
  return nullptr;
}

void Player::Describe(const ms::Granted& grant, json& out) const {
  if (!grant.label.empty()) out["label"] = grant.label;
}

void Player::Apply(const std::string& op, const json& step, json& out) {
  json before;
  if (first_) RecordChildren(before);
  Do(op, step, out);
  if (Last<ms::CallRefused>() != nullptr) {
    const model::Refusal why = Last<ms::CallRefused>()->refused.why;
    if (op == "addApp" && why == model::Refusal::kBadQueueName) {
      out["error"] = "YarnRuntimeException";
    } else if (op == "addApp" && why != model::Refusal::kBadPlacement) {
      out["rejected"] = true;
    } else if (op == "reload") {
      out["error"] = "IOException";
    } else if (op == "addApp" || op == "move" || op == "priority") {
      out["error"] = "YarnException";
    } else {
      out["error"] = "refused";
    }
  }
  if (first_ && before.contains("childOrder")) out["childOrder"] = before["childOrder"];
  first_ = false;
  if (op == "addApp" || op == "reload" || op == "queueCheck") RecordChildren(out);  // what makes and removes queues
}

void Player::Do(const std::string& op, const json& step, json& out) {
  if (op == "addApp") return AddApp(step, out);
  if (op == "ask") return Ask(step, out);
  if (op == "hb") return Heartbeat(step, out);
  if (op == "async") return Async(step);
  if (op == "preempt") return Preempt(out);
  if (op == "endApp") return EndApp(step.at("app").get<int>());
  if (op == "move") return Move(step, out);
  if (op == "priority") return ChangePriority(step, out);
  if (op == "acquire") return Acquire(step.at("app").get<int>());
  if (op == "reload") return Reload(step, out);
  if (op == "dump") {
    DumpQueues(out);
    DumpApps(out);
  } else if (op == "queueCheck") {
    // The recorder makes its policy now, which looks at the queues once on its own.
    if (!std::exchange(checked_queues_, true)) RunPass(ms::PassKind::kQueueCheck);
    RunPass(ms::PassKind::kQueueCheck);
    DumpQueues(out);
  } else if (op == "clock") {
    MoveClock(step.at("ms").get<int64_t>());
    out["t"] = now_ms();
  } else {
    DoNode(op, step, out);
  }
}

void Player::DoNode(const std::string& op, const json& step, json& out) {
  if (op == "addNode") {
    AddLabelledNode(step);
  } else if (op == "addLabels") {
    ms::LabelsAdded added;
    for (const json& label : step.at("labels")) {
      added.labels.push_back({label.at("name").get<std::string>(), label.value("exclusive", true)});
    }
    Send(added);
  } else if (op == "nodeLabel") {
    SetLabel(step.at("node").get<std::string>(), step.at("label").get<std::string>());
  } else if (op == "removeNode" || op == "resizeNode") {
    const std::optional<model::NodeIndex> node = NodeOf(step.at("node").get<std::string>(), out);
    if (!node) return;
    if (op == "removeNode") {
      index_of_host_.erase(step.at("node").get<std::string>());
      RemoveNode(*node);
    } else {
      Send(ms::NodeResized{*node, SizeOf(step)});
    }
  } else {
    out["unknown step"] = op;
  }
}

/// The label manager keeps a host's label while the node is away.
void Player::AddLabelledNode(const json& step) {
  const std::string host = step.at("host").get<std::string>();
  if (step.contains("label")) SetLabel(host, step["label"].get<std::string>());
  const std::string label = label_of_host_[host];
  index_of_host_[host] = model::NodeIndex{nodes_added_++};
  AddNode(step, label.empty() ? std::vector<std::string>() : std::vector<std::string>{label});
}

void Player::SetLabel(const std::string& host, const std::string& label) {
  std::string& known = label_of_host_[host];
  if (known == label) return;
  known = label;
  const auto node = index_of_host_.find(host);
  if (node != index_of_host_.end()) Send(ms::NodeRelabelled{node->second, label});
}

void Player::AddApp(const json& step, json& out) {
  const int number = step.at("app").get<int>();
  ms::AppAdded added;
  added.app = AppOf(number);
  added.id = AttemptOf(number).app;
  added.queue = step.value("queue", "default");
  added.user = step.value("user", "u");
  added.name = step.value("name", "app");
  added.groups = groups_[added.user];
  added.priority_given = step.contains("priority");
  added.priority = step.value("priority", 0);
  added.place = step.value("place", false);
  added.unmanaged = step.value("unmanaged", false);
  const bool has_master = step.contains("am") && !added.unmanaged;
  if (has_master) {
    model::Ask ask;
    ask.name = "*";
    ask.capability = SizeOf(step["am"]);
    ask.count = 1;
    if (labels_on_) ask.label = step["am"].value("label", "");
    added.master_asks.push_back(ask);
  }
  Send(added);
  if (const auto* placed = Last<ms::AppPlaced>()) out["placed"] = placed->queue;
  const auto* accepted = Last<ms::AppAccepted>();
  if (accepted == nullptr) return;
  const std::string queue = accepted->queue;
  queue_of_[number] = queue;
  out["queue"] = queue;
  if (accepted->priority.value_or(0) != 0) out["priority"] = *accepted->priority;
  Know(number);
  Send(ms::AttemptAdded{added.app, 1, false});
  out["state"] = EnumName(core_->GetApp(added.app).standing);
  if (!has_master) return;
  Label(added.master_asks.front(), queue);
  Send(ms::Allocate{added.app, 1, added.master_asks, {}, {}, {}});
}

/// What the resource manager does with an ask before it reaches the scheduler, as far as labels go.
void Player::Label(model::Ask& ask, const std::string& queue) const {
  if (!labels_on_) {
    ask.label.clear();
  } else if (ask.label.empty() && ask.name == "*") {
    ask.label = core_->DefaultLabelOf(queue);
  }
}

void Player::Ask(const json& step, json& out) {
  ms::Allocate call = CallOf(step);
  const auto queue = queue_of_.find(step.at("app").get<int>());
  for (model::Ask& ask : call.asks) Label(ask, queue == queue_of_.end() ? "" : queue->second);
  Send(call);
  if (const auto* answer = Last<ms::AllocateAnswered>()) out["headroom"] = ToJson(answer->headroom);
  std::vector<model::ContainerId> warned;
  for (const ms::Effect& effect : effects()) {
    if (const auto* notice = std::get_if<ms::PreemptionNotice>(&effect)) warned.push_back(notice->container);
  }
  std::sort(warned.begin(), warned.end());
  for (const model::ContainerId& container : warned) out["toPreempt"].push_back(NameOf(container));
}

void Player::Reload(const json& step, json& out) {
  Keys keys = conf_;
  AddKeys(step.at("capacity"), keys);
  Send(ms::QueuesReloaded{config::CapacityTree(keys)});
  DumpQueues(out);
}

void Player::Async(const json& step) {
  ms::ProposalPass pass;
  for (const json& host : step.at("nodes")) {
    const auto node = index_of_host_.find(host.get<std::string>());
    if (node != index_of_host_.end()) pass.nodes.push_back(node->second);
  }
  Send(pass);
}

void Player::Preempt(json& out) {
  RunPass(ms::PassKind::kPreempt);
  if (const auto* failed = Last<ms::RoundFailed>()) {
    const bool nobody = failed->why.starts_with(scheduler::yarn_capacity::kNobodyThere);
    out["error"] = nobody ? "NullPointerException" : "YarnRuntimeException";
    return;
  }
  std::map<std::string, std::set<std::string>> decided;
  for (const ms::Effect& effect : effects()) {
    if (const auto* one = std::get_if<ms::PreemptionDecided>(&effect)) {
      decided[std::string(EnumName(one->step))].insert(NameOf(one->container));
    }
  }
  for (const auto& [how, names] : decided) out[how] = names;
}

void Player::Move(const json& step, json& out) {
  const int number = step.at("app").get<int>();
  Send(ms::AppMoved{AppOf(number), 1, step.at("queue").get<std::string>()});
  const auto* moved = Last<ms::MoveAnswered>();
  if (moved == nullptr) return;
  out["queue"] = moved->queue;
  queue_of_[number] = moved->queue;
}

void Player::ChangePriority(const json& step, json& out) {
  Send(ms::AppPriority{AppOf(step.at("app").get<int>()), step.at("priority").get<int32_t>()});
  if (const auto* changed = Last<ms::PriorityAnswered>()) out["priority"] = changed->priority.value();
}

void Player::RecordChildren(json& out) {
  for (const QueueView& queue : core_->GetQueues().queues) {
    if (queue.leaf) continue;
    const auto [known, is_new] = children_.try_emplace(queue.name);
    if (!is_new && known->second == queue.capacity->children) continue;
    known->second = queue.capacity->children;
    out["childOrder"][queue.name] = queue.capacity->children;
  }
}

void Player::DumpPartition(const CapacityPartition& p, bool leaf, json& out) const {
  out["abs"] = FloatToJson(p.absolute);
  out["absMax"] = FloatToJson(p.absolute_maximum);
  out["usedCap"] = FloatToJson(p.used_share);
  out["absUsed"] = FloatToJson(p.absolute_used);
  out["min"] = ToJson(p.effective_min);
  out["max"] = ToJson(p.effective_max);
  out["used"] = ToJson(p.used);
  out["wanted"] = ToJson(p.pending);
  out["reservedRes"] = ToJson(p.reserved);
  if (!leaf) return;
  out["amUsed"] = ToJson(p.masters_used);
  out["amLimit"] = ToJson(p.masters_limit);
}

void Player::DumpQueue(const QueueView& view, json& out) const {
  const scheduler::CapacityView& queue = *view.capacity;
  if (queue.state != model::CapacityQueueState::kRunning) out["state"] = EnumName(queue.state);
  for (const auto& [label, partition] : queue.partitions) {
    if (label.empty()) {
      DumpPartition(partition, view.leaf, out);
    } else if (labels_on_) {
      DumpPartition(partition, view.leaf, out["labels"][label]);
    }
  }
  out["apps"] = queue.apps;
  if (!view.leaf) return;
  out["active"] = queue.active_apps;
  out["pending"] = queue.pending_apps;
  out["maxApps"] = queue.max_apps;
  out["maxAppsPerUser"] = queue.max_apps_per_user;
  for (const auto& [name, user] : queue.users) {
    out["users"][name] = {{"used", ToJson(user.used)},   {"amUsed", ToJson(user.masters_used)},
                          {"active", user.active_apps},  {"pending", user.pending_apps},
                          {"limit", ToJson(user.limit)}, {"weight", FloatToJson(user.weight)}};
  }
}

void Player::DumpQueues(json& out) const {
  json queues = json::object();
  for (const QueueView& queue : core_->GetQueues().queues) DumpQueue(queue, queues[queue.name]);
  out["queues"] = std::move(queues);
}

void Player::DumpApps(json& out) const {
  json all = json::object();
  for (const int number : apps()) {
    const auto app = core_->GetApp(IndexOf(number));
    json& entry = all[std::to_string(number)];
    entry = {{"state", EnumName(app.standing)}, {"used", ToJson(app.used)}, {"reservedRes", ToJson(app.reserved)}};
    if (app.priority != 0) entry["priority"] = app.priority;
  }
  out["apps"] = std::move(all);
}

/// Shares are floats, written in the fewest digits that give them back.
void NarrowFloats(json& value) {
  if (!value.is_structured()) return;
  for (auto& [key, part] : value.items()) {
    const bool share = key == "abs" || key == "absMax" || key == "usedCap" || key == "absUsed" || key == "weight";
    if (share && part.is_number()) {
      part = part.get<float>();
    } else {
      NarrowFloats(part);
    }
  }
}

Difference ReplayHere(const json& scenario, const std::vector<json>& expected, const std::string& version,
                      bool check_invariants) {
  Player player;
  json refused = player.Start(scenario, version);
  const bool refused_there = expected.size() == 1 && expected[0].value("op", "") == "init";
  if (refused.is_null() && refused_there) return "  starts here; real: " + expected[0].dump();
  if (refused.is_null()) return PlayAll(player, scenario, expected, check_invariants, NarrowFloats);
  const std::string message = refused.value("message", "");
  refused.erase("message");
  if (refused_there && refused == expected[0]) return "";
  return "  cannot start: " + refused.dump() + " " + message + (refused_there ? "; real: " + expected[0].dump() : "");
}

/// Resource types are known to the whole process and never forgotten: a scenario with some has one of its own.
Difference ReplayApart(const std::function<Difference()>& replay) {
  int ends[2];
  if (pipe(ends) != 0) return "  no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const Difference difference = replay();
    const bool written =
        write(ends[1], difference.data(), difference.size()) == static_cast<ssize_t>(difference.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Difference difference;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    difference.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return "  the replay ended early\n" + difference;
  return difference;
}

}  // namespace

std::vector<std::string> CapacitySchedulerVersions(const std::string& version) {
  if (version.starts_with("3.4.")) return {""};
  if (version == "3.3.6") return {"3.3.6", ""};
  if (version == "3.5.0") return {"3.5.0", ""};
  return {};
}

Difference ReplayCapacityScheduler(const json& scenario, const std::vector<json>& expected, const std::string& version,
                                   const std::string&, bool check_invariants) {
  const auto replay = [&] { return ReplayHere(scenario, expected, version, check_invariants); };
  const bool types = scenario.value("conf", json::object()).contains("yarn.resource-types");
  return types ? ReplayApart(replay) : replay();
}

}  // namespace fairlead::oracle

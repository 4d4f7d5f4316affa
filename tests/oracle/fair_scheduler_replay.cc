#include "oracle/fair_scheduler_replay.h"

#include <map>
#include <memory>
#include <optional>

#include "config/allocation_file.h"
#include "model/scheduler.h"
#include "oracle/hadoop_replay.h"
#include "scheduler/yarn_fair/yarn_fair.h"

namespace fairlead::oracle {
namespace {

namespace ms = model::scheduler;
using nlohmann::json;
using scheduler::yarn_fair::YarnFairConfig;
using scheduler::yarn_fair::YarnFairScheduler;

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
class Player final : public HadoopPlayer {
 public:
  /// Empty, or why the scenario cannot start.
  std::string Start(const json& scenario, const std::string& version);

 private:
  const scheduler::Scheduler& core() const override { return *core_; }
  scheduler::Scheduler& core() override { return *core_; }
  model::Resources FreeOf(model::NodeIndex node) const override { return core_->FreeOf(node); }
  void Apply(const std::string& op, const json& step, json& out) override;

  base::Result<YarnFairConfig> ReadConf(const json& scenario, const std::string& version);
  void Do(const std::string& op, const json& step, json& out);
  void AddApp(const json& step, json& out);
  void Ask(const json& step, json& out);
  void Reload(const json& step, json& out);
  void Preempt(json& out);
  void DumpQueues(json& out);
  void DumpApps(json& out);

  std::unique_ptr<YarnFairScheduler> core_;
  YarnFairConfig config_;
  std::string leaf_order_;
};

std::string Player::Start(const json& scenario, const std::string& version) {
  Begin(scenario);
  base::Result<YarnFairConfig> config = ReadConf(scenario, version);
  if (!config) return config.error().message;
  config_ = *config;
  const base::Result<config::AllocationFile> file =
      config::ParseAllocationFile(scenario.at("allocations").get<std::string>());
  if (!file) return file.error().message;
  core_ = scheduler::yarn_fair::MakeYarnFair(config_, file->tree, now());
  for (const json& node : scenario.value("nodes", json::array())) AddNode(node, {});
  ForgetEffects();
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

void Player::Apply(const std::string& op, const json& step, json& out) {
  Do(op, step, out);
  if (Last<ms::ReloadCutShort>() != nullptr) out["error"] = "NullPointerException";
  if (const auto* call = Last<ms::CallRefused>()) {
    const std::string thrown = ThrownBy(call->refused.why);
    out[thrown.empty() ? "rejected" : "error"] = thrown.empty() ? json(true) : json(thrown);
  }
}

void Player::Do(const std::string& op, const json& step, json& out) {
  if (op == "addApp") return AddApp(step, out);
  if (op == "ask") return Ask(step, out);
  if (op == "hb") return Heartbeat(step, out);
  if (op == "addNode") return AddNode(step, {});
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
    MoveClock(step.at("ms").get<int64_t>());
    out["t"] = now_ms();
    RunPass(ms::PassKind::kTimers);
  } else if (op == "endApp") {
    EndApp(step.at("app").get<int>());
  } else if (op == "move") {
    Send(ms::AppMoved{AppOf(step.at("app").get<int>()), 1, step.at("queue").get<std::string>()});
  } else if (op == "removeNode" || op == "resizeNode") {
    const std::optional<model::NodeIndex> node = NodeOf(step.at("node").get<std::string>(), out);
    if (!node) return;
    if (op == "resizeNode") {
      Send(ms::NodeResized{*node, SizeOf(step)});
    } else {
      RemoveNode(*node);
    }
  } else {
    out["unknown step"] = op;
  }
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
  Know(number);
  Send(ms::AttemptAdded{added.app, 1, false});
  if (!added.master_asks.empty()) Send(ms::Allocate{added.app, 1, added.master_asks, {}, {}, {}});
}

void Player::Ask(const json& step, json& out) {
  Send(CallOf(step));
  if (const auto* answer = Last<ms::AllocateAnswered>()) out["headroom"] = ToJson(answer->headroom);
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
  for (const ms::Effect& effect : effects()) {
    const auto* chosen = std::get_if<ms::VictimsChosen>(&effect);
    if (chosen == nullptr) continue;
    json victims = json::array();
    for (const model::ContainerId& victim : chosen->victims) victims.push_back(NameOf(victim));
    out["preempted"].push_back(
        {{"app", NumberOf(chosen->app)}, {"starvation", ToJson(chosen->starvation)}, {"victims", std::move(victims)}});
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
  json all = json::object();
  const scheduler::View view = core_->GetView();
  for (const scheduler::AppView& a : view.apps) {
    const int app = NumberOf(a.app);
    if (!apps().contains(app)) continue;
    json& entry = all[std::to_string(app)];
    entry = {{"fair", ToJson(a.fair_share)}, {"demand", ToJson(a.demand)}, {"used", ToJson(a.used)}};
    if (!a.runnable) entry["waiting"] = true;
  }
  out["apps"] = std::move(all);
}

/// 3.3.x makes root.default first; beside that its order of leaves is that of the 3.4.3 trace it is compared with.
void DropDefaultQueue(json& step) {
  if (!step.contains("leafOrder")) return;
  std::string order = " " + step["leafOrder"].get<std::string>() + " ";
  const size_t at = order.find(" root.default ");
  if (at != std::string::npos) order.erase(at, std::string_view(" root.default").size());
  step["leafOrder"] = order;
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
  const bool trace_of_other_line = version.starts_with("3.3.") && trace_version.empty();
  return PlayAll(player, scenario, expected, check_invariants, trace_of_other_line ? DropDefaultQueue : nullptr);
}

}  // namespace fairlead::oracle

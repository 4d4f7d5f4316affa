#include "oracle/hadoop_replay.h"

#include <algorithm>
#include <optional>
#include <span>

namespace fairlead::oracle {
namespace {

namespace ms = model::scheduler;
using nlohmann::json;

/// The order of `finished` is a Java hash order: compared as a set.
void SortFinished(json& step) {
  if (!step.contains("finished")) return;
  std::sort(step["finished"].begin(), step["finished"].end(),
            [](const json& a, const json& b) { return a.dump() < b.dump(); });
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

json ToJson(const model::Resources& r) {
  json array = json::array();
  for (size_t i = 0; i < model::ResourceTypes::Count(); ++i) array.push_back(r[i]);
  return array;
}

model::Resources SizeOf(const json& thing) {
  model::Resources r = model::Resources::Of(thing.at("mem").get<int64_t>(), thing.at("vc").get<int64_t>());
  if (thing.contains("ext")) {
    for (const auto& [name, value] : thing["ext"].items()) {
      const int type = model::ResourceTypes::Find(name);
      if (type >= 0) r[static_cast<size_t>(type)] = value.get<int64_t>();
    }
  }
  return r;
}

std::vector<std::string> StringsOf(const json& step, const char* key) {
  return step.value(key, std::vector<std::string>());
}

void HadoopPlayer::Begin(const json& scenario) {
  timestamp_ = scenario.value("clusterTimestamp", int64_t{1700000000000});
  auto_acquire_ = scenario.value("acquire", "auto") != "manual";
  now_ms_ = scenario.value("clock", int64_t{0});
}

json HadoopPlayer::Play(const json& step) {
  effects_.clear();
  reserved_before_ = reserved_;
  const std::string op = step.at("op").get<std::string>();
  json out = {{"i", index_++}, {"op", op}, {"t", now_ms_}};
  Apply(op, step, out);
  Record(out);
  return out;
}

void HadoopPlayer::Send(ms::Event event) { core().Step(now(), std::span<const ms::Event>(&event, 1), effects_); }

std::optional<model::NodeIndex> HadoopPlayer::NodeOf(const std::string& host, json& out) const {
  const auto node = nodes_.find(host);
  if (node != nodes_.end()) return node->second;
  out["error"] = "NullPointerException";
  return std::nullopt;
}

void HadoopPlayer::AddNode(const json& step, const std::vector<std::string>& labels) {
  const std::string host = step.at("host").get<std::string>();
  const model::NodeIndex index{static_cast<uint32_t>(hosts_.size())};
  hosts_.push_back(host);
  nodes_[host] = index;
  Send(ms::NodeAdded{index, host, 1, step.at("rack").get<std::string>(), SizeOf(step), labels});
}

void HadoopPlayer::RemoveNode(model::NodeIndex node) {
  Send(ms::NodeRemoved{node});
  nodes_.erase(hosts_[node.value]);
}

void HadoopPlayer::Heartbeat(const json& step, json& out) {
  const std::optional<model::NodeIndex> node = NodeOf(step.at("node").get<std::string>(), out);
  if (!node) return;
  ms::NodeUpdated update;
  update.node = *node;
  for (const std::string& c : StringsOf(step, "launched")) update.launched.push_back(ContainerOf(c));
  for (const std::string& c : StringsOf(step, "completed")) update.completed.push_back({ContainerOf(c), 0});
  Send(update);
  out["free"] = ToJson(FreeOf(*node));
}

ms::Allocate HadoopPlayer::CallOf(const json& step) {
  ms::Allocate call;
  call.app = AppOf(step.at("app").get<int>());
  for (const json& a : step.value("asks", json::array())) {
    model::Ask ask;
    ask.priority = a.at("p").get<int32_t>();
    ask.allocation_request_id = a.value("id", int64_t{0});
    ask.name = a.value("name", "*");
    ask.relax_locality = a.value("relax", true);
    ask.label = a.value("label", "");
    ask.capability = SizeOf(a);
    ask.count = a.at("n").get<int32_t>();
    call.asks.push_back(ask);
  }
  for (const std::string& c : StringsOf(step, "release")) call.releases.push_back(ContainerOf(c));
  call.blacklist_add = StringsOf(step, "blacklistAdd");
  call.blacklist_remove = StringsOf(step, "blacklistRemove");
  return call;
}

void HadoopPlayer::EndApp(int number) {
  apps_.erase(number);
  Send(ms::AttemptRemoved{AppOf(number), 1, false});
  Send(ms::AppRemoved{AppOf(number)});
}

void HadoopPlayer::Acquire(int number) {
  Send(ms::Acquired{AppOf(number), fresh_[number]});
  fresh_.erase(number);
}

model::AppIndex HadoopPlayer::AppOf(int number) {
  return app_index_.try_emplace(number, model::AppIndex{static_cast<uint32_t>(app_index_.size())}).first->second;
}

int HadoopPlayer::NumberOf(model::AppIndex app) const {
  const auto found =
      std::find_if(app_index_.begin(), app_index_.end(), [&](const auto& entry) { return entry.second == app; });
  return found == app_index_.end() ? 0 : found->first;
}

model::ContainerId HadoopPlayer::ContainerOf(const std::string& name) const {
  const size_t colon = name.find(':');
  return {AttemptOf(std::stoi(name.substr(0, colon))), std::stoll(name.substr(colon + 1))};
}

std::string HadoopPlayer::NameOf(const model::ContainerId& id) {
  return std::to_string(id.attempt.app.number) + ":" + std::to_string(id.value);
}

void HadoopPlayer::Describe(const ms::Granted&, json&) const {}

json HadoopPlayer::Describe(const ms::Granted& grant) const {
  json d = {{"c", NameOf(grant.container)},
            {"p", grant.priority},
            {"node", hosts_[grant.node.value]},
            {"res", ToJson(grant.resources)},
            {"loc", EnumName(grant.locality)}};
  const auto before = reserved_before_.find(hosts_[grant.node.value]);
  if (before != reserved_before_.end() && before->second.name == NameOf(grant.container)) d["fromReservation"] = true;
  if (grant.is_master) d["am"] = true;
  Describe(grant, d);
  return d;
}

void HadoopPlayer::Record(json& out) {
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
  RecordReservations(out);
  if (!auto_acquire_) return;
  for (const int app : granted) {
    if (apps_.contains(app)) Acquire(app);
  }
}

void HadoopPlayer::RecordReservations(json& out) const {
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
}

Difference PlayAll(HadoopPlayer& player, const json& scenario, const std::vector<json>& expected, bool check_invariants,
                   const std::function<void(json& step)>& adjust) {
  const json& steps = scenario.at("steps");
  if (steps.size() != expected.size()) {
    return "  " + std::to_string(steps.size()) + " steps, but " + std::to_string(expected.size()) + " recorded";
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    json ours = player.Play(steps[i]);
    if (ours.contains("unknown step")) return "  step " + std::to_string(i) + ": unknown step " + steps[i].dump();
    json real = expected[i];
    for (json* side : {&ours, &real}) {
      SortFinished(*side);
      if (adjust) adjust(*side);
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

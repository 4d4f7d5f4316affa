#include "oracle/tdw_replay.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "model/scheduler.h"
#include "profiles/profile.h"
#include "scheduler/scheduler.h"
#include "tasks/hash_order.h"

namespace fairlead::oracle {
namespace {

namespace ev = model::scheduler;
using nlohmann::json;

constexpr int32_t kReducePriority = 10;

/// The article's notifiers: what was granted to a session and taken from it since it was last told, in one message.
/// Each session belongs to one of a fixed number of threads, by the hash of its name; a thread tells its sessions in
/// the order in which they first had something.
class Notices {
 public:
  struct Message {
    size_t thread = 0;
    model::AppIndex session;
    std::vector<model::ContainerId> granted;
    std::vector<model::ContainerId> preempted;
  };

  explicit Notices(size_t threads) : threads_(threads) {}

  Message& Of(model::AppIndex session, const model::ContainerId& container) {
    const int32_t hash = tasks::JavaHash(model::ToString(container.attempt.app));
    const size_t thread = static_cast<size_t>(hash & INT32_MAX) % threads_.size();
    std::vector<Message>& messages = threads_[thread];
    const auto at =
        std::find_if(messages.begin(), messages.end(), [&](const Message& one) { return one.session == session; });
    return at != messages.end() ? *at : messages.emplace_back(Message{thread, session, {}, {}});
  }
  /// What every thread tells when it looks, the first thread first.
  std::vector<Message> Take() {
    std::vector<Message> all;
    for (std::vector<Message>& messages : threads_) {
      std::move(messages.begin(), messages.end(), std::back_inserter(all));
      messages.clear();
    }
    return all;
  }

 private:
  std::vector<std::vector<Message>> threads_;  // in order of the first notice
};

std::string TypeOf(int32_t priority, bool master) {
  return master ? "jobtracker" : priority == kReducePriority ? "reduce" : "map";
}

/// {"mem": 1024, "vc": 1, "disk": 10, "net": 50}.
model::Resources AmountOf(const json& value) {
  model::Resources amount = model::Resources::Of(value.value("mem", int64_t{0}), value.value("vc", int64_t{0}));
  amount[static_cast<size_t>(model::ResourceTypes::Add("disk"))] = value.value("disk", int64_t{0});
  amount[static_cast<size_t>(model::ResourceTypes::Add("net"))] = value.value("net", int64_t{0});
  return amount;
}

/// A group or pool as a queue; min and max count tasks, that is vcores.
model::QueueConfig QueueOf(const std::string& name, const json& value, bool parent) {
  model::QueueConfig queue;
  queue.name = name;
  queue.parent_type = parent;
  queue.weight = value.value("weight", 1.0);
  queue.policy = value.value("order", "FAIR") == "FIFO" ? "fifo" : "fair";
  if (value.contains("min")) queue.min_resources = {{{"vcores", value["min"].get<int64_t>()}}, {}, 0};
  if (value.contains("max")) queue.max_resources = {{{"vcores", value["max"].get<int64_t>()}}, {}, INT64_MAX};
  if (!value.value("preemptable", true)) queue.allow_preemption_from = false;
  queue.priority = value.value("priority", 0);
  queue.start_time = value.value("start", int64_t{0});
  return queue;
}

model::QueueTree QueuesOf(const json& conf) {
  model::QueueTree tree;
  tree.queue_max_am_share_default = -1.0;
  model::QueueConfig root;
  root.name = "root";
  root.parent_type = true;
  root.policy = conf.value("order", "FAIR") == "FIFO" ? "fifo" : "fair";
  tree.queues.push_back(root);
  for (const json& group : conf.at("groups")) {
    const std::string name = "root." + group.at("name").get<std::string>();
    tree.queues.push_back(QueueOf(name, group, true));
    for (const json& pool : group.at("pools")) {
      tree.queues.push_back(QueueOf(name + "." + pool.at("name").get<std::string>(), pool, false));
    }
  }
  return tree;
}

config::HadoopConf KeysOf(const json& conf) {
  const json preemption = conf.value("preemption", json::object());
  const auto text = [](bool on) { return on ? "true" : "false"; };
  const std::pair<const char*, std::string> keys[] = {
      {"yarn.scheduler.minimum-allocation-mb", "0"},
      {"yarn.scheduler.minimum-allocation-vcores", "0"},
      {"yarn.scheduler.increment-allocation-mb", "1"},
      {"yarn.scheduler.maximum-allocation-mb", "1048576"},
      {"yarn.scheduler.maximum-allocation-vcores", "100000"},
      {"fairlead.scheduler.keys-per-app", "1000000"},
      {"fairlead.scheduler.sizes-per-app", "100000"},
      {"fairlead.scheduler.cluster-master-share", std::to_string(conf.value("masterShare", 1000))},
      {"fairlead.scheduler.tdw.round-limit", std::to_string(conf.value("roundLimit", 5000))},
      {"fairlead.scheduler.tdw.round-interval-ms", "0"},
      {"fairlead.scheduler.tdw.victim-age-ms", std::to_string(preemption.value("window", 300000))},
      {"fairlead.scheduler.tdw.over-kill", text(preemption.value("overKill", false))},
      {"fairlead.scheduler.tdw.ask-again", "false"},
      {"yarn.scheduler.fair.preemption", text(preemption.value("on", false))},
  };
  config::HadoopConf out;
  for (const auto& [key, value] : keys) out.Set(key, value);
  const std::string tdw = "fairlead.scheduler.tdw.";
  const auto set = [&](const std::string& key, const json& from, const char* field) {
    if (from.contains(field)) out.Set(tdw + key, std::to_string(from[field].get<int64_t>()));
  };
  out.Set(tdw + "network-type", "net");
  out.Set(tdw + "test-network", text(conf.value("testNetwork", false)));
  const json amounts = conf.value("amounts", json::object());
  for (const auto& [type, amount] : amounts.items()) {
    set(type + ".vcores", amount, "vc");
    set(type + ".network", amount, "net");
    set(type + ".disk", amount, "disk");
  }
  const json memory = conf.value("jobtrackerMemory", json::object());
  set("jobtracker.memory-base-mb", memory, "base");
  set("jobtracker.memory-per-map-mb", memory, "perMap");
  set("jobtracker.memory-per-reduce-mb", memory, "perReduce");
  set("jobtracker.memory-most-mb", memory, "max");
  return out;
}

class Player {
 public:
  std::string Play(const json& scenario, const std::vector<json>& expected);

 private:
  struct Session {
    model::AppIndex index;
    std::string pool;
    std::map<std::string, int64_t> waiting;  // by type
  };
  struct Container {
    int app = 0;
    std::string type;
    model::NodeIndex node;
    std::string host;
    model::ContainerId id;
  };

  void Do(const json& step);
  void AddNode(const json& node);
  void RemoveNode(const std::string& host);
  void AddSession(const json& step);
  void EndSession(int app);
  void Ask(const json& step);
  void Complete(const json& step);
  void Step();
  std::string Compare(const json& expected) const;
  json PoolsNow() const;
  json NodesNow() const;
  json Sent();

  std::unique_ptr<scheduler::Scheduler> core_;
  int64_t timestamp_ = 0;
  int64_t now_ms_ = 0;
  std::vector<ev::Event> batch_;
  std::map<int, Session> sessions_;
  std::vector<int> apps_;           // by index
  std::vector<std::string> hosts_;  // by node index
  std::map<std::string, model::NodeIndex> nodes_;
  std::map<std::string, std::string> racks_;
  std::map<std::string, Container> live_;  // by name
  json grants_;                            // of the last round
  json victims_;
  Notices notices_{1};
};

void Player::AddNode(const json& node) {
  const std::string host = node.at("host");
  const model::NodeIndex index{static_cast<uint32_t>(hosts_.size())};
  hosts_.push_back(host);
  nodes_[host] = index;
  racks_[host] = node.value("rack", "/r0");
  batch_.emplace_back(ev::NodeAdded{index, host, 1, racks_[host], AmountOf(node), {}});
}

void Player::RemoveNode(const std::string& host) {
  batch_.emplace_back(ev::NodeRemoved{nodes_.at(host)});
  nodes_.erase(host);
}

void Player::AddSession(const json& step) {
  const int app = step.at("app");
  Session& session = sessions_[app];
  session.index = {static_cast<uint32_t>(apps_.size())};
  session.pool = step.at("pool");
  session.waiting["jobtracker"] = 1;
  apps_.push_back(app);
  ev::AppAdded added;
  added.app = session.index;
  added.id = {timestamp_, app};
  added.queue = "root." + session.pool;
  added.user = "user";
  added.priority = step.value("priority", 0);
  added.place = false;
  added.submitted = {step.value("start", now_ms_)};
  added.session.preemptable = step.value("preemptable", true);
  added.session.maps = step.value("maps", 0);
  added.session.reduces = step.value("reduces", 0);
  const model::Ask master{0, 0, "*", true, AmountOf(step.at("am")), 1, ""};
  added.master_asks = {master};
  ev::Allocate call;
  call.app = session.index;
  call.asks = {master};
  batch_.insert(batch_.end(), {added, ev::AttemptAdded{session.index, 1, false}, call});
}

void Player::EndSession(int app) {
  const model::AppIndex index = sessions_.at(app).index;
  batch_.insert(batch_.end(), {ev::AttemptRemoved{index, 1, false}, ev::AppRemoved{index}});
  sessions_.erase(app);
}

void Player::Ask(const json& step) {
  Session& session = sessions_.at(step.at("app").get<int>());
  ev::Allocate call;
  call.app = session.index;
  for (const json& host : step.value("blacklistAdd", json::array())) call.blacklist_add.push_back(host);
  for (const json& host : step.value("blacklistRemove", json::array())) call.blacklist_remove.push_back(host);
  for (const json& ask : step.value("asks", json::array())) {
    const bool relax = !ask.value("strict", false);
    const int32_t priority = ask.at("p");
    const int32_t count = ask.at("n");
    const auto add = [&](const std::string& name, bool relaxed) {
      call.asks.push_back({priority, ask.at("id").get<int64_t>(), name, relaxed, AmountOf(ask), count, ""});
    };
    std::set<std::string> racks;
    for (const std::string host : ask.value("hosts", json::array())) {
      add(host, true);
      if (racks_.contains(host)) racks.insert(racks_.at(host));
    }
    for (const std::string& rack : racks) add(rack, relax);
    add("*", relax);
    if (ask.contains("exclude")) {
      call.exclusions.push_back({priority, ask.at("id"), ask["exclude"].get<std::vector<std::string>>()});
    }
    session.waiting[TypeOf(priority, false)] += count;
  }
  batch_.emplace_back(std::move(call));
}

/// Containers that end by themselves, or that their session gives back: both are free at once.
void Player::Complete(const json& step) {
  ev::Allocate releases;
  for (const std::string name : step.at("c")) {
    const Container& container = live_.at(name);
    if (step.at("op") == "release") {
      releases.app = sessions_.at(container.app).index;
      releases.releases.push_back(container.id);
    } else {
      batch_.emplace_back(ev::NodeUpdated{container.node, {}, {{container.id, 0}}});
    }
  }
  if (!releases.releases.empty()) batch_.emplace_back(std::move(releases));
}

void Player::Do(const json& step) {
  const std::string op = step.at("op");
  if (op == "addNode") return AddNode(step);
  if (op == "removeNode") return RemoveNode(step.at("host"));
  if (op == "addSession") return AddSession(step);
  if (op == "endSession") return EndSession(step.at("app"));
  if (op == "ask") return Ask(step);
  if (op == "complete" || op == "release") return Complete(step);
  if (op == "clock") now_ms_ += step.at("ms").get<int64_t>();
  if (op == "round") Step();
}

void Player::Step() {
  scheduler::EffectSink effects;
  core_->Step(base::Instant{now_ms_ * 1'000'000}, batch_, effects);
  batch_.clear();
  grants_ = json::array();
  victims_ = json::array();
  for (const ev::Effect& effect : effects) {
    if (const auto* grant = std::get_if<ev::Granted>(&effect)) {
      const int app = apps_[grant->app.value];
      const std::string name = std::to_string(app) + ":" + std::to_string(grant->container.value);
      const std::string type = TypeOf(grant->priority, grant->is_master);
      live_[name] = {app, type, grant->node, hosts_[grant->node.value], grant->container};
      --sessions_.at(app).waiting[type];
      notices_.Of(grant->app, grant->container).granted.push_back(grant->container);
      grants_.push_back({{"c", name}, {"type", type}, {"node", hosts_[grant->node.value]}});
    } else if (const auto* finished = std::get_if<ev::Finished>(&effect)) {
      const std::string name =
          std::to_string(apps_[finished->app.value]) + ":" + std::to_string(finished->container.value);
      if (finished->exit_status == model::kExitPreempted) {
        victims_.push_back(name);
        notices_.Of(finished->app, finished->container).preempted.push_back(finished->container);
      }
      live_.erase(name);
    }
  }
}

/// [granted, waiting] of each pool and type that has any.
json Player::PoolsNow() const {
  std::map<std::string, std::map<std::string, std::array<int64_t, 2>>> sums;
  for (const auto& [name, container] : live_) ++sums[sessions_.at(container.app).pool][container.type][0];
  for (const auto& [app, session] : sessions_) {
    for (const auto& [type, count] : session.waiting) sums[session.pool][type][1] += count;
  }
  json out = json::object();
  for (const auto& [pool, types] : sums) {
    for (const auto& [type, counts] : types) {
      if (counts[0] != 0 || counts[1] != 0) out[pool][type] = counts;
    }
  }
  return out;
}

json Player::NodesNow() const {
  json out = json::object();
  for (const scheduler::NodeView& node : core_->GetView().nodes) {
    const std::string& host = hosts_[node.node.value];
    if (node.used.IsZero()) continue;
    out[host] = {{"mem", node.used.memory_mib()}, {"vc", node.used.vcores()}};
    for (const char* type : {"disk", "net"}) {
      out[host][type] = node.used[static_cast<size_t>(model::ResourceTypes::Find(type))];
    }
  }
  return out;
}

/// What the notifiers tell now.
json Player::Sent() {
  json out = json::array();
  for (const auto& message : notices_.Take()) {
    const int app = apps_[message.session.value];
    json one = {{"thread", message.thread}, {"app", app}};
    const auto list = [&](const char* name, const std::vector<model::ContainerId>& containers) {
      for (const auto& id : containers) one[name].push_back(std::to_string(app) + ":" + std::to_string(id.value));
    };
    list("granted", message.granted);
    list("preempted", message.preempted);
    out.push_back(std::move(one));
  }
  return out;
}

std::string Player::Compare(const json& expected) const {
  json grants = json::array();
  json victims = json::array();
  for (const json& type : expected.value("types", json::array())) {
    for (const json& grant : type.value("grants", json::array())) {
      grants.push_back({{"c", grant.at("c")}, {"type", grant.at("type")}, {"node", grant.at("node")}});
    }
    for (const json& victim : type.value("preempt", json::object()).value("victims", json::array())) {
      victims.push_back(victim.at("c"));
    }
  }
  const auto differ = [](const char* what, const json& wanted, const json& got) {
    return wanted == got
               ? ""
               : "  " + std::string(what) + "\n    expected " + wanted.dump() + "\n    got      " + got.dump() + "\n";
  };
  std::string out = differ("grants", grants, grants_) + differ("preempted", victims, victims_);
  if (!out.empty()) return out;  // all else follows from it
  if (expected.contains("pools")) out += differ("pools", expected.at("pools"), PoolsNow());
  if (expected.contains("nodes")) out += differ("nodes", expected.at("nodes"), NodesNow());
  return out;
}

std::string Player::Play(const json& scenario, const std::vector<json>& expected) {
  AmountOf(json::object());  // the types of resources, before queues and nodes name them
  const json conf = scenario.value("conf", json::object());
  const auto maker = profiles::Read("tdw", KeysOf(conf), QueuesOf(conf));
  if (!maker) return "  " + maker.error().message;
  core_ = (*maker)(0);
  timestamp_ = scenario.value("clusterTimestamp", int64_t{1700000000000});
  now_ms_ = scenario.value("clock", int64_t{0});
  notices_ = Notices(conf.value("notify", json::object()).value("threads", size_t{1}));
  for (const json& node : scenario.value("nodes", json::array())) AddNode(node);
  const json& steps = scenario.at("steps");
  if (steps.size() != expected.size()) return "  the trace has another number of steps";
  for (size_t i = 0; i < steps.size(); ++i) {
    Do(steps[i]);
    if (steps[i].at("op") == "notify" && Sent() != expected[i].at("sent")) {
      return "  step " + std::to_string(i) + ": another message than " + expected[i].at("sent").dump();
    }
    if (steps[i].at("op") != "round") continue;
    std::string problem = Compare(expected[i]);
    if (const std::string books = core_->CheckInvariants(); !books.empty()) problem += "  books: " + books + "\n";
    if (!problem.empty()) return "  step " + std::to_string(i) + " at " + std::to_string(now_ms_) + " ms\n" + problem;
  }
  return "";
}

}  // namespace

std::string ReplayTdw(const json& scenario, const std::vector<json>& expected) {
  return Player().Play(scenario, expected);
}

}  // namespace fairlead::oracle

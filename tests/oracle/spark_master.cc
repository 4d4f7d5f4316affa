#include "spark_master.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/spark_standalone/master.h"

namespace fairlead::oracle {
namespace {

using nlohmann::json;
namespace sa = model::standalone;
using scheduler::standalone::App;
using scheduler::standalone::Executor;
using scheduler::standalone::Master;
using scheduler::standalone::MasterConfig;
using scheduler::standalone::Worker;

std::optional<int32_t> Optional(const json& object, const char* name) {
  const json& value = object.at(name);
  return value.is_null() ? std::nullopt : std::optional<int32_t>(value.get<int32_t>());
}

template <class E, size_t N>
std::optional<E> EnumByName(const std::string& name, const E (&values)[N]) {
  for (const E value : values) {
    if (EnumName(value) == name) return value;
  }
  return std::nullopt;
}

constexpr sa::ExecutorState kExecutorStates[] = {sa::ExecutorState::kLaunching,     sa::ExecutorState::kRunning,
                                                 sa::ExecutorState::kKilled,        sa::ExecutorState::kFailed,
                                                 sa::ExecutorState::kLost,          sa::ExecutorState::kExited,
                                                 sa::ExecutorState::kDecommissioned};
constexpr sa::DriverState kDriverStates[] = {sa::DriverState::kFinished, sa::DriverState::kKilled,
                                             sa::DriverState::kFailed, sa::DriverState::kError};

/// One scenario: names of the recording to and from indices of the core, events in, outcome out as recorded.
class Replayer {
 public:
  explicit Replayer(const MasterConfig& config) : master_(config) {}

  /// An empty text, or why the step cannot be read. `lost`: the order of a lost worker's drivers.
  std::string Read(const json& step, const std::vector<sa::DriverIndex>& lost, std::vector<sa::Event>& events) {
    sa::Orders orders;
    orders.lost = lost;
    const json& event = step.at("event");
    const std::string type = event.at("type").get<std::string>();
    if (type == "worker_registered") worker_names_.push_back(event.at("worker").get<std::string>());
    for (const json& name : step.at("alive_order")) orders.alive.push_back(WorkerOf(name.get<std::string>()));
    for (const json& permutation : step.at("driver_permutations")) {
      orders.permutations.emplace_back();
      for (const json& name : permutation) orders.permutations.back().push_back(WorkerOf(name.get<std::string>()));
    }
    events.push_back(orders);
    return ReadEvent(type, event, events);
  }

  json Outcome(const std::vector<sa::Effect>& effects) const {
    json launched = json::array();
    std::vector<std::string> messages;
    json reply;
    for (const sa::Effect& effect : effects) {
      std::visit([&](const auto& one) { Record(one, launched, messages, reply); }, effect);
    }
    std::sort(messages.begin(), messages.end());
    return {{"launched", launched}, {"messages", messages}, {"reply", reply}, {"state", State()}};
  }
  Master& master() { return master_; }

  /// The drivers of the worker that the event loses, by number, where it matters which of them comes first: one that is
  /// launched anew sees the pass of every driver behind it.
  std::vector<sa::DriverIndex> LostDrivers(const json& event) const {
    if (event.at("type") != "worker_lost") return {};
    const sa::WorkerIndex lost = WorkerOf(event.at("worker").get<std::string>());
    if (!master_.workers().contains(lost.value)) return {};
    std::vector<sa::DriverIndex> out;
    bool supervised = false;
    for (const auto& [id, index] : master_.workers()[lost.value].drivers) {
      out.push_back(index);
      supervised = supervised || master_.drivers()[id].description.supervise;
    }
    if (!supervised || out.size() < 2) out.clear();
    return out;
  }

  /// The recorder of Spark 3.x (Scala 2.12) mapped the executors of an application lazily: in its recordings the first
  /// one's state is that of the step, the others' are those at the end of the scenario. Puts ours the same way.
  void DelayExecutorStates(json& outcome) const {
    for (json& app : outcome["state"]["apps"]) {
      json& executors = app["executors"];
      for (size_t i = 1; i < executors.size(); ++i) {
        const auto last = last_states_.find({app["id"].get<std::string>(), executors[i]["id"].get<int32_t>()});
        if (last != last_states_.end()) executors[i]["state"] = EnumName(last->second);
      }
    }
  }
  void Follow(const std::vector<sa::Effect>& effects) {
    for (const sa::Effect& effect : effects) {
      if (const auto* updated = std::get_if<sa::ExecutorUpdated>(&effect)) {
        last_states_[{Name(updated->app), updated->executor}] = updated->state;
      } else if (const auto* killed = std::get_if<sa::KillExecutor>(&effect)) {
        last_states_[{Name(killed->app), killed->executor}] = sa::ExecutorState::kKilled;
      }
    }
  }

 private:
  sa::WorkerIndex WorkerOf(const std::string& name) const {
    const auto it = std::find(worker_names_.rbegin(), worker_names_.rend(), name);
    if (it == worker_names_.rend()) return {};
    return {static_cast<uint32_t>(worker_names_.rend() - it) - 1};
  }
  sa::AppIndex AppOf(const std::string& name) const {
    const auto it = std::find(app_names_.begin(), app_names_.end(), name);
    if (it == app_names_.end()) return {};
    return {static_cast<uint32_t>(it - app_names_.begin())};
  }
  static std::string DriverName(uint32_t index) { return "driver-" + std::to_string(index); }
  static sa::DriverIndex DriverOf(const std::string& name) {
    return {name.starts_with("driver-") ? static_cast<uint32_t>(std::stoul(name.substr(7))) : UINT32_MAX};
  }

  std::string ReadEvent(const std::string& type, const json& event, std::vector<sa::Event>& events) {
    if (type == "worker_registered") {
      ReadWorker(event, events);
    } else if (type == "app_registered") {
      ReadApp(event, events);
    } else if (type == "worker_lost") {
      events.push_back(sa::WorkerLost{WorkerOf(event.at("worker").get<std::string>()), "disassociated"});
    } else if (type == "worker_decommissioned") {
      events.push_back(sa::WorkerDecommissioned{WorkerOf(event.at("worker").get<std::string>())});
    } else if (type == "app_unregistered" || type == "app_disconnected") {
      events.push_back(sa::AppFinished{AppOf(event.at("app").get<std::string>())});
    } else if (type == "executor_state") {
      const auto state = EnumByName(event.at("state").get<std::string>(), kExecutorStates);
      if (!state) return "unknown executor state " + event.at("state").dump();
      events.push_back(sa::ExecutorStateChanged{AppOf(event.at("app").get<std::string>()),
                                                event.at("executor").get<int32_t>(), *state, Optional(event, "exit"),
                                                ""});
    } else if (type == "request_executors") {
      ReadTargets(event, events);
    } else if (type == "kill_executors") {
      events.push_back(sa::ExecutorsKilled{AppOf(event.at("app").get<std::string>()), 1,
                                           event.at("executors").get<std::vector<int32_t>>()});
    } else if (type == "driver_submitted") {
      events.push_back(sa::DriverSubmitted{1,
                                           event.at("cores").get<int32_t>(),
                                           event.at("memory").get<int32_t>(),
                                           event.at("supervise").get<bool>(),
                                           {}});
    } else if (type == "driver_state") {
      const auto state = EnumByName(event.at("state").get<std::string>(), kDriverStates);
      if (!state) return "unknown driver state " + event.at("state").dump();
      events.push_back(sa::DriverStateChanged{DriverOf(event.at("driver").get<std::string>()), *state});
    } else if (type == "kill_driver") {
      events.push_back(sa::DriverKilled{1, DriverOf(event.at("driver").get<std::string>())});
    } else {
      return "unknown event " + type;
    }
    return "";
  }

  void ReadWorker(const json& event, std::vector<sa::Event>& events) {
    sa::WorkerRegistered registered;
    registered.worker = {static_cast<uint32_t>(worker_names_.size()) - 1};
    registered.id = worker_names_.back();
    registered.host = "host-" + registered.id;
    registered.port = 1000;
    registered.cores = event.at("cores").get<int32_t>();
    registered.memory = event.at("memory").get<int32_t>();
    if (const auto gpus = event.at("gpus").get<int32_t>(); gpus > 0) {
      registered.resources.push_back({"gpu", {}});
      for (int32_t i = 0; i < gpus; ++i) registered.resources[0].addresses.push_back(std::to_string(i));
    }
    events.push_back(registered);
  }

  void ReadApp(const json& event, std::vector<sa::Event>& events) {
    app_names_.push_back(event.at("app").get<std::string>());
    sa::AppRegistered registered;
    registered.app = {static_cast<uint32_t>(app_names_.size()) - 1};
    registered.max_cores = Optional(event, "max_cores");
    registered.profile.cores = Optional(event, "cores_per_executor");
    registered.profile.memory = event.at("memory_per_executor").get<int32_t>();
    if (const auto gpus = event.at("gpus_per_executor").get<int32_t>(); gpus > 0) {
      registered.profile.resources.push_back({"gpu", gpus});
    }
    registered.initial_executor_limit = Optional(event, "initial_executor_limit");
    events.push_back(registered);
  }

  void ReadTargets(const json& event, std::vector<sa::Event>& events) const {
    sa::ExecutorsRequested requested{AppOf(event.at("app").get<std::string>()), 1, {}};
    for (const json& target : event.at("targets")) {
      sa::ProfileTarget one;
      one.profile.id = target.at("profile").get<int32_t>();
      one.total = target.at("total").get<int32_t>();
      if (one.profile.id != 0) {
        one.profile.cores = Optional(target, "cores");
        one.profile.memory = target.at("memory").get<int32_t>();
      }
      requested.targets.push_back(one);
    }
    events.push_back(requested);
  }

  const std::string& Name(sa::WorkerIndex worker) const { return worker_names_[worker.value]; }
  const std::string& Name(sa::AppIndex app) const { return app_names_[app.value]; }

  void Record(const sa::LaunchExecutor& e, json& launched, std::vector<std::string>&, json&) const {
    json gpus = json::array();
    for (const sa::Resource& resource : e.resources) {
      if (resource.name == "gpu") gpus = resource.addresses;
    }
    launched.push_back({{"executor", e.executor},
                        {"app", Name(e.app)},
                        {"worker", Name(e.worker)},
                        {"cores", e.cores},
                        {"memory", e.memory},
                        {"profile", e.profile},
                        {"gpus", gpus}});
  }
  void Record(const sa::LaunchDriver& e, json& launched, std::vector<std::string>&, json&) const {
    launched.push_back(
        {{"driver", DriverName(e.driver.value)}, {"worker", Name(e.worker)}, {"cores", e.cores}, {"memory", e.memory}});
  }
  void Record(const sa::KillExecutor& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("KillExecutor to=" + Name(e.worker) + " app=" + Name(e.app) +
                       " executor=" + std::to_string(e.executor));
  }
  void Record(const sa::KillDriver& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("KillDriver to=" + Name(e.worker) + " driver=" + DriverName(e.driver.value));
  }
  void Record(const sa::RegisteredWorker& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("RegisteredWorker to=" + Name(e.worker) + " duplicate=" + (e.duplicate ? "true" : "false"));
  }
  void Record(const sa::RegisterWorkerFailed& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("RegisterWorkerFailed to=" + Name(e.worker));
  }
  void Record(const sa::RegisteredApplication& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("RegisteredApplication to=" + Name(e.app) + " app=" + Name(e.app));
  }
  void Record(const sa::ExecutorAdded& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("ExecutorAdded to=" + Name(e.app) + " executor=" + std::to_string(e.executor) + " worker=" +
                       Name(e.worker) + " cores=" + std::to_string(e.cores) + " memory=" + std::to_string(e.memory));
  }
  void Record(const sa::ExecutorUpdated& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("ExecutorUpdated to=" + Name(e.app) + " executor=" + std::to_string(e.executor) +
                       " state=" + std::string(EnumName(e.state)) +
                       " exit=" + (e.exit_status ? std::to_string(*e.exit_status) : "-") +
                       " worker_host=" + e.worker_host.value_or("-"));
  }
  void Record(const sa::WorkerRemoved& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("WorkerRemoved to=" + Name(e.app) + " worker=" + Name(e.worker));
  }
  void Record(const sa::ApplicationRemoved& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("ApplicationRemoved to=" + Name(e.app) + " reason=" + e.message);
  }
  void Record(const sa::ApplicationFinished& e, json&, std::vector<std::string>& messages, json&) const {
    messages.push_back("ApplicationFinished to=" + Name(e.worker) + " app=" + Name(e.app));
  }
  // The answer to a killed driver is a message of its own in Spark, not a boolean.
  void Record(const sa::Answer& e, json&, std::vector<std::string>&, json& reply) const { reply = e.ok; }
  void Record(const sa::DriverAccepted&, json&, std::vector<std::string>&, json&) const {}
  void Record(const sa::DriverEnded&, json&, std::vector<std::string>&, json&) const {}

  json State() const {
    std::map<std::string, json> workers;
    std::vector<std::string> running;
    for (const auto& [i, worker] : master_.workers()) {
      if (worker.state == sa::WorkerState::kDead) continue;
      size_t gpus = 0;
      for (const sa::Resource& resource : worker.resources_free) gpus += resource.addresses.size();
      std::vector<std::string> drivers;
      for (const auto& [id, index] : worker.drivers) drivers.push_back(DriverName(id));
      running.insert(running.end(), drivers.begin(), drivers.end());
      std::sort(drivers.begin(), drivers.end());
      workers[worker.id] = {{"id", worker.id},
                            {"state", EnumName(worker.state)},
                            {"cores_free", worker.cores_free()},
                            {"memory_free", worker.memory_free()},
                            {"gpus_free", gpus},
                            {"drivers", drivers}};
    }
    std::sort(running.begin(), running.end());
    json state = {{"workers", json::array()},
                  {"apps", json::array()},
                  {"waiting_drivers", json::array()},
                  {"running_drivers", running}};
    for (const auto& [id, worker] : workers) state["workers"].push_back(worker);
    for (const uint32_t index : master_.waiting_apps()) state["apps"].push_back(AppState(index));
    for (const uint32_t index : master_.waiting_drivers()) state["waiting_drivers"].push_back(DriverName(index));
    return state;
  }

  json AppState(uint32_t index) const {
    const App& app = master_.apps()[index];
    json executors = json::array();
    for (const auto& [id, executor] : app.executors) {
      executors.push_back({{"id", id},
                           {"worker", worker_names_[executor.worker]},
                           {"cores", executor.cores},
                           {"memory", executor.memory},
                           {"profile", executor.profile},
                           {"state", EnumName(executor.state)}});
    }
    return {{"id", app_names_[index]},        {"state", EnumName(app.state)}, {"cores_granted", app.cores_granted},
            {"cores_left", app.cores_left()}, {"retries", app.retries},       {"executors", executors}};
  }

  Master master_;
  std::vector<std::string> worker_names_;
  std::vector<std::string> app_names_;
  std::map<std::pair<std::string, int32_t>, sa::ExecutorState> last_states_;
};

/// The first recorded member that came out differently; a member that nobody knows differs too.
std::string Compare(const json& step, const json& outcome) {
  static const std::set<std::string> kInputs = {"event", "alive_order", "driver_permutations"};
  for (const auto& [name, recorded] : step.items()) {
    if (kInputs.contains(name)) continue;
    const json ours = outcome.contains(name) ? outcome[name] : json("(unknown member)");
    if (recorded != ours) return name + "\n  recorded: " + recorded.dump() + "\n  ours:     " + ours.dump();
  }
  for (const auto& [name, ours] : outcome.items()) {
    if (!step.contains(name)) return name + "\n  recorded: (nothing)\n  ours:     " + ours.dump();
  }
  return "";
}

struct Applied {
  std::string error;
  json outcome;
};

Applied Apply(Replayer& replayer, const json& step, const std::vector<sa::DriverIndex>& lost) {
  std::vector<sa::Event> events;
  if (std::string error = replayer.Read(step, lost, events); !error.empty()) return {error, {}};
  std::vector<sa::Effect> effects;
  replayer.master().Step(events, effects);
  if (std::string error = replayer.master().CheckInvariants(); !error.empty()) return {error, {}};
  replayer.Follow(effects);
  Applied out{"", replayer.Outcome(effects)};
  if (step.at("event").at("type") == "kill_driver") out.outcome["reply"] = nullptr;
  return out;
}

/// Spark goes through a lost worker's drivers in the order of a hash of their ids, which hold the time of day and which
/// the recordings do not have: two runs of the recorder differ there. The first order that launches what was recorded
/// is taken.
Applied ApplyInRecordedOrder(Replayer& replayer, const json& step, int& orders_taken) {
  constexpr size_t kDriversMax = 6;
  std::vector<sa::DriverIndex> order = replayer.LostDrivers(step.at("event"));
  if (order.empty() || order.size() > kDriversMax) return Apply(replayer, step, {});
  const Replayer before = replayer;
  Applied by_number = Apply(replayer, step, {});
  if (by_number.outcome["launched"] == step.at("launched")) return by_number;
  const auto by_value = [](sa::DriverIndex a, sa::DriverIndex b) { return a.value < b.value; };
  while (std::next_permutation(order.begin(), order.end(), by_value)) {
    Replayer other = before;
    Applied out = Apply(other, step, order);
    if (!out.error.empty() || out.outcome["launched"] != step.at("launched")) continue;
    replayer = other;
    ++orders_taken;
    return out;
  }
  return by_number;
}

std::string ReadConfig(const json& scenario, MasterConfig& config) {
  static const std::set<std::string> kKnown = {"spread_out_apps",    "default_cores", "max_executor_retries",
                                               "spread_out_drivers", "max_drivers",   "worker_selection_policy"};
  const json& conf = scenario.at("conf");
  for (const auto& [name, value] : conf.items()) {
    if (!kKnown.contains(name)) return "unknown setting " + name;
  }
  config.spread_out_apps = conf.at("spread_out_apps").get<bool>();
  config.default_cores = conf.at("default_cores").get<int32_t>();
  config.max_executor_retries = conf.at("max_executor_retries").get<int32_t>();
  config.spread_out_drivers = conf.at("spread_out_drivers").get<bool>();
  config.max_drivers = conf.at("max_drivers").get<int32_t>();
  const auto name = conf.at("worker_selection_policy").get<std::string>();
  const auto policy = scheduler::standalone::WorkerPolicyByName(name);
  if (!policy) return "unknown worker_selection_policy " + name;
  config.worker_policy = *policy;
  return "";
}

}  // namespace

std::string ReplaySparkMaster(const json& scenario, int& orders_taken) {
  MasterConfig config;
  if (std::string error = ReadConfig(scenario, config); !error.empty()) return error;
  if (scenario.at("steps").empty()) return "no steps";
  Replayer replayer(config);
  std::vector<json> outcomes;
  std::vector<std::string> places;
  for (const json& step : scenario.at("steps")) {
    places.push_back("step " + std::to_string(places.size()) + " " + step.at("event").dump() + ": ");
    Applied applied = ApplyInRecordedOrder(replayer, step, orders_taken);
    if (!applied.error.empty()) return places.back() + applied.error;
    outcomes.push_back(std::move(applied.outcome));
  }
  const bool delayed = scenario.at("spark").get<std::string>().starts_with("3.");
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (delayed) replayer.DelayExecutorStates(outcomes[i]);
    if (std::string difference = Compare(scenario.at("steps")[i], outcomes[i]); !difference.empty()) {
      return places[i] + difference;
    }
  }
  return "";
}

}  // namespace fairlead::oracle

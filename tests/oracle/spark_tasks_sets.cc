#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "spark_tasks.h"
#include "tasks/task_scheduler.h"

namespace fairlead::oracle {
namespace {

using base::Duration;
using base::Instant;
using model::tasks::EnumName;
using model::tasks::FailureKind;
using model::tasks::LossKind;
using model::tasks::TaskLocation;
using nlohmann::json;
using namespace tasks;  // NOLINT: the replay is about this module alone

Duration Millis(const std::string& text) {
  if (!text.ends_with("ms")) throw Unknown{"time " + text};
  return Duration::Millis(std::stoll(text));
}

Config ParseConfig(const json& scenario) {
  Config config;
  config.exclusion.unschedulable_timeout = Duration::Seconds(1'000'000);  // a real timer in Spark: never fired
  std::map<std::string, std::string> conf;
  for (const auto& [key, value] : scenario.at("conf").items()) conf[key] = value.get<std::string>();
  const auto take = [&](const std::string& key) {
    std::optional<std::string> value;
    if (const auto it = conf.find(key); it != conf.end()) {
      value = it->second;
      conf.erase(it);
    }
    return value;
  };
  const auto take_int = [&](const std::string& key, int32_t& target) {
    if (const auto value = take(key)) target = std::stoi(*value);
  };
  const auto take_time = [&](const std::string& key, Duration& target) {
    if (const auto value = take(key)) target = Millis(*value);
  };
  const auto take_double = [&](const std::string& key, double& target) {
    if (const auto value = take(key)) target = std::stod(*value);
  };
  config.mode = take("spark.scheduler.mode") == "FAIR" ? PoolMode::kFair : PoolMode::kFifo;
  LocalityConfig& locality = config.locality;
  locality.legacy_reset = take("spark.locality.wait.legacyResetOnTaskLaunch") == "true";
  if (const auto wait = take("spark.locality.wait")) {
    locality.wait_process = locality.wait_node = locality.wait_rack = Millis(*wait);
  }
  take_time("spark.locality.wait.process", locality.wait_process);
  take_time("spark.locality.wait.node", locality.wait_node);
  take_time("spark.locality.wait.rack", locality.wait_rack);
  take_int("spark.task.maxFailures", config.task_max_failures);
  SpeculationConfig& speculation = config.speculation;
  speculation.enabled = take("spark.speculation") == "true";
  take_double("spark.speculation.quantile", speculation.quantile);
  take_double("spark.speculation.multiplier", speculation.multiplier);
  take_time("spark.speculation.minTaskRuntime", speculation.min_task_runtime);
  take_time("spark.speculation.task.duration.threshold", speculation.task_duration_threshold);
  if (take("spark.speculation.efficiency.enabled").value_or("false") != "false") throw Unknown{"efficiency"};
  // Spark fixed the slots of its default profile when the context was made, before this key was set: unknown, so 1.
  take("spark.executor.cores");
  ExclusionConfig& exclusion = config.exclusion;
  exclusion.enabled = take("spark.excludeOnFailure.enabled") == "true";
  take_time("spark.excludeOnFailure.timeout", exclusion.timeout);
  const std::string prefix = "spark.excludeOnFailure.";
  take_int(prefix + "task.maxTaskAttemptsPerExecutor", exclusion.task_attempts_per_executor);
  take_int(prefix + "task.maxTaskAttemptsPerNode", exclusion.task_attempts_per_node);
  take_int(prefix + "stage.maxFailedTasksPerExecutor", exclusion.stage_failed_tasks_per_executor);
  take_int(prefix + "stage.maxFailedExecutorsPerNode", exclusion.stage_failed_executors_per_node);
  take_int(prefix + "application.maxFailedTasksPerExecutor", exclusion.app_failed_tasks_per_executor);
  take_int(prefix + "application.maxFailedExecutorsPerNode", exclusion.app_failed_executors_per_node);
  if (!conf.empty()) throw Unknown{"configuration key " + conf.begin()->first};
  for (const json& pool : scenario.at("pools")) {
    config.pools.push_back({.name = pool.at("name"),
                            .mode = pool.at("mode") == "FAIR" ? PoolMode::kFair : PoolMode::kFifo,
                            .weight = pool.at("weight"),
                            .min_share = pool.at("min_share")});
  }
  return config;
}

/// As Spark's TaskLocation(String) reads a place.
TaskLocation ParseLocation(const std::string& text) {
  constexpr std::string_view kExecutor = "executor_";
  constexpr std::string_view kHdfsCache = "hdfs_cache_";
  if (text.starts_with(kExecutor)) {
    const std::string rest = text.substr(kExecutor.size());
    const size_t bar = rest.find('_');
    if (bar == std::string::npos) throw Unknown{"location " + text};
    return {.kind = TaskLocation::Kind::kExecutor, .host = rest.substr(0, bar), .executor = rest.substr(bar + 1)};
  }
  if (text.starts_with(kHdfsCache)) {
    return {.kind = TaskLocation::Kind::kHdfsCache, .host = text.substr(kHdfsCache.size()), .executor = {}};
  }
  return {.kind = TaskLocation::Kind::kHost, .host = text, .executor = {}};
}

FailureKind ParseFailure(const std::string& reason) {
  for (const FailureKind kind : {FailureKind::kException, FailureKind::kKilled, FailureKind::kCommitDenied,
                                 FailureKind::kResultLost, FailureKind::kFetchFailed}) {
    if (reason == EnumName(kind)) return kind;
  }
  throw Unknown{"failure " + reason};
}

LossKind ParseLoss(const std::string& reason) {
  if (reason == "exited caused_by_app=true") return LossKind::kExitedByApp;
  if (reason == "exited caused_by_app=false") return LossKind::kExitedNotByApp;
  if (reason == "killed") return LossKind::kKilled;
  if (reason == "process_lost worker_lost=true caused_by_app=false") return LossKind::kExitedNotByApp;
  if (reason == "process_lost worker_lost=false caused_by_app=true") return LossKind::kProcessLost;
  throw Unknown{"loss " + reason};
}

SetId ParseSetId(const json& step) { return {.stage = step.at("stage"), .attempt = step.at("stage_attempt")}; }

/// One scenario: its core, its clock, and what it has shown so far.
class Replay {
 public:
  explicit Replay(const json& scenario) : config_(ParseConfig(scenario)), core_(config_) {
    std::vector<SetEvent> racks;
    for (const auto& [host, rack] : scenario.at("racks").items()) racks.push_back(model::tasks::HostRack{host, rack});
    std::vector<SetEffect> none;
    core_.Step(now_, racks, none);
  }

  /// What followed the step, in the form of the recording.
  json Play(const json& step, std::vector<std::string>& inputs) {
    inputs = {"type", "now"};
    std::vector<SetEvent> events;
    json actual = json::object();
    Translate(step, inputs, events, actual);
    std::vector<SetEffect> effects;
    core_.Step(now_, events, effects);
    const std::string type = step.at("type");
    if (type == "submit") ShowRacks(ParseSetId(step), actual);
    if (type == "offer") ShowExcluded(actual);
    if (type == "speculation_check") {
      actual["revive"] = std::any_of(effects.begin(), effects.end(),
                                     [](const SetEffect& e) { return std::holds_alternative<SetRevive>(e); });
    }
    ShowEffects(effects, actual);
    ShowSets(actual);
    return actual;
  }

  std::string CheckStep(const json& step) const {
    if (step.at("now") != now_.millis()) return "the clock differs";
    const std::string broken = core_.CheckInvariants();
    return broken.empty() ? "" : "invariant broken: " + broken;
  }

 private:
  void Translate(const json& step, std::vector<std::string>& inputs, std::vector<SetEvent>& events, json& actual) {
    const std::string type = step.at("type");
    const auto use = [&](std::initializer_list<const char*> names) {
      inputs.insert(inputs.end(), names.begin(), names.end());
    };
    if (type == "submit") {
      use({"set", "stage", "stage_attempt", "priority", "pool", "kind", "tasks"});
      events.push_back(ParseSubmit(step));
      order_.push_back(ParseSetId(step));
    } else if (type == "offer") {
      use({"all_free_resources", "offers"});
      OfferRound round{.all_free = step.at("all_free_resources"), .offers = {}};
      for (const json& offer : step.at("offers")) {
        round.offers.push_back({.executor = offer.at(0), .host = offer.at(1), .cores = offer.at(2)});
      }
      events.push_back(std::move(round));
      for (const SetId& id : core_.SchedulingOrder()) actual["set_order"].push_back(ToString(id));
    } else if (type == "status") {
      use({"tid", "state", "reason"});
      events.push_back(ParseStatus(step));
    } else if (type == "executor_lost") {
      use({"executor", "reason"});
      events.push_back(SetExecutorLost{
          .executor = step.at("executor"), .kind = ParseLoss(step.at("reason")), .host_lost = false, .message = {}});
    } else if (type == "executor_decommissioning") {
      use({"executor"});
      events.push_back(SetExecutorDecommissioning{.executor = step.at("executor")});
    } else if (type == "advance") {
      use({"ms"});
      now_ = now_ + Duration::Millis(step.at("ms"));
    } else if (type == "speculation_check") {
      events.push_back(SpeculationCheck{});
    } else if (type == "cancel_stage") {
      use({"stage"});
      events.push_back(CancelSets{.stage = step.at("stage"), .reason = "test"});
    } else {
      throw Unknown{"step type " + type};
    }
  }

  static SubmitSet ParseSubmit(const json& step) {
    SubmitSet submit{.set = ParseSetId(step),
                     .priority = step.at("priority"),
                     .pool = step.at("pool").is_null() ? "" : step.at("pool").get<std::string>(),
                     .shuffle_map = step.at("kind") == "shuffle_map",
                     .partitions = {},
                     .locations = {}};
    for (const json& task : step.at("tasks")) {
      submit.partitions.push_back(static_cast<int32_t>(submit.partitions.size()));
      std::vector<TaskLocation>& places = submit.locations.emplace_back();
      for (const json& place : task) places.push_back(ParseLocation(place));
    }
    return submit;
  }

  static SetEvent ParseStatus(const json& step) {
    const std::string state = step.at("state");
    const int64_t task = step.at("tid");
    if (state == "RUNNING") return SetTaskStarted{.task = task};
    if (state == "FINISHED") return SetTaskSucceeded{.task = task};
    if (state != "FAILED" && state != "KILLED") throw Unknown{"state " + state};
    const FailureKind kind = ParseFailure(step.at("reason"));
    return SetTaskFailed{.task = task, .kind = kind, .state_killed = state == "KILLED", .message = step.at("reason")};
  }

  void ShowRacks(SetId id, json& actual) const {
    const TaskSet* set = core_.Find(id);
    if (set == nullptr) return;
    const Names& names = core_.cluster().rack_names;
    std::map<std::string, json> racks;
    for (const uint32_t rack : set->pending().by_rack.Names()) {
      racks[names.Text(rack)] = *set->pending().by_rack.Find(rack);
    }
    for (const auto& [rack, tasks] : racks) actual["rack_lists"].push_back({rack, tasks});
  }

  void ShowExcluded(json& actual) const {
    if (core_.health() == nullptr) return;
    std::vector<std::string> hosts;
    for (const HostNumber host : core_.health()->ExcludedHosts())
      hosts.push_back(core_.cluster().host_names.Text(host));
    std::sort(hosts.begin(), hosts.end());
    if (!hosts.empty()) actual["excluded_nodes"] = hosts;
  }

  void ShowEffects(const std::vector<SetEffect>& effects, json& actual) const {
    const Names& executors = core_.cluster().executor_names;
    std::vector<int64_t> kills;
    for (const SetEffect& effect : effects) {
      if (const auto* launched = std::get_if<SetLaunched>(&effect)) {
        actual["launched"].push_back({{"tid", launched->task},
                                      {"set", ToString(launched->set)},
                                      {"index", launched->index},
                                      {"attempt", launched->attempt},
                                      {"executor", executors.Text(launched->executor)},
                                      {"locality", EnumName(launched->level)},
                                      {"speculative", launched->speculative}});
      } else if (const auto* ended = std::get_if<SetTaskEnded>(&effect)) {
        actual["events"].push_back({{"event", "task_ended"},
                                    {"set", ToString(ended->set)},
                                    {"index", ended->index},
                                    {"tid", ended->task},
                                    {"reason", EnumName(ended->kind)}});
      } else if (const auto* copy = std::get_if<SetSpeculatable>(&effect)) {
        actual["events"].push_back({{"event", "speculatable"}, {"set", ToString(copy->set)}, {"index", copy->index}});
      } else if (const auto* gone = std::get_if<SetExecutorGone>(&effect)) {
        actual["events"].push_back({{"event", "executor_lost"}, {"executor", executors.Text(gone->executor)}});
      } else if (const auto* failed = std::get_if<SetFailed>(&effect)) {
        actual["events"].push_back({{"event", "set_failed"},
                                    {"set", ToString(failed->set)},
                                    {"kind", EnumName(failed->kind)},
                                    {"index", failed->index < 0 ? json() : json(failed->index)}});
      } else if (const auto* kill = std::get_if<SetKill>(&effect)) {
        kills.push_back(kill->task);
      }
    }
    std::sort(kills.begin(), kills.end());
    if (!kills.empty()) actual["kills"] = kills;
  }

  static json StateOf(const TaskSet& set) {
    json levels = json::array();
    for (const auto level : set.levels()) levels.push_back(EnumName(level));
    std::vector<int32_t> speculatable = set.speculatable().Keys();
    std::sort(speculatable.begin(), speculatable.end());
    return {{"set", ToString(set.id())},
            {"zombie", set.zombie},
            {"running", set.running()},
            {"successful", set.successful()},
            {"levels", levels},
            {"level", EnumName(set.level())},
            {"last_reset", set.last_reset().millis()},
            {"all_nonempty", set.all_nonempty()},
            {"speculatable", speculatable}};
  }

  /// Sets whose state differs from what was last shown, and those that are gone.
  void ShowSets(json& actual) {
    std::vector<SetId> live;
    for (const SetId& id : order_) {
      const TaskSet* set = core_.Find(id);
      if (set == nullptr) {
        actual["removed_sets"].push_back(ToString(id));
        continue;
      }
      live.push_back(id);
      json state = StateOf(*set);
      if (json& last = shown_[id]; last != state) actual["sets"].push_back(last = std::move(state));
    }
    order_ = std::move(live);
  }

  const Config config_;
  TaskScheduler core_;
  Instant now_{Duration::Millis(1000).ns};
  std::vector<SetId> order_;  // live sets in order of submission
  std::map<SetId, json> shown_;
};

}  // namespace

std::string ReplaySets(const json& scenario) { return PlaySteps<Replay>(scenario); }

}  // namespace fairlead::oracle

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "spark_tasks.h"
#include "tasks/dag_scheduler.h"

namespace fairlead::oracle {
namespace {

using model::tasks::Dataset;
using model::tasks::Dependency;
using model::tasks::EndKind;
using model::tasks::ExecutorIndex;
using model::tasks::JobEnded;
using model::tasks::SubmitJob;
using model::tasks::TaskLocation;
using nlohmann::json;
using namespace tasks;  // NOLINT: the replay is about this module alone

Dependency ParseDependency(const json& from) {
  Dependency dependency;
  dependency.dataset = from.at("rdd");
  const std::string type = from.at("type");
  if (type == "one_to_one") {
    dependency.kind = Dependency::Kind::kOneToOne;
  } else if (type == "range") {
    dependency.kind = Dependency::Kind::kRange;
    dependency.in_start = from.at("in_start");
    dependency.out_start = from.at("out_start");
    dependency.length = from.at("length");
  } else if (type == "shuffle") {
    dependency.kind = Dependency::Kind::kShuffle;
    dependency.shuffle = from.at("shuffle");
  } else {
    throw Unknown{"dependency " + type};
  }
  return dependency;
}

Dataset ParseDataset(const json& from) {
  Dataset dataset;
  dataset.id = from.at("rdd");
  dataset.partitions = from.at("partitions");
  for (const json& dependency : from.at("dependencies")) dataset.dependencies.push_back(ParseDependency(dependency));
  for (const json& hosts : from.at("preferred")) {
    std::vector<TaskLocation>& places = dataset.preferred.emplace_back();
    for (const json& host : hosts) places.push_back({TaskLocation::Kind::kHost, host, {}});
  }
  return dataset;
}

/// One scenario: its core, and the executors it has named so far.
class Replay {
 public:
  explicit Replay(const json& scenario) : core_(config_) {
    config_.reduce_locality = false;  // the recorded RDDs say themselves what they prefer
    for (const json& rdd : scenario.at("rdds")) datasets_.push_back(ParseDataset(rdd));
  }

  json Play(const json& step, std::vector<std::string>& inputs) {
    inputs = {"type"};
    effects_.clear();
    const std::string type = step.at("type");
    const auto use = [&](std::initializer_list<const char*> names) {
      inputs.insert(inputs.end(), names.begin(), names.end());
    };
    if (type == "job") {
      use({"job", "rdd", "partitions"});
      Submit(step);
    } else if (type == "task_succeeded") {
      use({"stage", "attempt", "partition", "executor", "host", "sizes"});
      DagTaskEnded ended = ParseTask(step);
      ended.executor = Executor(step);
      for (const json& size : step.value("sizes", json::array())) ended.sizes.push_back(EncodeSize(size));
      core_.Apply(ended, effects_);
    } else if (type == "fetch_failed") {
      use({"stage", "attempt", "partition", "shuffle", "map_index", "executor", "host"});
      DagTaskEnded ended = ParseTask(step);
      ended.kind = EndKind::kFetchFailed;
      ended.shuffle = step.at("shuffle");
      ended.map_index = step.at("map_index");
      ended.source = Executor(step);
      core_.Apply(ended, effects_);
    } else if (type == "resubmit_failed_stages") {
      core_.Apply(DagResubmitFailed{}, effects_);
    } else if (type == "executor_lost") {
      use({"executor", "host", "worker_host_lost"});
      core_.Apply(DagExecutorLost{.executor = Executor(step), .host_lost = step.at("worker_host_lost")}, effects_);
    } else if (type == "executor_added") {
      use({"executor", "host"});
      core_.Apply(DagExecutorAdded{.executor = Executor(step)}, effects_);
    } else {
      throw Unknown{"step type " + type};
    }
    return Show();
  }

  std::string CheckStep(const json&) const {
    const std::string broken = core_.CheckInvariants();
    return broken.empty() ? "" : "invariant broken: " + broken;
  }

 private:
  void Submit(const json& step) {
    SubmitJob job;
    job.job = step.at("job");
    job.target = step.at("rdd");
    job.partitions = step.at("partitions").get<std::vector<int32_t>>();
    job.datasets = std::move(datasets_);
    datasets_.clear();
    core_.Apply(job, effects_);
  }

  static DagTaskEnded ParseTask(const json& step) {
    DagTaskEnded ended;
    ended.set = {.stage = step.at("stage"), .attempt = step.at("attempt")};
    ended.partition = step.at("partition");
    ended.task = 0;
    return ended;
  }

  ExecutorIndex Executor(const json& step) {
    const std::string id = step.at("executor");
    const auto [it, is_new] = executors_.try_emplace(id, ExecutorIndex{static_cast<uint32_t>(executors_.size())});
    if (is_new) {
      std::vector<DagEffect> none;
      core_.Apply(DagExecutorKnown{.executor = it->second, .id = id, .host = step.at("host")}, none);
    }
    return it->second;
  }

  static json Sorted(const IntHashSet& stages) {
    std::vector<int32_t> ids = stages.Keys();
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  static json ShowSet(const DagSubmit& submit) {
    const model::tasks::StageSubmitted& stage = submit.stage;
    json preferred = json::array();
    for (size_t task = 0; task < stage.partitions.size(); ++task) {
      json& places = preferred.emplace_back(json::array());
      if (submit.locations.empty()) continue;
      for (const TaskLocation& place : submit.locations[task]) places.push_back(place.host);
    }
    return {{"stage", stage.stage},     {"attempt", stage.attempt},
            {"job", stage.job},         {"kind", stage.shuffle >= 0 ? "shuffle_map" : "result"},
            {"rdd", stage.dataset},     {"shuffle", stage.shuffle >= 0 ? json(stage.shuffle) : json()},
            {"parents", stage.parents}, {"partitions", stage.partitions},
            {"preferred", preferred}};
  }

  json Show() const {
    json submitted = json::array();
    json ended = json::array();
    std::set<int32_t> cancelled;
    for (const DagEffect& effect : effects_) {
      if (const auto* submit = std::get_if<DagSubmit>(&effect)) submitted.push_back(ShowSet(*submit));
      if (const auto* cancel = std::get_if<DagCancel>(&effect)) cancelled.insert(cancel->stage);
      if (const auto* end = std::get_if<JobEnded>(&effect)) {
        ended.push_back({{"job", end->job}, {"result", end->succeeded ? "succeeded" : "failed"}});
      }
    }
    return {{"submitted", submitted},
            {"waiting", Sorted(core_.waiting())},
            {"running", Sorted(core_.running())},
            {"failed", Sorted(core_.failed())},
            {"cancelled", cancelled},
            {"jobs_ended", ended}};
  }

  Config config_;
  DagScheduler core_;
  std::vector<Dataset> datasets_;  // until the first job defines them
  std::map<std::string, ExecutorIndex> executors_;
  std::vector<DagEffect> effects_;
};

}  // namespace

std::string ReplayDag(const json& scenario) { return PlaySteps<Replay>(scenario); }

}  // namespace fairlead::oracle

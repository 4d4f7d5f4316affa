#include "tasks/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/sanitized.h"
#include "base/test_seed.h"

namespace fairlead::tasks {
namespace {

using base::Duration;
using base::Instant;
using namespace model::tasks;  // NOLINT: all of it is about these

/// A core with its clock, its executors and everything it said.
class Harness {
 public:
  explicit Harness(Config config = {}) : core_(std::move(config)) {}

  std::vector<Effect> Step(std::vector<Event> events) {
    std::vector<Effect> out;
    core_.Step(now_, events, out);
    EXPECT_EQ(core_.CheckInvariants(), "");
    for (const Effect& effect : out) Note(effect);
    all_.insert(all_.end(), out.begin(), out.end());
    return out;
  }
  std::vector<Effect> After(Duration time, std::vector<Event> events = {}) {
    now_ = now_ + time;
    return Step(std::move(events));
  }
  ExecutorIndex AddExecutor(const std::string& host, int32_t slots = 1, const std::string& rack = "",
                            bool serves_own_files = false) {
    const ExecutorIndex index{executors_++};
    ExecutorAdded added;
    added.executor = index;
    added.id = "e" + std::to_string(index.value);
    added.host = host;
    added.rack = rack;
    added.slots = slots;
    added.serves_own_files = serves_own_files;
    Step({added});
    return index;
  }
  std::vector<Effect> Succeed(TaskId task, std::vector<uint8_t> sizes = {}) {
    TaskSucceeded event;
    event.task = task;
    event.sizes = std::move(sizes);
    return Step({event});
  }
  std::vector<Effect> Fail(TaskId task, const std::string& message, FailureKind kind = FailureKind::kException) {
    TaskFailed event;
    event.task = task;
    event.kind = kind;
    event.message = message;
    return Step({event});
  }
  /// Running tasks of the stage, by task id.
  std::vector<LaunchTask> Running(StageId stage = -1) const {
    std::vector<LaunchTask> tasks;
    for (const auto& [id, launch] : running_) {
      if (stage < 0 || launch.stage == stage) tasks.push_back(launch);
    }
    return tasks;
  }
  template <class T>
  std::vector<T> Said() const {
    return Of<T>(all_);
  }
  template <class T>
  static std::vector<T> Of(const std::vector<Effect>& effects) {
    std::vector<T> found;
    for (const Effect& effect : effects) {
      if (const T* one = std::get_if<T>(&effect)) found.push_back(*one);
    }
    return found;
  }
  void Forget() { all_.clear(); }

  Tasks& core() { return core_; }
  Instant now() const { return now_; }

 private:
  void Note(const Effect& effect) {
    if (const auto* launch = std::get_if<LaunchTask>(&effect)) running_[launch->task] = *launch;
    if (const auto* batch = std::get_if<LaunchBatch>(&effect)) {
      for (const LaunchTask& launch : batch->tasks) running_[launch.task] = launch;
    }
    if (const auto* ended = std::get_if<TaskEnded>(&effect)) {
      if (ended->kind != EndKind::kResubmitted) {
        EXPECT_EQ(running_.erase(ended->task), 1u) << ended->task;
      }
    }
  }

  Tasks core_;
  Instant now_{Duration::Seconds(1).ns};
  uint32_t executors_ = 0;
  std::map<TaskId, LaunchTask> running_;
  std::vector<Effect> all_;
};

Dataset Source(DatasetId id, int32_t partitions, std::vector<std::vector<TaskLocation>> preferred = {}) {
  Dataset dataset;
  dataset.id = id;
  dataset.name = "source " + std::to_string(id);
  dataset.partitions = partitions;
  dataset.preferred = std::move(preferred);
  return dataset;
}
Dataset Narrow(DatasetId id, const Dataset& parent) {
  Dataset dataset = Source(id, parent.partitions);
  dataset.name = "map " + std::to_string(id);
  Dependency dependency;
  dependency.dataset = parent.id;
  dataset.dependencies = {dependency};
  return dataset;
}
Dataset Shuffled(DatasetId id, int32_t partitions, std::vector<std::pair<DatasetId, ShuffleId>> parents) {
  Dataset dataset = Source(id, partitions);
  dataset.name = "shuffle " + std::to_string(id);
  for (const auto& [parent, shuffle] : parents) {
    Dependency dependency;
    dependency.kind = Dependency::Kind::kShuffle;
    dependency.dataset = parent;
    dependency.shuffle = shuffle;
    dataset.dependencies.push_back(dependency);
  }
  return dataset;
}
SubmitJob Job(JobId id, std::vector<Dataset> datasets, DatasetId target, int32_t partitions) {
  SubmitJob job;
  job.job = id;
  job.datasets = std::move(datasets);
  job.target = target;
  for (int32_t i = 0; i < partitions; ++i) job.partitions.push_back(i);
  return job;
}
TaskLocation OnHost(const std::string& host) { return {TaskLocation::Kind::kHost, host, {}}; }
TaskLocation InExecutor(const std::string& host, const std::string& executor) {
  return {TaskLocation::Kind::kExecutor, host, executor};
}

TEST(TasksTest, RunsAJobOfTwoStages) {
  Harness h;
  h.AddExecutor("a", 2);
  h.AddExecutor("b", 2);
  h.Step({Job(0, {Source(0, 3), Shuffled(1, 2, {{0, 0}})}, 1, 2)});
  ASSERT_EQ(h.Running(0).size(), 3u);
  EXPECT_TRUE(h.Running(1).empty());
  for (const LaunchTask& task : h.Running(0)) h.Succeed(task.task, {EncodeSize(1000), EncodeSize(0)});
  const MapOutputTable* outputs = h.core().Outputs(0);
  ASSERT_NE(outputs, nullptr);
  EXPECT_EQ(outputs->available(), 3);
  EXPECT_EQ(outputs->BlocksOf(0).size(), 3u);
  EXPECT_TRUE(outputs->BlocksOf(1).empty());
  ASSERT_EQ(h.Running(1).size(), 2u);
  for (const LaunchTask& task : h.Running(1)) h.Succeed(task.task);
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
  EXPECT_EQ(h.Said<ResultAccepted>().size(), 2u);
  EXPECT_EQ(h.core().GetView().jobs.size(), 0u);
}

TEST(TasksTest, EmptyJobEndsAtOnceAndMalformedJobsChangeNothing) {
  Harness h;
  h.Step({Job(0, {Source(0, 3)}, 0, 0)});
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
  const uint64_t before = h.core().StateHash();
  h.Step({Job(1, {}, 7, 1)});
  h.Step({Job(2, {Source(0, 3)}, 0, 1)});              // id taken
  h.Step({Job(3, {}, 0, 4)});                          // partition 3 does not exist
  h.Step({Job(4, {Shuffled(5, 2, {{9, 0}})}, 5, 2)});  // parent unknown
  SubmitJob twice = Job(5, {}, 0, 1);
  twice.partitions = {1, 1};
  h.Step({twice});
  EXPECT_EQ(h.Said<JobRejected>().size(), 5u);
  EXPECT_EQ(h.core().StateHash(), before);
}

TEST(TasksTest, SharedShuffleIsComputedOnce) {
  Harness h;
  h.AddExecutor("a", 8);
  h.Step({Job(0, {Source(0, 2), Shuffled(1, 1, {{0, 0}})}, 1, 1)});
  for (const LaunchTask& task : h.Running()) h.Succeed(task.task, {10});
  for (const LaunchTask& task : h.Running()) h.Succeed(task.task);
  h.Forget();
  h.Step({Job(1, {}, 1, 1)});
  const auto submitted = h.Said<StageSubmitted>();
  ASSERT_EQ(submitted.size(), 1u);
  EXPECT_EQ(submitted[0].shuffle, -1);
  ASSERT_EQ(submitted[0].reads, std::vector<ShuffleId>{0});
}

TEST(TasksTest, FetchFailureRecomputesOnlyWhatIsLost) {
  Harness h;
  h.AddExecutor("a", 1);
  const ExecutorIndex b = h.AddExecutor("b", 1);
  h.Step({Job(0, {Source(0, 4), Shuffled(1, 2, {{0, 0}})}, 1, 2)});
  std::set<int32_t> on_b;
  while (!h.Running(0).empty()) {
    const LaunchTask task = h.Running(0).front();
    if (task.executor == b) on_b.insert(task.partition);
    h.Succeed(task.task, {10, 10});
  }
  ASSERT_EQ(on_b.size(), 2u);
  h.Forget();
  const LaunchTask reader = h.Running(1).front();
  TaskFailed failed;
  failed.task = reader.task;
  failed.kind = FailureKind::kFetchFailed;
  failed.shuffle = 0;
  failed.map_index = *on_b.begin();
  failed.source = b;
  failed.message = "connection refused";
  h.Step({failed});
  EXPECT_EQ(h.core().Outputs(0)->available(), 2);
  EXPECT_TRUE(h.Said<StageSubmitted>().empty());
  EXPECT_EQ(h.core().NextDeadline(), h.now() + Duration::Millis(200));
  h.After(Duration::Millis(200));
  ASSERT_EQ(h.Said<StageSubmitted>().size(), 1u);
  const StageSubmitted again = h.Said<StageSubmitted>()[0];
  EXPECT_EQ(again.stage, 0);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_EQ(std::set<int32_t>(again.partitions.begin(), again.partitions.end()), on_b);
  while (!h.Running().empty()) h.Succeed(h.Running().front().task, {10, 10});
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
}

TEST(TasksTest, StageAttemptsAreLimited) {
  Harness h;
  const ExecutorIndex a = h.AddExecutor("a", 1);
  h.Step({Job(0, {Source(0, 1), Shuffled(1, 1, {{0, 0}})}, 1, 1)});
  for (int attempt = 0; attempt < 4; ++attempt) {
    ASSERT_EQ(h.Said<JobEnded>().size(), 0u) << attempt;
    ASSERT_EQ(h.Running(0).size(), 1u);
    h.Succeed(h.Running(0).front().task, {10});
    ASSERT_EQ(h.Running(1).size(), 1u);
    TaskFailed failed;
    failed.task = h.Running(1).front().task;
    failed.kind = FailureKind::kFetchFailed;
    failed.shuffle = 0;
    failed.map_index = 0;
    failed.source = a;
    failed.message = "disk on fire";
    h.Step({failed});
    h.After(Duration::Millis(200));
  }
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_FALSE(h.Said<JobEnded>()[0].succeeded);
  EXPECT_NE(h.Said<JobEnded>()[0].error.find("disk on fire"), std::string::npos);
  EXPECT_NE(h.Said<JobEnded>()[0].error.find("4"), std::string::npos);
}

TEST(TasksTest, FetchFailureOfAForeignShuffleCountsAsTheTasksOwn) {
  Harness h;
  h.AddExecutor("a", 1);
  h.Step({Job(0, {Source(0, 1)}, 0, 1)});
  TaskFailed failed;
  failed.task = h.Running().front().task;
  failed.kind = FailureKind::kFetchFailed;
  failed.shuffle = 77;
  failed.map_index = 0;
  h.Step({failed});
  ASSERT_EQ(h.Running().size(), 1u);  // tried again, not stuck
  EXPECT_EQ(h.Running().front().attempt, 1);
}

TEST(TasksTest, PoisonTaskFailsItsJobByNameWithAllReasons) {
  Harness h;
  h.AddExecutor("a", 4);
  h.Step({Job(0, {Source(0, 3)}, 0, 3), Job(1, {Source(1, 1)}, 1, 1)});
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto running = h.Running(0);
    const auto poison = std::find_if(running.begin(), running.end(), [](const auto& t) { return t.partition == 1; });
    ASSERT_NE(poison, running.end());
    h.Fail(poison->task, "bad line " + std::to_string(attempt));
  }
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  const JobEnded end = h.Said<JobEnded>()[0];
  EXPECT_EQ(end.job, 0);
  EXPECT_FALSE(end.succeeded);
  EXPECT_EQ(end.failed_dataset, "source 0");
  EXPECT_EQ(end.failed_partition, 1);
  ASSERT_EQ(end.troubles.size(), 4u);
  for (int attempt = 0; attempt < 4; ++attempt) {
    EXPECT_EQ(end.troubles[static_cast<size_t>(attempt)].reason, "bad line " + std::to_string(attempt));
  }
  EXPECT_NE(end.error.find("source 0"), std::string::npos);
  EXPECT_NE(end.error.find("bad line 3"), std::string::npos);
  // Its other tasks are killed, the other job goes on.
  EXPECT_EQ(h.Said<KillTask>().size(), 2u);
  ASSERT_EQ(h.Running(1).size(), 1u);
  h.Succeed(h.Running(1).front().task);
  EXPECT_TRUE(h.Said<JobEnded>()[1].succeeded);
}

TEST(TasksTest, CancelsJobsAndGroups) {
  Harness h;
  h.AddExecutor("a", 8);
  SubmitJob first = Job(0, {Source(0, 2), Shuffled(1, 1, {{0, 0}})}, 1, 1);
  first.group = "g";
  SubmitJob second = Job(1, {Shuffled(2, 1, {{0, 1}})}, 2, 1);
  SubmitJob third = Job(2, {}, 1, 1);  // shares the map stage of the first
  third.group = "g";
  h.Step({first, second, third});
  ASSERT_EQ(h.Running().size(), 4u);
  CancelJob cancel;
  cancel.job = 1;
  cancel.reason = "by user";
  h.Step({cancel});
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_TRUE(h.Said<JobEnded>()[0].cancelled);
  EXPECT_EQ(h.Said<KillTask>().size(), 2u);
  cancel.job = 0;
  h.Step({cancel});  // the map stage is needed by job 2: nothing is killed
  EXPECT_EQ(h.Said<KillTask>().size(), 2u);
  CancelGroup group;
  group.group = "g";
  h.Step({group});
  EXPECT_EQ(h.Said<JobEnded>().size(), 3u);
  EXPECT_EQ(h.Said<KillTask>().size(), 4u);
  while (!h.Running().empty()) h.Fail(h.Running().front().task, "killed", FailureKind::kKilled);
  EXPECT_TRUE(h.core().GetView().stages.empty());
}

TEST(TasksTest, CachedPartitionsAreWhereTasksGo) {
  Harness h;
  h.AddExecutor("a", 1);
  const ExecutorIndex b = h.AddExecutor("b", 1);
  Dataset cached = Source(0, 1);
  cached.cached = true;
  h.Step({Job(0, {cached, Narrow(1, cached)}, 1, 1)});
  h.Succeed(h.Running().front().task);
  BlockCached block;
  block.dataset = 0;
  block.partition = 0;
  block.executor = b;
  h.Step({block, Job(1, {}, 1, 1)});
  ASSERT_EQ(h.Running().size(), 1u);
  EXPECT_EQ(h.Running().front().executor, b);
  EXPECT_EQ(h.Running().front().level, Level::kProcessLocal);
  h.Succeed(h.Running().front().task);
  EXPECT_EQ(h.core().DatasetsWithCached(), std::vector<DatasetId>{0});
  EXPECT_EQ(h.core().CachedAt(0, 0), std::vector<ExecutorIndex>{block.executor});
  EXPECT_TRUE(h.core().CachedAt(0, 1).empty());
  EXPECT_TRUE(h.core().CachedAt(99, 0).empty());
  // An executor with cached blocks does not go.
  EXPECT_EQ(h.core().Removable(), std::vector<ExecutorIndex>{ExecutorIndex{0}});
}

TEST(TasksTest, FullyCachedDatasetNeedsNoParents) {
  Harness h;
  const ExecutorIndex a = h.AddExecutor("a", 2);
  Dataset reduced = Shuffled(1, 1, {{0, 0}});
  reduced.cached = true;
  h.Step({Job(0, {Source(0, 1), reduced}, 1, 1)});
  h.Succeed(h.Running().front().task, {10});
  h.Succeed(h.Running().front().task);
  BlockCached block;
  block.dataset = 1;
  block.partition = 0;
  block.executor = a;
  // Its output is gone with its first executor, but the cached copy is enough.
  const ExecutorIndex b = h.AddExecutor("b", 2);
  BlockCached copy = block;
  copy.executor = b;
  ExecutorLost lost;
  lost.executor = a;
  h.Step({block, copy, lost});
  EXPECT_EQ(h.core().Outputs(0)->available(), 0);
  h.Forget();
  h.Step({Job(1, {}, 1, 1)});
  ASSERT_EQ(h.Said<StageSubmitted>().size(), 1u);
  EXPECT_EQ(h.Said<StageSubmitted>()[0].dataset, 1);
}

TEST(TasksTest, LocalityWaitIsADeadline) {
  Harness h;
  h.AddExecutor("a", 1);
  h.AddExecutor("b", 1);
  h.Step({Job(0, {Source(0, 2, {{OnHost("a")}, {OnHost("a")}})}, 0, 2)});
  ASSERT_EQ(h.Running().size(), 1u);
  EXPECT_EQ(h.Running().front().level, Level::kNodeLocal);
  const Instant due = h.now() + Duration::Seconds(3);
  while (h.core().NextDeadline() < due) {
    const Instant next = h.core().NextDeadline();
    ASSERT_GT(next, h.now());
    h.After(next - h.now());
    EXPECT_EQ(h.Running().size(), 1u);
  }
  h.After(due - h.now());
  ASSERT_EQ(h.Running().size(), 2u);
  EXPECT_EQ(h.Running().back().level, Level::kAny);
}

/// The worked timeline of Spark's two timer rules: two executors, six tasks whose data is in the first one.
struct Timeline {
  double done = 0;
  int remote = 0;
};
Timeline RunSixLocalTasks(Config config) {
  Harness h(std::move(config));
  h.AddExecutor("a", 1);
  h.AddExecutor("b", 1);
  const Instant start = h.now();
  h.Step({Job(0, {Source(0, 6, std::vector<std::vector<TaskLocation>>(6, {InExecutor("a", "e0")}))}, 0, 6)});
  std::map<TaskId, Instant> ends;
  Timeline result;
  for (int guard = 0; guard < 1000 && h.Said<JobEnded>().empty(); ++guard) {
    for (const LaunchTask& task : h.Running()) {
      if (ends.contains(task.task)) continue;
      const bool local = task.level == Level::kProcessLocal;
      ends[task.task] = h.now() + Duration::Millis(local ? 2000 : 2500);
      result.remote += local ? 0 : 1;
    }
    Instant next = h.core().NextDeadline();
    TaskId ending = -1;
    for (const LaunchTask& task : h.Running()) {
      if (ends[task.task] <= next) {
        next = ends[task.task];
        ending = task.task;
      }
    }
    std::vector<Event> events;
    if (ending >= 0) {
      TaskSucceeded success;
      success.task = ending;
      if (ends[ending] - h.now() >= Duration{} && result.remote > 0) success.remote_read_ns = 500'000'000;
      events.push_back(success);
    }
    h.After(next - h.now(), events);
  }
  result.done = (h.now() - start).seconds();
  return result;
}

TEST(TasksTest, DelayTimerLegacyAndCurrent) {
  Config legacy;
  legacy.locality.legacy_reset = true;
  const Timeline old_rule = RunSixLocalTasks(legacy);
  EXPECT_EQ(old_rule.done, 12);
  EXPECT_EQ(old_rule.remote, 0);
  const Timeline new_rule = RunSixLocalTasks({});
  EXPECT_EQ(new_rule.done, 10);
  EXPECT_GE(new_rule.remote, 1);
}

TEST(TasksTest, AdaptiveDelayBeatsAFixedWait) {
  Config config;
  config.beyond.adaptive_delay = true;
  const Timeline adaptive = RunSixLocalTasks(config);
  EXPECT_GE(adaptive.remote, 2);
  EXPECT_LT(adaptive.done, RunSixLocalTasks({}).done);
}

TEST(TasksTest, LoadOutweighsLocality) {
  for (const int32_t weight : {0, 500}) {
    Config config;
    config.beyond.load_weight_milli = weight;
    Harness h(config);
    const ExecutorIndex a = h.AddExecutor("a", 1);
    h.AddExecutor("b", 1);
    ExecutorLoad load;
    load.executor = a;
    load.milli_slots = 5000;
    h.Step({load});
    h.Step({Job(0, {Source(0, 2, {{InExecutor("a", "e0")}, {InExecutor("a", "e0")}})}, 0, 2)});
    // The second task waits for its busy place, or goes to the idle executor at once.
    EXPECT_EQ(h.Running().size(), weight == 0 ? 1u : 2u) << weight;
    std::set<bool> said;
    for (const LaunchTask& launch : h.Running()) said.insert(launch.for_load);
    EXPECT_EQ(said, (weight == 0 ? std::set<bool>{false} : std::set<bool>{true, false}));
  }
}

TEST(TasksTest, AfterATaskThatABusyHostLostTheOthersStillWait) {
  for (const bool legacy : {false, true}) {
    Config config;
    config.beyond.load_weight_milli = 2000;
    config.locality.legacy_reset = legacy;
    Harness h(config);
    ExecutorLoad load;
    load.executor = h.AddExecutor("a", 1);
    const ExecutorIndex b = h.AddExecutor("b", 1);
    load.milli_slots = 5000;
    h.Step({load});
    h.Step({Job(0, {Source(0, 4, std::vector<std::vector<TaskLocation>>(4, {InExecutor("a", "e0")}))}, 0, 4)});
    const auto on_b = [&] {
      std::vector<LaunchTask> launches = h.Running();
      std::erase_if(launches, [&](const LaunchTask& launch) { return launch.executor != b; });
      return launches;
    };
    ASSERT_EQ(on_b().size(), 1u);
    h.Succeed(on_b().front().task);
    ASSERT_EQ(on_b().size(), 1u);
    load.milli_slots = 0;
    h.Step({load});
    h.Succeed(on_b().front().task);
    EXPECT_TRUE(on_b().empty()) << "a is idle, and the wait has just begun";
  }
}

TEST(TasksTest, RetainsExecutorsWithOutputsThatAreNeeded) {
  for (const bool retain : {false, true}) {
    Config config;
    config.beyond.retain_shuffle_executors = retain;
    Harness h(config);
    h.AddExecutor("a", 1);
    h.AddExecutor("b", 1);
    h.Step({Job(0, {Source(0, 1), Shuffled(1, 1, {{0, 0}})}, 1, 1)});
    const ExecutorIndex mapper = h.Running().front().executor;
    h.Succeed(h.Running().front().task, {10});
    ASSERT_EQ(h.Running(1).size(), 1u);
    const bool same = h.Running(1).front().executor == mapper;
    const auto removable = h.core().Removable();
    const bool removes_mapper = std::find(removable.begin(), removable.end(), mapper) != removable.end();
    EXPECT_EQ(removes_mapper, !retain && !same);
    h.Succeed(h.Running(1).front().task);
    EXPECT_EQ(h.core().Removable().size(), 2u);  // nobody needs the outputs any more
  }
}

TEST(TasksTest, TemplatesLaunchBatches) {
  Config config;
  config.beyond.templates = true;
  Harness h(config);
  h.AddExecutor("a", 4);
  h.AddExecutor("b", 1);
  h.Step({Job(0, {Source(0, 5)}, 0, 5)});
  const auto batches = h.Said<LaunchBatch>();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].tasks.size(), 4u);
  EXPECT_EQ(h.Said<LaunchTask>().size(), 1u);
  EXPECT_EQ(h.Running().size(), 5u);
}

TaskSucceeded Ran(TaskId task, int64_t run_ns) {
  TaskSucceeded success;
  success.task = task;
  success.run_ns = run_ns;
  return success;
}
Config RunningAhead() {
  Config config;
  config.beyond.run_ahead = Duration::Millis(1);
  return config;
}

TEST(TasksTest, RunAheadSendsShortTasksBeforeTheirSlotIsFree) {
  Harness h(RunningAhead());
  h.AddExecutor("a", 1);
  h.AddExecutor("b", 1);
  h.Step({Job(0, {Source(0, 100)}, 0, 100)});
  ASSERT_EQ(h.Running().size(), 2u);  // nothing is known yet
  h.Step({Ran(h.Running().front().task, 100'000)});
  EXPECT_EQ(h.Running().size(), 2u + 10);  // 1 ms of tasks that take 0.1 ms
  // At most half of an executor's share of the rest.
  while (h.Running().size() > 2) {
    const size_t left = static_cast<size_t>(h.core().GetView().pending_tasks) + h.Running().size();
    EXPECT_LE(h.Running().size(), 2 + left / 2);
    h.Step({Ran(h.Running().front().task, 1000)});
  }
  // The next stage's tasks may take longer.
  while (!h.Running().empty()) h.Step({Ran(h.Running().front().task, 1000)});
  h.Step({Job(1, {Source(1, 100)}, 1, 100)});
  EXPECT_EQ(h.Running().size(), 2u);
  h.Step({Ran(h.Running().front().task, 2'000'000)});
  EXPECT_EQ(h.Running().size(), 2u);
}

TEST(TasksTest, WhatWasSentAheadOfALongTaskIsCalledBack) {
  Harness h(RunningAhead());
  h.AddExecutor("a", 1);
  h.Step({Job(0, {Source(0, 100)}, 0, 100)});
  h.Step({Ran(h.Running().front().task, 100'000)});
  const auto sent = h.Running();
  ASSERT_EQ(sent.size(), 11u);
  const ExecutorIndex b = h.AddExecutor("b", 1);
  const TaskId on_b = h.Running().back().task;
  h.After(Duration::Millis(40), {Ran(on_b, 100'000)});
  h.After(h.core().NextDeadline() - h.now());
  std::vector<TaskId> killed;
  for (const KillTask& kill : h.Said<KillTask>()) killed.push_back(kill.task);
  std::vector<TaskId> waiting;
  for (size_t i = 1; i < sent.size(); ++i) waiting.push_back(sent[i].task);
  EXPECT_EQ(killed, waiting);  // all but the one that runs
  for (const TaskId task : killed) {
    TaskFailed back;
    back.task = task;
    back.kind = FailureKind::kKilled;
    h.Step({back});
  }
  EXPECT_EQ(h.core().GetView().stages.front().failed_attempts, 0);
  const auto running = h.Running();
  EXPECT_EQ(std::count_if(running.begin(), running.end(), [&](const LaunchTask& t) { return t.executor != b; }), 1);
}

TEST(TasksTest, NothingIsSentAheadAfterACrashUntilItsJobsEnd) {
  Harness h(RunningAhead());
  const ExecutorIndex a = h.AddExecutor("a", 1);
  h.AddExecutor("b", 1);
  h.Step({Job(0, {Source(0, 100)}, 0, 100)});
  h.Step({Ran(h.Running().front().task, 1000)});
  ASSERT_GT(h.Running().size(), 2u);
  h.Step({ExecutorLost{a, LossKind::kExitedByApp, false, "crashed"}});
  while (h.Running().size() > 1) h.Step({Ran(h.Running().front().task, 1000)});
  EXPECT_GT(h.core().GetView().pending_tasks, 0);
  h.Step({Ran(h.Running().front().task, 1000)});
  EXPECT_EQ(h.Running().size(), 1u);
}

/// source -> shuffle 0 -> order-sensitive -> shuffle 1 -> result
void BuildIndeterminate(Harness& h, ExecutorIndex* loser) {
  *loser = h.AddExecutor("a", 1);
  h.AddExecutor("b", 1);
  Dataset sampled = Shuffled(1, 2, {{0, 0}});
  sampled.order_sensitive = true;
  h.Step({Job(0, {Source(0, 2), sampled, Shuffled(2, 2, {{1, 1}})}, 2, 2)});
  for (const StageId stage : {0, 1}) {
    while (!h.Running(stage).empty()) h.Succeed(h.Running(stage).front().task, {10, 10});
  }
}
TaskFailed LostOutput(TaskId reader, ExecutorIndex loser, const MapOutputTable& outputs) {
  TaskFailed failed;
  failed.task = reader;
  failed.kind = FailureKind::kFetchFailed;
  failed.shuffle = 1;
  failed.source = loser;
  failed.message = "gone";
  for (int32_t map = 0; map < outputs.maps(); ++map) {
    if (outputs.place(map) == loser.value) failed.map_index = map;
  }
  return failed;
}

TEST(TasksTest, IndeterminateStageIsComputedAgainAsAWhole) {
  for (const bool whole : {true, false}) {
    Config config;
    config.beyond.whole_stage_when_indeterminate = whole;
    Harness h(config);
    ExecutorIndex loser;
    BuildIndeterminate(h, &loser);
    ASSERT_EQ(h.Running(2).size(), 2u);
    h.Forget();
    h.Step({LostOutput(h.Running(2).front().task, loser, *h.core().Outputs(1))});
    // What the other reader computes from the old rows does not count.
    if (!h.Running(2).empty()) h.Succeed(h.Running(2).front().task);
    EXPECT_EQ(h.Said<ResultAccepted>().size(), whole ? 0u : 1u);
    h.After(Duration::Millis(200));
    size_t recomputed = 0;
    for (const StageSubmitted& stage : h.Said<StageSubmitted>()) {
      if (stage.stage == 1) recomputed = stage.partitions.size();
    }
    if (whole) {
      // Its own input is determinate as a set, but went with the executor in part: both stages come again.
      while (!h.Running(0).empty()) h.Succeed(h.Running(0).front().task, {10, 10});
      for (const StageSubmitted& stage : h.Said<StageSubmitted>()) {
        if (stage.stage == 1) recomputed = stage.partitions.size();
      }
      EXPECT_EQ(recomputed, 2u);
    } else {
      while (!h.Running(0).empty()) h.Succeed(h.Running(0).front().task, {10, 10});
      for (const StageSubmitted& stage : h.Said<StageSubmitted>()) {
        if (stage.stage == 1) recomputed = stage.partitions.size();
      }
      EXPECT_EQ(recomputed, 1u);
    }
    while (!h.Running().empty()) h.Succeed(h.Running().front().task, {10, 10});
    ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
    EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
    EXPECT_EQ(h.Said<ResultAccepted>().size(), 2u);
  }
}

TEST(TasksTest, IndeterminateRowsThatWereUsedFailTheJobWithThatReason) {
  Harness h;
  ExecutorIndex loser;
  BuildIndeterminate(h, &loser);
  ASSERT_EQ(h.Running(2).size(), 2u);
  h.Succeed(h.Running(2).front().task);
  h.Step({LostOutput(h.Running(2).front().task, loser, *h.core().Outputs(1))});
  ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
  EXPECT_FALSE(h.Said<JobEnded>()[0].succeeded);
  EXPECT_NE(h.Said<JobEnded>()[0].error.find("depend on the order"), std::string::npos);
}

TEST(TasksTest, ExecutorLossWithAndWithoutShuffleService) {
  for (const bool service : {false, true}) {
    Config config;
    config.external_shuffle_service = service;
    Harness h(config);
    const ExecutorIndex a = h.AddExecutor("a", 1);
    h.AddExecutor("b", 1);
    h.Step({Job(0, {Source(0, 4), Shuffled(1, 1, {{0, 0}})}, 1, 1)});
    const auto running = h.Running(0);
    const auto on_a = std::find_if(running.begin(), running.end(), [&](const auto& t) { return t.executor == a; });
    h.Succeed(on_a->task, {10});
    ASSERT_EQ(h.core().Outputs(0)->available(), 1);
    ExecutorLost lost;
    lost.executor = a;
    lost.kind = LossKind::kExitedNotByApp;
    h.Step({lost});
    EXPECT_EQ(h.core().Outputs(0)->available(), service ? 1 : 0);
    while (!h.Running().empty()) h.Succeed(h.Running().front().task, {10});
    EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
  }
}

TEST(TasksTest, AnExecutorThatServesItsOwnFilesTakesThemWithIt) {
  for (const bool own : {false, true}) {
    Config config;
    config.external_shuffle_service = true;
    config.beyond.retain_shuffle_executors = true;
    Harness h(config);
    const ExecutorIndex writer = h.AddExecutor("a", 2, "", own);
    Dataset read = Shuffled(1, 1, {{0, 0}});
    read.preferred = {{OnHost("b")}};
    h.Step({Job(0, {Source(0, 2), read}, 1, 1)});
    const ExecutorIndex reader = h.AddExecutor("b", 1);
    while (!h.Running(0).empty()) h.Succeed(h.Running(0).front().task, {10});
    ASSERT_EQ(h.Running().size(), 1u);
    ASSERT_EQ(h.Running()[0].executor, reader);
    EXPECT_EQ(h.core().Removable(), own ? std::vector<ExecutorIndex>{} : std::vector<ExecutorIndex>{writer});
    ExecutorLost lost;
    lost.executor = writer;
    lost.kind = LossKind::kExitedNotByApp;
    h.Step({lost});
    EXPECT_EQ(h.core().Outputs(0)->available(), own ? 0 : 2);
    h.Succeed(h.Running()[0].task);
    ASSERT_EQ(h.Said<JobEnded>().size(), 1u);
    EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
  }
}

TEST(TasksTest, OneAttemptCommits) {
  Config config;
  config.speculation.enabled = true;
  config.speculation.quantile = 0.5;
  Harness h(config);
  h.AddExecutor("a", 2);
  h.AddExecutor("b", 2);
  h.Step({Job(0, {Source(0, 2)}, 0, 2)});
  const TaskId slow = h.Running()[1].task;
  h.After(Duration::Seconds(1));
  h.Succeed(h.Running()[0].task);
  h.After(Duration::Seconds(10));
  ASSERT_EQ(h.Running().size(), 2u);
  const LaunchTask copy = h.Running().back();
  EXPECT_TRUE(copy.speculative);
  AskCommit ask;
  ask.task = copy.task;
  ask.token = 7;
  AskCommit rival = ask;
  rival.task = slow;
  rival.token = 8;
  h.Step({ask, rival, ask});
  auto answers = h.Said<CommitAnswered>();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0].granted);
  EXPECT_FALSE(answers[1].granted);
  EXPECT_TRUE(answers[2].granted);
  // The holder fails: the next may.
  h.Fail(copy.task, "crash");
  h.Step({rival});
  EXPECT_TRUE(h.Said<CommitAnswered>().back().granted);
  h.Succeed(slow);
  EXPECT_EQ(h.Said<ResultAccepted>().size(), 2u);
  // An attempt of a partition that is done may not.
  rival.task = 12345;
  h.Step({rival});
  EXPECT_FALSE(h.Said<CommitAnswered>().back().granted);
}

TEST(TasksTest, FailuresExcludeAnExecutor) {
  Config config;
  config.exclusion.enabled = true;
  Harness h(config);
  const ExecutorIndex a = h.AddExecutor("a", 2);
  h.AddExecutor("b", 2);
  h.Step({Job(0, {Source(0, 4)}, 0, 4)});
  for (int i = 0; i < 2; ++i) {
    const auto running = h.Running();
    const auto on_a = std::find_if(running.begin(), running.end(), [&](const auto& t) { return t.executor == a; });
    ASSERT_NE(on_a, running.end());
    h.Fail(on_a->task, "bad disk");
  }
  const auto excluded = h.Said<ExecutorExcluded>();
  ASSERT_EQ(excluded.size(), 1u);
  EXPECT_EQ(excluded[0].executor, a);
  EXPECT_EQ(excluded[0].stage, 0);
  for (const LaunchTask& task : h.Running()) EXPECT_NE(task.executor, a);
  while (!h.Running().empty()) h.Succeed(h.Running().front().task);
  EXPECT_TRUE(h.Said<JobEnded>()[0].succeeded);
  // Two failures on it in a set that succeeded: excluded for the application, for an hour.
  ASSERT_EQ(h.Said<ExecutorExcluded>().size(), 2u);
  EXPECT_EQ(h.Said<ExecutorExcluded>()[1].stage, -1);
  EXPECT_TRUE(h.core().GetView().executors[0].excluded);
}

TEST(TasksTest, StaleAndUnknownIdsChangeNothing) {
  Harness h;
  const ExecutorIndex a = h.AddExecutor("a", 1);
  h.Step({Job(0, {Source(0, 1)}, 0, 1)});
  const TaskId task = h.Running().front().task;
  ExecutorLost lost;
  lost.executor = a;
  h.Step({lost});
  h.AddExecutor("b", 1);
  const uint64_t before = h.core().StateHash();
  TaskStarted started;
  started.task = 99;
  TaskSucceeded success;
  success.task = task;  // of a lost executor
  TaskFailed failed;
  failed.task = -5;
  lost.executor = {55};
  CancelJob cancel;
  cancel.job = 9;
  BlockCached block;
  block.dataset = 4;
  block.executor = {77};
  const std::vector<Event> events{
      started, success, failed, lost, cancel, block, ExecutorDecommissioning{{42}}, ExecutorLoad{{42}, 5}};
  for (const Event& event : events) {
    h.Step({event});
    EXPECT_EQ(h.core().StateHash(), before) << event.index();
  }
}

/// Random jobs on executors that come, go and fail: every job ends, results come once, slots are never over-used
/// (Harness checks each start and end, and the invariants, at each step).
void RunRandomly(uint64_t seed) {
  base::Rng rng(seed);
  Config config;
  config.mode = rng.Chance(0.5) ? PoolMode::kFair : PoolMode::kFifo;
  config.locality.legacy_reset = rng.Chance(0.3);
  config.speculation.enabled = rng.Chance(0.5);
  config.speculation.quantile = 0.3;
  config.exclusion.enabled = rng.Chance(0.3);
  config.exclusion.timeout = Duration::Seconds(20);
  config.external_shuffle_service = rng.Chance(0.3);
  config.beyond.adaptive_delay = rng.Chance(0.3);
  config.beyond.load_weight_milli = rng.Chance(0.3) ? 300 : 0;
  config.beyond.templates = rng.Chance(0.3);
  config.beyond.run_ahead = Duration::Millis(rng.Chance(0.3) ? 2 : 0);
  config.stage_max_consecutive_attempts = 1000;
  Harness h(config);
  std::vector<ExecutorIndex> live;
  const auto add = [&] {
    const std::string host = "h" + std::to_string(rng.Below(4));
    live.push_back(h.AddExecutor(host, static_cast<int32_t>(rng.Between(1, 3)), rng.Chance(0.5) ? "r" + host : ""));
  };
  for (int i = 0; i < 3; ++i) add();
  DatasetId next_dataset = 0;
  ShuffleId next_shuffle = 0;
  JobId next_job = 0;
  std::vector<std::pair<DatasetId, int32_t>> known;
  std::map<JobId, size_t> outputs;
  const auto submit = [&] {
    std::vector<Dataset> fresh;
    const auto count = rng.Between(1, 4);
    for (int64_t i = 0; i < count; ++i) {
      Dataset dataset = Source(next_dataset++, static_cast<int32_t>(rng.Between(1, 6)));
      if (!known.empty() && rng.Chance(0.8)) {
        const auto parents = rng.Between(1, 2);
        std::vector<std::pair<DatasetId, ShuffleId>> from;
        for (int64_t p = 0; p < parents; ++p) from.push_back({known[rng.Below(known.size())].first, next_shuffle++});
        dataset = Shuffled(dataset.id, dataset.partitions, from);
        dataset.order_sensitive = rng.Chance(0.1);
      } else if (rng.Chance(0.7)) {
        dataset.preferred.resize(static_cast<size_t>(dataset.partitions));
        for (auto& places : dataset.preferred) {
          const auto n = rng.Below(3);
          for (uint64_t p = 0; p < n; ++p) places.push_back(OnHost("h" + std::to_string(rng.Below(4))));
        }
      }
      known.push_back({dataset.id, dataset.partitions});
      fresh.push_back(dataset);
    }
    SubmitJob job = Job(next_job++, fresh, known.back().first, known.back().second);
    job.pool = rng.Chance(0.5) ? "x" : "";
    outputs[job.job] = job.partitions.size();
    h.Step({job});
  };
  const auto outcome = [&](const LaunchTask& task, double trouble) -> Event {
    if (!rng.Chance(trouble)) {
      TaskSucceeded success;
      success.task = task.task;
      success.sizes.assign(6, static_cast<uint8_t>(rng.Below(120)));
      success.run_ns = rng.Between(0, 3'000'000);
      success.remote_read_ns = rng.Chance(0.3) ? rng.Between(1, 1'000'000'000) : 0;
      return success;
    }
    TaskFailed failed;
    failed.task = task.task;
    failed.kind = static_cast<FailureKind>(rng.Below(5));
    failed.message = "trouble";
    failed.shuffle = static_cast<ShuffleId>(rng.Below(static_cast<uint64_t>(next_shuffle) + 1));
    failed.map_index = static_cast<int32_t>(rng.Between(-1, 5));
    failed.source = {static_cast<uint32_t>(rng.Below(6))};
    return failed;
  };
  submit();
  for (int step = 0; step < 300; ++step) {
    const auto running = h.Running();
    switch (rng.Below(12)) {
      case 0:
        submit();
        break;
      case 1:
        if (live.size() < 6) add();
        break;
      case 2: {
        if (live.size() < 2) break;
        const size_t at = rng.Below(live.size());
        ExecutorLost lost;
        lost.executor = live[at];
        lost.kind = static_cast<LossKind>(rng.Below(5));
        lost.host_lost = rng.Chance(0.2);
        live.erase(live.begin() + static_cast<ptrdiff_t>(at));
        h.Step({lost});
        break;
      }
      case 3:
        h.After(Duration::Millis(rng.Between(1, 4000)));
        break;
      case 4: {
        CancelJob cancel;
        cancel.job = static_cast<JobId>(rng.Below(static_cast<uint64_t>(next_job)));
        if (rng.Chance(0.2)) h.Step({cancel});
        break;
      }
      default: {
        std::vector<Event> events;
        for (const LaunchTask& task : running) {
          if (rng.Chance(0.5)) events.push_back(TaskStarted{task.task});
          if (rng.Chance(0.4)) events.push_back(outcome(task, 0.1));
        }
        h.After(Duration::Millis(rng.Between(0, 300)), events);
      }
    }
  }
  // Now everything goes well: all jobs come to their end by themselves.
  add();
  for (int step = 0; step < 3000 && h.Said<JobEnded>().size() < outputs.size(); ++step) {
    std::vector<Event> events;
    for (const LaunchTask& task : h.Running()) events.push_back(outcome(task, 0));
    const Instant next = h.core().NextDeadline();
    if (events.empty()) {
      ASSERT_NE(next, Instant::Max()) << "stuck with seed " << seed;
    }
    h.After(events.empty() ? std::max(next - h.now(), Duration{}) : Duration::Millis(10), events);
  }
  std::map<JobId, std::set<int32_t>> accepted;
  for (const ResultAccepted& result : h.Said<ResultAccepted>()) {
    EXPECT_TRUE(accepted[result.job].insert(result.output).second) << "twice";
  }
  const auto ends = h.Said<JobEnded>();
  ASSERT_EQ(ends.size(), outputs.size()) << "seed " << seed;
  for (const JobEnded& end : ends) {
    EXPECT_TRUE(!end.succeeded || accepted[end.job].size() == outputs[end.job]) << end.job;
    EXPECT_EQ(end.error.empty(), end.succeeded);
  }
}

class TasksRandomTest : public testing::TestWithParam<uint64_t> {};
TEST_P(TasksRandomTest, EveryJobEndsAndEveryResultCountsOnce) {
  for (uint64_t i = 0; i < 20; ++i) {
    RunRandomly(base::TestSeed() + GetParam() * 20 + i);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, TasksRandomTest, testing::Range<uint64_t>(0, base::kAddressesWatched ? 2 : 10));

TEST(TasksTest, SameEventsSameEffects) {
  const auto run = [] {
    Harness h;
    h.AddExecutor("a", 2);
    h.AddExecutor("b", 2);
    h.Step({Job(0, {Source(0, 9, std::vector<std::vector<TaskLocation>>(9, {OnHost("a")}))}, 0, 9)});
    for (int i = 0; i < 5; ++i) h.After(Duration::Millis(900));
    h.Succeed(h.Running().front().task);
    return h.core().StateHash();
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace fairlead::tasks

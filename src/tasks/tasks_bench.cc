#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tasks/map_outputs.h"
#include "tasks/tasks.h"

namespace fairlead::tasks {
namespace {

using base::Duration;
using base::Instant;
using namespace model::tasks;  // NOLINT: all of it is about these

constexpr int32_t kTasks = 100'000;
constexpr int32_t kExecutors = 1'000;
constexpr int32_t kSlots = 4;
constexpr int32_t kRacks = 40;

/// 1,000 executors of four slots, one to a host, and jobs of 100,000 tasks with three preferred hosts each, as blocks
/// of a file have.
class Driver {
 public:
  explicit Driver(Config config) : core_(std::move(config)) {
    std::vector<Event> events;
    for (uint32_t i = 0; i < kExecutors; ++i) {
      ExecutorAdded added;
      added.executor = {i};
      added.id = "e" + std::to_string(i);
      added.host = "host" + std::to_string(i);
      added.rack = "rack" + std::to_string(i % kRacks);
      added.slots = kSlots;
      events.push_back(added);
    }
    Step(std::move(events));
    launched_ = 0;
    running_.clear();
  }

  void Submit(bool locality) {
    base::Rng rng(static_cast<uint64_t>(job_) + 1);
    SubmitJob job;
    job.job = job_;
    job.target = job_++;
    Dataset input;
    input.id = job.target;
    input.partitions = kTasks;
    if (locality) input.preferred.resize(kTasks);
    for (auto& places : input.preferred) {
      for (int i = 0; i < 3; ++i) {
        places.push_back({TaskLocation::Kind::kHost, "host" + std::to_string(rng.Below(kExecutors)), {}});
      }
    }
    job.datasets.push_back(std::move(input));
    for (int32_t i = 0; i < kTasks; ++i) job.partitions.push_back(i);
    std::vector<Event> events;
    events.push_back(std::move(job));
    Step(std::move(events));
  }

  /// The oldest `batch` running tasks end; time passes so that a task takes about ten milliseconds.
  void EndSome(size_t batch) {
    std::vector<Event> events;
    for (size_t i = 0; i < batch && !running_.empty(); ++i) {
      TaskSucceeded success;
      success.task = running_.front();
      running_.pop_front();
      events.push_back(std::move(success));
    }
    now_ = now_ + Duration::Micros(static_cast<int64_t>(batch) * 10'000 / (kExecutors * kSlots));
    Step(std::move(events));
  }
  void WaitForDeadline() {
    now_ = std::max(now_, core_.NextDeadline());
    Step({});
  }

  size_t running() const { return running_.size(); }
  int64_t launched() const { return launched_; }
  int64_t local() const { return local_; }
  int64_t jobs_ended() const { return jobs_ended_; }

 private:
  void Step(std::vector<Event> events) {
    out_.clear();
    core_.Step(now_, events, out_);
    for (const Effect& effect : out_) {
      if (const auto* launch = std::get_if<LaunchTask>(&effect)) Note(*launch);
      if (const auto* batch = std::get_if<LaunchBatch>(&effect)) {
        for (const LaunchTask& launch : batch->tasks) Note(launch);
      }
      jobs_ended_ += std::holds_alternative<JobEnded>(effect) ? 1 : 0;
    }
  }
  void Note(const LaunchTask& launch) {
    running_.push_back(launch.task);
    ++launched_;
    local_ += launch.level <= Level::kNodeLocal ? 1 : 0;
  }

  Tasks core_;
  Instant now_{Duration::Seconds(1).ns};
  JobId job_ = 0;
  std::vector<Effect> out_;
  std::deque<TaskId> running_;
  int64_t launched_ = 0;
  int64_t local_ = 0;
  int64_t jobs_ended_ = 0;
};

/// Tasks a second through the core, launch to end, without the building of the job's graph by its user.
void BM_Tasks(benchmark::State& state, bool locality, Config config) {
  const auto batch = static_cast<size_t>(state.range(0));
  Driver driver(std::move(config));
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t jobs = driver.jobs_ended() + 1;
    driver.Submit(locality);
    state.ResumeTiming();
    while (driver.jobs_ended() < jobs) {
      if (driver.running() == 0) {
        driver.WaitForDeadline();
      } else {
        driver.EndSome(batch);
      }
    }
  }
  state.SetItemsProcessed(driver.launched());
  state.counters["local"] =
      static_cast<double>(driver.local()) / static_cast<double>(std::max<int64_t>(driver.launched(), 1));
}
Config Speculating() {
  Config config;
  config.speculation.enabled = true;
  return config;
}
Config Templates() {
  Config config;
  config.beyond.templates = true;
  return config;
}
Config Excluding() {
  Config config;
  config.exclusion.enabled = true;
  return config;
}
BENCHMARK_CAPTURE(BM_Tasks, locality, true, Config{})->Arg(1)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Tasks, no_locality, false, Config{})->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Tasks, speculation, true, Speculating())->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Tasks, templates, true, Templates())->Arg(256)->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(BM_Tasks, excluding, true, Excluding())->Arg(256)->Unit(benchmark::kMillisecond);

/// From the action to the first launches of a stage of 100,000 tasks.
void BM_SubmitToFirstTask(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto driver = std::make_unique<Driver>(Config{});
    state.ResumeTiming();
    driver->Submit(true);
    benchmark::DoNotOptimize(driver->launched());
    state.PauseTiming();
    driver.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_SubmitToFirstTask)->Unit(benchmark::kMillisecond);

/// Sizes as in Spark's MapStatusesSerDeserBenchmark: uniform below 1 MiB.
MapOutputTable LargeTable() {
  constexpr int32_t kMaps = 200'000;
  constexpr int32_t kReduces = 1'000;
  MapOutputTable table(kMaps, kReduces);
  base::Rng rng(1);
  std::vector<uint8_t> row(kReduces);
  for (int32_t map = 0; map < kMaps; ++map) {
    for (uint8_t& code : row) code = EncodeSize(static_cast<int64_t>(rng.Below(1 << 20)));
    table.Set(map, static_cast<uint32_t>(map % kExecutors), map, row);
  }
  return table;
}
const MapOutputTable& SharedLargeTable() {
  static const MapOutputTable table = LargeTable();
  return table;
}

/// Into a buffer that has held it before, as the heap of a JVM has after the first round.
void BM_MapOutputsEncode(benchmark::State& state) {
  const MapOutputTable& table = SharedLargeTable();
  std::string bytes;
  EncodeMapOutputs(table, bytes);
  for (auto _ : state) {
    bytes.clear();
    EncodeMapOutputs(table, bytes);
  }
  state.counters["MB"] = static_cast<double>(bytes.size()) / 1e6;
}
BENCHMARK(BM_MapOutputsEncode)->Unit(benchmark::kMillisecond);

void BM_MapOutputsDecode(benchmark::State& state) {
  std::string bytes;
  EncodeMapOutputs(SharedLargeTable(), bytes);
  for (auto _ : state) {
    state.PauseTiming();
    std::string copy = bytes;
    state.ResumeTiming();
    auto table = DecodeMapOutputs(std::move(copy));
    benchmark::DoNotOptimize(table.ok());
    state.PauseTiming();
    { auto gone = std::move(table); }
    state.ResumeTiming();
  }
}
BENCHMARK(BM_MapOutputsDecode)->Unit(benchmark::kMillisecond);

void BM_MapOutputsReducerList(benchmark::State& state) {
  std::string bytes;
  EncodeMapOutputs(SharedLargeTable(), bytes);
  const auto table = DecodeMapOutputs(std::move(bytes));
  int32_t reduce = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(table.value().BlocksOf(reduce).size());
    reduce = (reduce + 1) % table.value().reduces();
  }
}
BENCHMARK(BM_MapOutputsReducerList)->Unit(benchmark::kMillisecond);

void BM_MapOutputRegister(benchmark::State& state) {
  MapOutputTable table(200'000, 1'000);
  const std::vector<uint8_t> row(1'000, 120);
  int32_t map = 0;
  for (auto _ : state) {
    table.Set(map, 1, map, row);
    map = (map + 1) % 20'000;
  }
}
BENCHMARK(BM_MapOutputRegister);

}  // namespace
}  // namespace fairlead::tasks

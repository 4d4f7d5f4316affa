// How fast the driver gets tasks to executors and back: engine_tasks TASKS LONE
// Prints one JSON object: tasks per second of a stage of TASKS tasks that do nothing but send a number back, the time
// from the action to the first running task of such a stage, and the latency of LONE jobs of one task, each by itself.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

/// One clock for all processes of the machine.
int64_t Nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct StageTimes {
  double tasks_per_second = 0;
  double first_task_ms = 0;
};

StageTimes RunStage(Context& context, int32_t tasks) {
  const auto begun =
      context.Range(0, tasks, Partitions(tasks)).MapPartitions<int64_t>([](auto&, auto& emit) { emit(Nanoseconds()); });
  const int64_t start = Nanoseconds();
  const int64_t first = *begun.Reduce([](int64_t a, int64_t b) { return std::min(a, b); });
  const int64_t end = Nanoseconds();
  return {static_cast<double>(tasks) * 1e9 / static_cast<double>(end - start),
          static_cast<double>(first - start) / 1e6};
}

void EngineTasks(Context& context, const Arguments& arguments) {
  const auto tasks = static_cast<int32_t>(arguments.Number(0, 100'000));
  const long lone = arguments.Number(1, 2000);
  RunStage(context, 1000);  // connections, first allocations
  StageTimes best;
  for (int round = 0; round < 3; ++round) {
    const StageTimes times = RunStage(context, tasks);
    best.tasks_per_second = std::max(best.tasks_per_second, times.tasks_per_second);
    best.first_task_ms = round == 0 ? times.first_task_ms : std::min(best.first_task_ms, times.first_task_ms);
  }
  const auto one = context.Range(0, 1, Partitions(1));
  std::vector<int64_t> latencies;
  for (long i = 0; i < lone; ++i) {
    const int64_t start = Nanoseconds();
    if (one.Count() != 1) throw JobError("a task lost its record");
    latencies.push_back(Nanoseconds() - start);
  }
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](size_t percent) {
    return static_cast<double>(latencies[(latencies.size() - 1) * percent / 100]) / 1e3;
  };
  std::printf(
      "{\"tasks\": %d, \"tasks_per_s\": %.0f, \"first_task_ms\": %.2f, \"lone_p50_us\": %.1f, \"lone_p99_us\": %.1f}\n",
      tasks, best.tasks_per_second, best.first_task_ms, at(50), at(99));
}

}  // namespace

FAIRLEAD_JOB(EngineTasks)

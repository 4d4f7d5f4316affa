#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "scheduler/busy_cluster.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

// The workloads of the throughput table of the CapacityScheduler recordings: nodes, leaf queues, applications; asks for
// "*"; one grant per heartbeat or up to ten; memory alone or dominant shares. bench/java/SchedulerGrants.java measures
// Hadoop's own scheduler on them.

namespace fairlead::scheduler::yarn_capacity {
namespace {

constexpr int kMost = 10;

model::CapacityValue Percent(double percent) {
  model::CapacityValue value;
  value.percent = static_cast<float>(percent);
  value.vector.assign(model::ResourceTypes::Count(), {model::CapacityUnit::kPercent, percent});
  return value;
}

model::CapacityQueues Queues(int count, bool multiple, bool dominant) {
  model::CapacityQueues queues;
  queues.dominant = dominant;
  queues.am_percent = 1;
  queues.user_limit_factor = 100;
  queues.maximum_applications = 100'000;
  queues.assign_multiple = multiple;
  queues.max_assign_per_heartbeat = queues.offswitch_per_heartbeat = multiple ? kMost : 1;
  model::CapacityQueueSettings& root = queues.queues["root"].own;
  root.queues.emplace();
  for (int q = 0; q < count; ++q) {
    const std::string path = BusyCluster::QueueName(q);
    root.queues->push_back(path.substr(path.rfind('.') + 1));
    queues.queues[path].own.capacity[""] = Percent(100.0 / count);
  }
  return queues;
}

void Grants(benchmark::State& state, bool multiple, bool dominant) {
  const BusyLoad load = LoadOf(state);
  YarnCapacityConfig config;
  config.timed_passes = false;
  auto core = MakeYarnCapacity(config, Queues(load.queues, multiple, dominant));
  if (!core.ok()) return state.SkipWithError(core.error().message.c_str());
  BusyCluster cluster(std::move(*core), load);
  MeasureGrants(state, cluster, load, multiple ? kMost : 1);
}

void CapacityGrants(benchmark::State& state) { Grants(state, false, false); }
void CapacityGrantsMultiple(benchmark::State& state) { Grants(state, true, false); }
void CapacityGrantsDominant(benchmark::State& state) { Grants(state, false, true); }
void CapacityGrantsMultipleDominant(benchmark::State& state) { Grants(state, true, true); }

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({1000, 10, 100})->Args({1000, 100, 1000})->Args({5000, 100, 1000})->Args({5000, 100, 5000});
}
BENCHMARK(CapacityGrants)->Apply(Sizes);
BENCHMARK(CapacityGrantsMultiple)->Apply(Sizes);
BENCHMARK(CapacityGrantsDominant)->Args({5000, 100, 1000});
BENCHMARK(CapacityGrantsMultipleDominant)->Args({5000, 100, 1000});

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity

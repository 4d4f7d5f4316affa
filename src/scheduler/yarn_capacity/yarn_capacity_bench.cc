#include <benchmark/benchmark.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

model::CapacityQueues Queues(int count, bool multiple, bool dominant, int partitions = 1) {
  model::CapacityQueues queues;
  queues.dominant = dominant;
  queues.am_percent = 1;
  queues.user_limit_factor = 100;
  queues.maximum_applications = 100'000;
  queues.assign_multiple = multiple;
  queues.max_assign_per_heartbeat = queues.offswitch_per_heartbeat = multiple ? kMost : 1;
  model::CapacityQueueSettings& root = queues.queues["root"].own;
  root.queues.emplace();
  std::set<std::string> labels = {""};
  for (int p = 1; p < partitions; ++p) labels.insert(BusyCluster::LabelName(p));
  queues.configured_labels["root"] = labels;
  for (int q = 0; q < count; ++q) {
    const std::string path = BusyCluster::QueueName(q);
    root.queues->push_back(path.substr(path.rfind('.') + 1));
    queues.configured_labels[path] = labels;
    queues.queues[path].own.capacity[""] = Percent(100.0 / count);
    for (int p = 1; p < partitions; ++p) {
      queues.queues[path].own.capacity[BusyCluster::LabelName(p)] = Percent(100.0 / count);
    }
  }
  for (int p = 1; p < partitions; ++p) root.capacity[BusyCluster::LabelName(p)] = Percent(100);
  return queues;
}

void Grants(benchmark::State& state, const BusyLoad& load, bool multiple, bool dominant) {
  YarnCapacityConfig config;
  config.timed_passes = false;
  std::vector<model::scheduler::ClusterLabel> labels;
  for (int p = 1; p < load.partitions; ++p) labels.push_back({BusyCluster::LabelName(p), true});
  auto core = MakeYarnCapacity(config, Queues(load.queues, multiple, dominant, load.partitions), labels);
  if (!core.ok()) return state.SkipWithError(core.error().message.c_str());
  BusyCluster cluster(std::move(*core), load);
  for (int p = 0; p < load.partitions; ++p) cluster.Heartbeat();
  if (cluster.Empty() < load.partitions) return state.SkipWithError("a partition serves nobody");
  MeasureGrants(state, cluster, load, multiple ? kMost : 1);
}

void CapacityGrants(benchmark::State& state) { Grants(state, LoadOf(state), false, false); }
void CapacityGrantsMultiple(benchmark::State& state) { Grants(state, LoadOf(state), true, false); }
void CapacityGrantsDominant(benchmark::State& state) { Grants(state, LoadOf(state), false, true); }
void CapacityGrantsMultipleDominant(benchmark::State& state) { Grants(state, LoadOf(state), true, true); }

/// The fourth number is that of users: of 50 each leaf has one.
void CapacityGrowsWithUsers(benchmark::State& state) {
  BusyLoad load = LoadOf(state);
  load.users = static_cast<int>(state.range(3));
  Grants(state, load, false, false);
}

/// The fourth number is that of partitions, to which nodes and applications belong in turn.
void CapacityGrowsWithPartitions(benchmark::State& state) {
  BusyLoad load = LoadOf(state);
  load.partitions = static_cast<int>(state.range(3));
  Grants(state, load, false, false);
}

/// A preemption round over a full cluster of 20 containers a node: half of the queues have all, the others want theirs.
void CapacityPreemptionRound(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const int leaves = static_cast<int>(state.range(1));
  model::CapacityQueues queues = Queues(leaves, true, true);
  queues.offswitch_per_heartbeat = 20;
  queues.preemption.enabled = true;
  queues.preemption.wait_before_kill_ms = INT32_MAX;
  YarnCapacityConfig config;
  config.timed_passes = false;
  auto core = MakeYarnCapacity(config, queues);
  if (!core.ok()) return state.SkipWithError(core.error().message.c_str());
  EffectSink effects;
  int64_t granted = 0;
  const auto send = [&](model::scheduler::Event event) {
    effects.clear();
    (*core)->Step({}, {&event, 1}, effects);
    for (const auto& effect : effects) granted += std::holds_alternative<model::scheduler::Granted>(effect) ? 1 : 0;
  };
  const auto submit = [&](uint32_t app, const std::string& queue) {
    model::scheduler::AppAdded added;
    added.app = {app};
    added.id = {1700000000000, static_cast<int32_t>(app) + 1};
    added.queue = queue;
    added.user = "user" + std::to_string(app % 50);
    added.place = false;
    added.unmanaged = true;
    send(added);
    send(model::scheduler::AttemptAdded{{app}, 1, false});
    model::scheduler::Allocate call;
    call.app = {app};
    call.asks = {{1, 0, "*", true, model::Resources::Of(1024, 1), nodes * 20, ""}};
    send(call);
  };
  for (int n = 0; n < nodes; ++n) {
    send(model::scheduler::NodeAdded{
        {static_cast<uint32_t>(n)}, "host" + std::to_string(n), 1, "/rack", model::Resources::Of(20 * 1024, 20), {}});
  }
  for (int q = 0; q < leaves / 2; ++q) submit(static_cast<uint32_t>(q), BusyCluster::QueueName(q));
  for (int n = 0; n < nodes; ++n) send(model::scheduler::NodeUpdated{{static_cast<uint32_t>(n)}, {}, {}});
  for (int n = 0; n < nodes; ++n) send(model::scheduler::NodeUpdated{{static_cast<uint32_t>(n)}, {}, {}});
  if (granted < nodes * 19) return state.SkipWithError("the cluster is not full");
  for (int q = leaves / 2; q < leaves; ++q) submit(static_cast<uint32_t>(q), BusyCluster::QueueName(q));
  for (auto _ : state) send(model::scheduler::Pass{model::scheduler::PassKind::kPreempt});
  state.counters["containers"] = static_cast<double>(granted);
  state.counters["marked"] = static_cast<double>(effects.size());
}
BENCHMARK(CapacityPreemptionRound)
    ->Args({500, 100})
    ->Args({5000, 100})
    ->Args({5000, 500})
    ->Unit(benchmark::kMillisecond);

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({1000, 10, 100})->Args({1000, 100, 1000})->Args({5000, 100, 1000})->Args({5000, 100, 5000});
}
BENCHMARK(CapacityGrants)->Apply(Sizes);
BENCHMARK(CapacityGrantsMultiple)->Apply(Sizes);
BENCHMARK(CapacityGrantsDominant)->Args({5000, 100, 1000});
BENCHMARK(CapacityGrantsMultipleDominant)->Args({5000, 100, 1000});
BENCHMARK(CapacityGrowsWithUsers)
    ->Args({5000, 100, 5000, 50})
    ->Args({5000, 100, 5000, 500})
    ->Args({5000, 100, 5000, 5000});
BENCHMARK(CapacityGrowsWithPartitions)
    ->Args({5000, 100, 1000, 1})
    ->Args({5000, 100, 1000, 3})
    ->Args({5000, 100, 1000, 11});

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity

#include <benchmark/benchmark.h>

#include <memory>

#include "scheduler/busy_cluster.h"
#include "scheduler/yarn_fair/yarn_fair.h"

// The workloads of the throughput table of the FairScheduler recordings: nodes, leaf queues, applications; asks for "*"
// or for hosts; one grant per heartbeat or several; fair or drf. The real FairScheduler 3.4.3, alone in its process on
// a 2-core machine of the same kind, makes (grants/s; one update pass):
//   1,000 nodes,  10 queues,   100 applications, any     40,362   0.34 ms
//   1,000        100         1,000               any     16,482   6.1 ms
//   5,000        100         1,000               any     13,866   5.6 ms
//   5,000        100         1,000               local   17,230   4.6 ms
//   5,000        100         1,000               any, assign multiple   15,006
//   5,000        100         1,000               any, drf               14,077
//   5,000        100         5,000               any      7,350   22 ms
// and 240 ms for one continuous attempt over 5,000 nodes. bench/java/SchedulerGrants.java measures it here and now.

namespace fairlead::scheduler::yarn_fair {
namespace {

namespace ms = model::scheduler;

/// What a bench sets besides.
struct Load : BusyLoad {
  explicit Load(const benchmark::State& state) : BusyLoad(LoadOf(state)) {}
  bool delayed = false;  // asks wait for the hosts and racks that they name
  bool multiple = false;
  bool drf = false;
  bool continuous = false;
};

std::unique_ptr<Scheduler> MakeCore(const Load& load) {
  YarnFairConfig config;
  config.timed_passes = false;
  config.assign_multiple = load.multiple;
  config.continuous = load.continuous;
  if (load.delayed) config.locality_threshold_node = config.locality_threshold_rack = 0.1F;
  config.locality_delay_node_ms = load.continuous ? 1000 : -1;
  config.locality_delay_rack_ms = load.continuous ? 1000 : -1;
  model::QueueTree tree;
  tree.default_policy = load.drf ? "drf" : "fair";
  tree.queue_max_am_share_default = load.starting ? 0.0 : -1.0;  // starting: the masters' share is full
  for (int q = 0; q < load.queues; ++q) {
    model::QueueConfig queue;
    queue.name = BusyCluster::QueueName(q);
    queue.weight = 1.0 + q % 3;
    tree.queues.push_back(queue);
  }
  return MakeYarnFair(config, tree);
}

class Cluster : public BusyCluster {
 public:
  explicit Cluster(const Load& load) : BusyCluster(MakeCore(load), load) { Pass(ms::PassKind::kUpdate); }
  void Pass(ms::PassKind kind) { Send(ms::Pass{kind}); }
};

void Grants(benchmark::State& state, const Load& load) {
  Cluster cluster(load);
  MeasureGrants(state, cluster, load, load.multiple ? load.nodes : 1);
}

void GrantsAny(benchmark::State& state) { Grants(state, Load(state)); }
void GrantsLocal(benchmark::State& state) {
  Load load(state);
  load.local = true;
  Grants(state, load);
}
/// Not in the table: most offers are declined while the asks wait for closer nodes.
void GrantsDelayed(benchmark::State& state) {
  Load load(state);
  load.local = load.delayed = true;
  Grants(state, load);
}
void GrantsMultiple(benchmark::State& state) {
  Load load(state);
  load.multiple = true;
  Grants(state, load);
}
void GrantsDrf(benchmark::State& state) {
  Load load(state);
  load.drf = true;
  Grants(state, load);
}

/// A heartbeat that finds every application refused its master.
void RefusedMasters(benchmark::State& state) {
  Load load(state);
  load.starting = true;
  Cluster cluster(load);
  for (auto _ : state) cluster.Heartbeat();
}

/// A heartbeat of a full node, while every application asks for more.
void FullNodes(benchmark::State& state) {
  Load load(state);
  load.cores = 4;
  Cluster cluster(load);
  for (int i = 0; i < (load.cores + 1) * load.nodes; ++i) cluster.Heartbeat();
  for (auto _ : state) cluster.Heartbeat();
}

/// One update pass after every application has changed its ask and some got containers.
void UpdatePass(benchmark::State& state) {
  Cluster cluster{Load(state)};
  for (auto _ : state) {
    state.PauseTiming();
    cluster.Disturb();
    cluster.Empty();
    for (int i = 0; i < 500; ++i) cluster.Heartbeat();
    state.ResumeTiming();
    cluster.Pass(ms::PassKind::kUpdate);
  }
}

/// One continuous round over all nodes, one container each.
void ContinuousAttempt(benchmark::State& state) {
  Load load(state);
  load.continuous = load.uneven = true;  // nodes of equal free memory would count as one
  Cluster cluster(load);
  for (auto _ : state) {
    cluster.Pass(ms::PassKind::kContinuous);
    state.PauseTiming();
    cluster.Empty();
    state.ResumeTiming();
  }
}

BENCHMARK(GrantsAny)
    ->Args({1000, 10, 100})
    ->Args({1000, 100, 1000})
    ->Args({5000, 100, 1000})
    ->Args({5000, 100, 5000})
    ->Args({50000, 1000, 47000});
BENCHMARK(GrantsLocal)->Args({5000, 100, 1000});
BENCHMARK(GrantsDelayed)->Args({5000, 100, 1000});
BENCHMARK(GrantsMultiple)->Args({5000, 100, 1000});
BENCHMARK(GrantsDrf)->Args({5000, 100, 1000});
BENCHMARK(RefusedMasters)->Args({5000, 10, 100})->Args({5000, 10, 1000})->Args({5000, 10, 10000});
BENCHMARK(FullNodes)->Args({5000, 10, 1000})->Args({5000, 100, 1000})->Args({5000, 1000, 1000});
BENCHMARK(UpdatePass)
    ->Args({1000, 10, 100})
    ->Args({5000, 100, 1000})
    ->Args({5000, 100, 5000})
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(50);
BENCHMARK(ContinuousAttempt)->Args({5000, 100, 1000})->Unit(benchmark::kMillisecond)->Iterations(20);

}  // namespace
}  // namespace fairlead::scheduler::yarn_fair

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

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
// and 240 ms for one continuous attempt over 5,000 nodes. bench/java/FairSchedulerGrants.java measures it here and now.

namespace fairlead::scheduler::yarn_fair {
namespace {

namespace ms = model::scheduler;
using model::Resources;

struct Workload {
  int nodes = 5000;
  int queues = 100;
  int apps = 1000;
  bool local = false;    // asks name hosts and racks
  bool delayed = false;  // and wait for them
  bool multiple = false;
  bool drf = false;
  bool continuous = false;
  bool starting = false;  // every application waits for its master, and the masters' share is full
  int cores = 128;        // of a node
};

constexpr int kNodeMemory = 128 * 1024;
constexpr int kBatch = 50'000;
constexpr int kAskCount = 1'000'000;

/// A cluster whose applications always want more.
class Cluster {
 public:
  explicit Cluster(const Workload& load) : load_(load) {
    YarnFairConfig config;
    config.timed_passes = false;
    config.assign_multiple = load.multiple;
    config.continuous = load.continuous;
    if (load.delayed) config.locality_threshold_node = config.locality_threshold_rack = 0.1F;
    config.locality_delay_node_ms = load.continuous ? 1000 : -1;
    config.locality_delay_rack_ms = load.continuous ? 1000 : -1;
    model::QueueTree tree;
    tree.default_policy = load.drf ? "drf" : "fair";
    tree.queue_max_am_share_default = load.starting ? 0.0 : -1.0;
    for (int q = 0; q < load.queues; ++q) {
      model::QueueConfig queue;
      queue.name = QueueName(q);
      queue.weight = 1.0 + q % 3;
      tree.queues.push_back(queue);
    }
    core_ = MakeYarnFair(config, tree);
    for (int n = 0; n < load.nodes; ++n) {
      const int memory = kNodeMemory + (load.continuous ? n : 0);  // nodes of equal free memory would count as one
      Send(ms::NodeAdded{{static_cast<uint32_t>(n)}, Host(n), 1, Rack(n), Resources::Of(memory, load.cores), {}});
    }
    for (int a = 0; a < load.apps; ++a) AddApp(a);
    Pass(ms::PassKind::kUpdate);
  }

  void Pass(ms::PassKind kind) { Send(ms::Pass{kind}); }

  /// One heartbeat of the next node: the real one's handle(NODE_UPDATE).
  void Heartbeat() {
    Send(ms::NodeUpdated{{next_node_}, {}, {}});
    next_node_ = (next_node_ + 1) % static_cast<uint32_t>(load_.nodes);
  }

  /// Ends what was granted since the last call, after its masters have picked it up; gives how many that were.
  int64_t Empty() {
    EffectSink granted;
    granted.swap(effects_);
    int64_t grants = 0;
    for (const ms::Effect& effect : granted) {
      const auto* grant = std::get_if<ms::Granted>(&effect);
      if (grant == nullptr) continue;
      ++grants;
      Send(ms::Acquired{grant->app, {grant->container}});
      Send(ms::ContainerEnded{grant->container, 0});
    }
    effects_.clear();
    return grants;
  }

  /// An application in every queue changes its mind, as between two update passes of a busy cluster.
  void Disturb() {
    for (int a = 0; a < load_.apps; ++a) Ask(a, kAskCount + ++disturbances_ % 7);
    effects_.clear();
  }

  std::unique_ptr<Scheduler> Fork() const { return core_->Fork(); }

 private:
  static std::string QueueName(int q) { return "root.queue" + std::to_string(q); }
  static std::string Host(int n) { return "host" + std::to_string(n) + ".example.org"; }
  static std::string Rack(int n) { return "/rack" + std::to_string(n / 40); }

  void AddApp(int a) {
    ms::AppAdded added;
    added.app = {static_cast<uint32_t>(a)};
    added.id = {1700000000000, a + 1};
    added.queue = QueueName(a % load_.queues);
    added.user = "user" + std::to_string(a % 50);
    added.place = false;
    added.unmanaged = !load_.starting;
    Send(added);
    Send(ms::AttemptAdded{added.app, 1, false});
    Ask(a, kAskCount);
  }

  void Ask(int a, int count) {
    ms::Allocate call;
    call.app = {static_cast<uint32_t>(a)};
    const auto line = [&](const std::string& name) {
      model::Ask ask;
      ask.priority = 1;
      ask.allocation_request_id = 0;
      ask.name = name;
      ask.capability = Resources::Of(1024, 1);
      ask.count = count;
      call.asks.push_back(ask);
    };
    line("*");
    if (load_.local) {
      for (int i = 0; i < 20; ++i) {
        const int n = (a * 37 + i * 251) % load_.nodes;
        line(Host(n));
        line(Rack(n));
      }
    }
    Send(call);
  }

  void Send(ms::Event event) { core_->Step({}, std::span<const ms::Event>(&event, 1), effects_); }

  Workload load_;
  std::unique_ptr<YarnFairScheduler> core_;
  EffectSink effects_;
  uint32_t next_node_ = 0;
  int disturbances_ = 0;
};

Workload Load(const benchmark::State& state) {
  Workload load;
  load.nodes = static_cast<int>(state.range(0));
  load.queues = static_cast<int>(state.range(1));
  load.apps = static_cast<int>(state.range(2));
  return load;
}

void Grants(benchmark::State& state, const Workload& load) {
  Cluster cluster(load);
  int64_t grants = 0;
  const int batch = load.multiple ? load.nodes : std::min(kBatch, 40 * load.nodes);  // so that nodes have room
  while (state.KeepRunningBatch(batch)) {
    for (int i = 0; i < batch; ++i) cluster.Heartbeat();
    state.PauseTiming();
    grants += cluster.Empty();
    state.ResumeTiming();
  }
  state.counters["grants/s"] = benchmark::Counter(static_cast<double>(grants), benchmark::Counter::kIsRate);
}

void GrantsAny(benchmark::State& state) { Grants(state, Load(state)); }
void GrantsLocal(benchmark::State& state) {
  Workload load = Load(state);
  load.local = true;
  Grants(state, load);
}
/// Not in the table: most offers are declined while the asks wait for closer nodes.
void GrantsDelayed(benchmark::State& state) {
  Workload load = Load(state);
  load.local = load.delayed = true;
  Grants(state, load);
}
void GrantsMultiple(benchmark::State& state) {
  Workload load = Load(state);
  load.multiple = true;
  Grants(state, load);
}
void GrantsDrf(benchmark::State& state) {
  Workload load = Load(state);
  load.drf = true;
  Grants(state, load);
}

/// A heartbeat that finds every application refused its master.
void RefusedMasters(benchmark::State& state) {
  Workload load = Load(state);
  load.starting = true;
  Cluster cluster(load);
  for (auto _ : state) cluster.Heartbeat();
}

/// A heartbeat of a full node, while every application asks for more.
void FullNodes(benchmark::State& state) {
  Workload load = Load(state);
  load.cores = 4;
  Cluster cluster(load);
  for (int i = 0; i < (load.cores + 1) * load.nodes; ++i) cluster.Heartbeat();
  for (auto _ : state) cluster.Heartbeat();
}

/// One update pass after every application has changed its ask and some got containers.
void UpdatePass(benchmark::State& state) {
  Cluster cluster(Load(state));
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
  Workload load = Load(state);
  load.continuous = true;
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

#include <benchmark/benchmark.h>
#include <time.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/shared/water_fill.h"

// Speed of the default profile on the workloads of the recorded real FairScheduler: a full cluster where containers end
// node by node, and what they free is granted again in the same step. Arguments: nodes, leaf queues, applications, and
// kind: 0 any node ("*"), 1 local (each application names 3 hosts and a rack), 2 any with mixed sizes. Counts
// completions and grants both, reports grants per second of CPU time; every grant goes through queue limits, masters'
// share, locality.

namespace fairlead::scheduler {
namespace {

namespace ev = model::scheduler;

constexpr int kPerNode = 8;

class Load {
 public:
  Load(uint32_t nodes, uint32_t queues, uint32_t apps, int kind, const model::Wishes& wishes = {})
      : by_node_(nodes), measured_(wishes.measured_load) {
    FairleadConfig config;
    config.queues.wishes = wishes;
    for (uint32_t q = 0; q < queues; ++q) {
      model::QueueConfig queue;
      queue.name = "root.q" + std::to_string(q);
      queue.weight = 1 + q % 4;
      queue.max_resources = model::ConfiguredResources{{}, {{"*", 90}}, INT64_MAX};
      config.queues.queues.push_back(queue);
    }
    scheduler_ = MakeFairlead(config);
    std::vector<ev::Event> events;
    for (uint32_t a = 0; a < apps; ++a) {
      ev::AppAdded added;
      added.app = {a};
      added.id = {1, static_cast<int32_t>(a) + 1};
      added.queue = "root.q" + std::to_string(a % queues);
      added.user = "u" + std::to_string(a % 50);
      added.place = false;
      added.unmanaged = true;
      events.push_back(added);
      events.push_back(ev::AttemptAdded{{a}, 1, false});
      events.push_back(AskOf(a, nodes, kind));
    }
    for (uint32_t n = 0; n < nodes; ++n) {
      events.push_back(
          ev::NodeAdded{{n}, "n" + std::to_string(n), 1, Rack(n), model::Resources::Of(kPerNode * 1024, kPerNode), {}});
    }
    Step(events);
  }

  /// Ends everything on the next node; what it frees is granted in the same step. Returns the grants.
  int64_t Turn() {
    ev::NodeUpdated update;
    update.node = {next_};
    for (const model::ContainerId& id : by_node_[next_]) update.completed.push_back({id, 0});
    by_node_[next_].clear();
    events_.clear();
    if (measured_) events_.push_back(HalfUsed(next_));
    next_ = (next_ + 1) % static_cast<uint32_t>(by_node_.size());
    events_.push_back(std::move(update));
    return Step(events_);
  }
  Scheduler& scheduler() { return *scheduler_; }
  size_t nodes() const { return by_node_.size(); }

 private:
  static std::string Rack(uint32_t node) { return "/r" + std::to_string(node / 40); }

  /// What the node's containers use, as it tells with the heartbeat that ends them.
  static ev::NodeMeasured HalfUsed(uint32_t node) {
    ev::NodeMeasured told;
    told.node = {node};
    told.use.milli_cores = kPerNode * 500;
    told.use.physical_bytes = kPerNode * (int64_t{512} << 20);
    told.containers = told.use;
    told.physical = model::Resources::Of(kPerNode * 1024, kPerNode);
    return told;
  }

  static ev::Allocate AskOf(uint32_t app, uint32_t nodes, int kind) {
    ev::Allocate call;
    call.app = {app};
    model::Ask ask;
    ask.priority = 1;
    ask.capability = kind == 2 ? model::Resources::Of(512 * (1 + app % 6), 1 + app % 3) : model::Resources::Of(1024, 1);
    ask.count = 1'000'000;
    if (kind == 1) {
      for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t node = (app * 7919 + i * 104729) % nodes;
        ask.name = "n" + std::to_string(node);
        call.asks.push_back(ask);
        ask.name = Rack(node);
        call.asks.push_back(ask);
      }
    }
    ask.name = "*";
    call.asks.push_back(ask);
    return call;
  }

  int64_t Step(const std::vector<ev::Event>& events) {
    effects_.clear();
    scheduler_->Step(now_, events, effects_);
    now_ = now_ + base::Duration::Millis(1);
    int64_t grants = 0;
    for (const ev::Effect& effect : effects_) {
      if (const auto* granted = std::get_if<ev::Granted>(&effect)) {
        by_node_[granted->node.value].push_back(granted->container);
        ++grants;
      }
    }
    return grants;
  }

  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::vector<model::ContainerId>> by_node_;
  bool measured_;
  std::vector<ev::Event> events_;
  EffectSink effects_;
  base::Instant now_{};
  uint32_t next_ = 0;
};

void BM_Grants(benchmark::State& state) {
  Load load(static_cast<uint32_t>(state.range(0)), static_cast<uint32_t>(state.range(1)),
            static_cast<uint32_t>(state.range(2)), static_cast<int>(state.range(3)));
  for (size_t i = 0; i < load.nodes(); ++i) load.Turn();
  int64_t grants = 0;
  for (auto _ : state) grants += load.Turn();
  state.SetItemsProcessed(grants);
  state.counters["grants/s"] = benchmark::Counter(static_cast<double>(grants), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Grants)
    ->ArgNames({"nodes", "queues", "apps", "kind"})
    ->Args({1000, 10, 100, 0})
    ->Args({1000, 100, 1000, 0})
    ->Args({5000, 100, 1000, 0})
    ->Args({5000, 100, 1000, 1})
    ->Args({5000, 100, 1000, 2})
    ->Args({5000, 100, 5000, 0})
    ->Args({50000, 1000, 47000, 0})
    ->Args({10000, 100, 1000, 0})
    ->Args({50000, 100, 1000, 0})
    ->Args({5000, 10, 10, 0})
    ->Args({5000, 100, 10000, 0})
    ->Args({5000, 10000, 10000, 0});

base::Duration ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return base::Duration{int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

/// Grants a second of CPU time, and how long they took.
struct Pace {
  int64_t grants = 0;
  base::Duration time;

  void Run(Load& load) {
    constexpr int kTurns = 500;
    const base::Duration begin = ThreadTime();
    for (int i = 0; i < kTurns; ++i) grants += load.Turn();
    time = time + (ThreadTime() - begin);
  }
  double Rate() const { return static_cast<double>(grants) * 1e9 / static_cast<double>(time.ns); }
};

/// With wishes and without, by turns, so that whatever else the machine does slows both. `wishes`: 0 those that are on
/// when nothing is set, 1 all, on nodes that tell what they use.
void BM_GrantsByWishes(benchmark::State& state) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  const auto queues = static_cast<uint32_t>(state.range(1));
  const auto apps = static_cast<uint32_t>(state.range(2));
  const auto wishes = model::ParseWishes(state.range(3) == 0 ? "small-jobs,park-masters" : "all");
  Load plain(nodes, queues, apps, 0);
  Load wished(nodes, queues, apps, 0, *wishes);
  for (size_t i = 0; i < plain.nodes(); ++i) {
    plain.Turn();
    wished.Turn();
  }
  Pace without;
  Pace with;
  for (auto _ : state) {
    without.Run(plain);
    with.Run(wished);
  }
  state.counters["grants/s"] = with.Rate();
  state.counters["plain grants/s"] = without.Rate();
}
BENCHMARK(BM_GrantsByWishes)
    ->ArgNames({"nodes", "queues", "apps", "wishes"})
    ->Args({5000, 100, 1000, 0})
    ->Args({5000, 100, 5000, 0})
    ->Args({1000, 10, 100, 0})
    ->Args({5000, 100, 1000, 1})
    ->Args({5000, 100, 5000, 1});

void BM_Fork(benchmark::State& state) {
  Load load(10'000, 100, 1000, 0);
  Load full(25'000, 100, 1000, 0);
  for (auto _ : state) {
    auto copy = (state.range(0) == 10'000 ? load : full).scheduler().Fork();
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(BM_Fork)->Arg(10'000)->Arg(25'000)->Unit(benchmark::kMillisecond);

/// One preemption round over 100,000 containers of one queue when another begins to starve.
void BM_PreemptionRound(benchmark::State& state) {
  FairleadConfig config;
  config.preemption.enabled = true;
  config.preemption.starvation = {};
  config.preemption.minimum_run = {};
  auto scheduler = MakeFairlead(config);
  std::vector<ev::Event> events;
  for (uint32_t n = 0; n < 12'500; ++n) {
    events.push_back(
        ev::NodeAdded{{n}, "n" + std::to_string(n), 1, "/r", model::Resources::Of(kPerNode, kPerNode), {}});
  }
  EffectSink effects;
  for (uint32_t a = 0; a < 2; ++a) {
    ev::AppAdded added;
    added.app = {a};
    added.id = {1, static_cast<int32_t>(a) + 1};
    added.queue = "root.q" + std::to_string(a);
    added.place = false;
    added.unmanaged = true;
    ev::Allocate call;
    call.app = {a};
    model::Ask ask;
    ask.priority = 1;
    ask.name = "*";
    ask.capability = model::Resources::Of(1, 1);
    ask.count = 100'000;
    call.asks = {ask};
    events.insert(events.end(), {added, ev::AttemptAdded{{a}, 1, false}, call});
    scheduler->Step({}, events, effects);
    events.clear();
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto copy = scheduler->Fork();
    effects.clear();
    state.ResumeTiming();
    copy->Step({5'000'000'000}, {}, effects);
    if (effects.size() < 100) state.SkipWithError("nothing was taken");
    state.PauseTiming();
    copy.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_PreemptionRound)->Unit(benchmark::kMillisecond);

void BM_Shares(benchmark::State& state) {
  std::vector<FillItem> items;
  for (int64_t i = 0; i < state.range(0); ++i) {
    items.push_back({65'536 * (1 + i % 7), i % 5 == 0 ? 40 : 0, 100 + (i * 7919) % 9000});
  }
  for (auto _ : state) {
    auto shares = WaterFill(items, state.range(0) * 1500, WhenLowsExceed::kScale);
    benchmark::DoNotOptimize(shares);
  }
}
BENCHMARK(BM_Shares)->Arg(5'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::scheduler

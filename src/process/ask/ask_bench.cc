#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/freed_pages.h"
#include "base/rng.h"
#include "process/ask/future.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/tdw/tdw.h"
#include "scheduler/yarn_capacity/from_tree.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"
#include "scheduler/yarn_fair/yarn_fair.h"

// What questions cost (docs/ask.md). BM_Fork: what the deciding thread pays for a copy of the scheduler, of 10,000
// nodes and 200,000 containers. BM_Hour: an hour ahead of 1,000 full nodes with some 100,000 grants, off that thread.
// The first argument is the profile: 0 fairlead, 1 tdw, 2 yarn-fair, 3 yarn-capacity.

namespace fairlead::process::ask {
namespace {

namespace ms = model::scheduler;

constexpr base::Duration kBeat = base::Duration::Seconds(1);

std::unique_ptr<scheduler::Scheduler> Make(int64_t profile, const model::QueueTree& queues) {
  scheduler::FairleadConfig books;
  books.queues = queues;
  if (profile == 0) return scheduler::MakeFairlead(books);
  if (profile == 1) return scheduler::MakeTdw({.base = books});
  if (profile == 2) return scheduler::yarn_fair::MakeYarnFair({}, queues);
  auto made = scheduler::yarn_capacity::MakeYarnCapacity({}, scheduler::yarn_capacity::CapacityQueuesFrom(queues));
  FL_CHECK(made.ok(), "queues of the bench");
  return std::move(*made);
}

/// So many nodes of 20 containers each, all in use; 1,000 applications of 100 queues want more.
Present FullCluster(int64_t profile, uint32_t nodes) {
  model::QueueTree queues;
  for (int i = 0; i < 100; ++i) {
    queues.queues.emplace_back();
    queues.queues.back().name = "root.q" + std::to_string(i);
    queues.queues.back().weight = 1 + i % 4;
  }
  std::unique_ptr<scheduler::Scheduler> scheduler = Make(profile, queues);
  Present present;
  present.heartbeat = profile >= 2 ? kBeat : base::Duration{};
  std::vector<ms::Event> events;
  for (uint32_t n = 0; n < nodes; ++n) {
    Present::Node node{{n}, "n" + std::to_string(n), 1, "/r" + std::to_string(n / 40), model::Resources::Of(20'480, 20),
                       {},  {kBeat.ns / nodes * n}};
    events.emplace_back(ms::NodeAdded{node.index, node.host, node.port, node.rack, node.capacity, {}});
    present.nodes.push_back(std::move(node));
  }
  for (uint32_t a = 0; a < 1000; ++a) {
    ms::AppAdded added;
    added.app = {a};
    added.id = {1, static_cast<int32_t>(a) + 1};
    added.queue = "root.q" + std::to_string(a % 100);
    added.user = "u" + std::to_string(a % 50);
    added.place = false;
    added.unmanaged = true;
    ms::Allocate call;
    call.app = {a};
    call.asks.emplace_back();
    call.asks.back().priority = 1;
    call.asks.back().name = "*";
    call.asks.back().capability = model::Resources::Of(1024, 1);
    call.asks.back().count = 1'000'000;
    present.apps.push_back({added.app, added.id, "job", added.user, added.queue, "job", 1, true, true, {}});
    events.insert(events.end(), {added, ms::AttemptAdded{{a}, 1, false}, call});
  }
  for (int64_t beat = 0; present.containers.size() < size_t{20} * nodes; ++beat) {
    FL_CHECK(beat < 1000, "the cluster fills up");
    present.now = present.now + kBeat;
    scheduler::EffectSink effects;
    scheduler->Step(present.now, events, effects);
    events.clear();
    for (const Present::Node& node : present.nodes) events.emplace_back(ms::NodeUpdated{node.index, {}, {}});
    for (const ms::Effect& effect : effects) {
      const auto* granted = std::get_if<ms::Granted>(&effect);
      if (!granted) continue;
      present.containers.push_back({granted->container, granted->app, granted->node, granted->resources, present.now,
                                    granted->priority, false, true, false});
      events.emplace_back(ms::Acquired{granted->app, {granted->container}});
    }
  }
  present.scheduler = std::move(scheduler);
  return present;
}

void BM_Fork(benchmark::State& state) {
  const Present present = FullCluster(state.range(0), 10'000);
  base::KeepLargeFreedPages(true);  // as the resource manager does
  for (auto _ : state) benchmark::DoNotOptimize(present.scheduler->Fork());
}
BENCHMARK(BM_Fork)->ArgName("profile")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void BM_Hour(benchmark::State& state) {
  const Present present = FullCluster(state.range(0), 1000);
  // 20,000 places that change hands five times an hour.
  const auto run_time = [](const Running& one) {
    base::Rng rng(std::hash<model::ContainerId>()(one.id));
    return std::optional(base::Duration::Millis(rng.Between(360'000, 1'080'000)));
  };
  size_t starts = 0;
  for (auto _ : state) {
    Future future(present, run_time, {.ahead = base::Duration::Seconds(3600), .events = 1'000'000'000});
    (void)future.Run();
    starts = future.outcome().starts.size();
  }
  state.counters["grants"] = static_cast<double>(starts);
}
BENCHMARK(BM_Hour)->ArgName("profile")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::process::ask

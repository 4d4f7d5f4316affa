#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/scheduler.h"

// For benches: the cluster of the recordings' throughput tables, whose applications always want more.

namespace fairlead::scheduler {

struct BusyLoad {
  int nodes = 5000;
  int queues = 100;
  int apps = 1000;
  bool local = false;     // asks name hosts and racks
  bool uneven = false;    // no two nodes are of one size
  bool starting = false;  // every application waits for its master
  int cores = 128;        // of a node
  int users = 50;
  int partitions = 1;  // of nodes and applications; the first is that of nodes without a label
};

/// The sizes that a bench was given.
inline BusyLoad LoadOf(const benchmark::State& state) {
  BusyLoad load;
  load.nodes = static_cast<int>(state.range(0));
  load.queues = static_cast<int>(state.range(1));
  load.apps = static_cast<int>(state.range(2));
  return load;
}

class BusyCluster {
 public:
  /// `core` has the leaf queues QueueName(0) to QueueName(load.queues - 1).
  BusyCluster(std::unique_ptr<Scheduler> core, const BusyLoad& load) : core_(std::move(core)), load_(load) {
    for (int n = 0; n < load.nodes; ++n) {
      const int memory = kNodeMemory + (load.uneven ? n : 0);
      Send(model::scheduler::NodeAdded{
          {static_cast<uint32_t>(n)}, Host(n), 1, Rack(n), model::Resources::Of(memory, load.cores), LabelsOf(n)});
    }
    for (int a = 0; a < load.apps; ++a) AddApp(a);
  }

  /// Of partition `p`, from 1 on; partition 0 has none.
  static std::string LabelName(int p) { return "part" + std::to_string(p); }
  static std::string QueueName(int q) { return "root.queue" + std::to_string(q); }

  void Send(model::scheduler::Event event) { core_->Step({}, {&event, 1}, effects_); }

  /// One heartbeat of the next node: the real one's handle(NODE_UPDATE).
  void Heartbeat() {
    Send(model::scheduler::NodeUpdated{{next_node_}, {}, {}});
    next_node_ = (next_node_ + 1) % static_cast<uint32_t>(load_.nodes);
  }

  /// Ends what was granted since the last call, after its masters have picked it up; gives how many that were.
  int64_t Empty() {
    EffectSink granted;
    granted.swap(effects_);
    int64_t grants = 0;
    for (const model::scheduler::Effect& effect : granted) {
      const auto* grant = std::get_if<model::scheduler::Granted>(&effect);
      if (grant == nullptr) continue;
      ++grants;
      Send(model::scheduler::Acquired{grant->app, {grant->container}});
      Send(model::scheduler::ContainerEnded{grant->container, 0});
    }
    effects_.clear();
    return grants;
  }

  /// Every application changes its mind, as between two update passes of a busy cluster.
  void Disturb() {
    for (int a = 0; a < load_.apps; ++a) Ask(a, kAskCount + ++disturbances_ % 7);
    effects_.clear();
  }

 private:
  static constexpr int kNodeMemory = 128 * 1024;
  static constexpr int kAskCount = 1'000'000;
  static std::string Host(int n) { return "host" + std::to_string(n) + ".example.org"; }
  static std::string Rack(int n) { return "/rack" + std::to_string(n / 40); }

  std::vector<std::string> LabelsOf(int n) const {
    const int p = n % load_.partitions;
    return p == 0 ? std::vector<std::string>{} : std::vector<std::string>{LabelName(p)};
  }

  void AddApp(int a) {
    model::scheduler::AppAdded added;
    added.app = {static_cast<uint32_t>(a)};
    added.id = {1700000000000, a + 1};
    added.queue = QueueName(a % load_.queues);
    added.user = "user" + std::to_string(a % load_.users);
    added.place = false;
    added.unmanaged = !load_.starting;
    Send(added);
    Send(model::scheduler::AttemptAdded{added.app, 1, false});
    Ask(a, kAskCount);
  }

  void Ask(int a, int count) {
    model::scheduler::Allocate call;
    call.app = {static_cast<uint32_t>(a)};
    const auto line = [&](const std::string& name) {
      model::Ask ask;
      ask.priority = 1;
      ask.allocation_request_id = 0;
      ask.name = name;
      ask.capability = model::Resources::Of(1024, 1);
      ask.count = count;
      if (const int p = a % load_.partitions; p != 0) ask.label = LabelName(p);
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

  std::unique_ptr<Scheduler> core_;
  BusyLoad load_;
  EffectSink effects_;
  uint32_t next_node_ = 0;
  int disturbances_ = 0;
};

/// Grants a second, where a heartbeat grants up to `most`.
inline void MeasureGrants(benchmark::State& state, BusyCluster& cluster, const BusyLoad& load, int most) {
  constexpr int kBatch = 50'000;
  int64_t grants = 0;
  const int batch = most > 1 ? load.nodes : std::min(kBatch, 40 * load.nodes);  // so that nodes have room
  while (state.KeepRunningBatch(batch)) {
    for (int i = 0; i < batch; ++i) cluster.Heartbeat();
    state.PauseTiming();
    grants += cluster.Empty();
    state.ResumeTiming();
  }
  state.counters["grants/s"] = benchmark::Counter(static_cast<double>(grants), benchmark::Counter::kIsRate);
}

}  // namespace fairlead::scheduler

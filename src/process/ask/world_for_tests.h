#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "model/queues.h"
#include "process/ask/learned.h"
#include "process/ask/present.h"
#include "scheduler/scheduler.h"

// For tests: a small cluster that really runs, against which what was foreseen is held.

namespace fairlead::process::ask {

namespace ms = model::scheduler;

struct TestProfile {
  const char* name;
  bool by_heartbeat;
  std::unique_ptr<scheduler::Scheduler> (*make)(const model::QueueTree& queues);
};

/// fairlead, tdw, yarn-fair, yarn-capacity (future_test.cc).
extern const std::array<TestProfile, 4> kTestProfiles;

/// root.a, root.b (weight 3) and root.c, of whose applications two run at a time.
inline model::QueueTree TestQueues() {
  model::QueueTree tree;
  for (const char* name : {"root.a", "root.b", "root.c"}) {
    tree.queues.emplace_back();
    tree.queues.back().name = name;
  }
  tree.queues[1].weight = 3;
  tree.queues[2].max_running_apps = 2;
  return tree;
}

/// A task of 1 GiB and one core of that application ran for so long.
inline void LearnOne(scheduler::RunTimes& learned, const Present::App& app, base::Duration ran) {
  for (const auto& kind : KindsOf(app.user, app.kind, 1, false, model::Resources::Of(1024, 1)))
    learned.Learn(kind, ran, {});
}

/// Jobs of one stage on nodes that beat once a second, each at its own moment, whether anybody waits or not. Time goes
/// in milliseconds; what falls into one is one step: ends by container, then beats by node.
class World {
 public:
  static constexpr int64_t kBeatMs = 1000;
  struct Grant {
    int64_t at_ms;
    model::ContainerId container;
    model::NodeIndex node;
    friend auto operator<=>(const Grant&, const Grant&) = default;
  };

  World(const TestProfile& profile, uint64_t seed)
      : seed_(seed), by_heartbeat_(profile.by_heartbeat), scheduler_(profile.make(TestQueues())) {}

  /// How long the container runs: always the same.
  base::Duration RunTime(const model::ContainerId& id) const {
    base::Rng rng(seed_ * 1'000'003 + std::hash<model::ContainerId>()(id));
    return base::Duration::Millis(rng.Between(500, 40'000));
  }
  void AddNode(const model::Resources& capacity, int64_t phase_ms) {
    const model::NodeIndex index{static_cast<uint32_t>(nodes_.size())};
    Present::Node& node = nodes_.emplace_back().node;
    nodes_.back().phase_ms = phase_ms;
    node = {index, "n" + std::to_string(index.value), 1, "/r" + std::to_string(index.value % 2), capacity, {}, {}};
    events_.emplace_back(ms::NodeAdded{index, node.host, node.port, node.rack, capacity, {}});
  }
  void Submit(const char* queue, int32_t tasks, const model::Resources& size, const std::string& place) {
    const model::AppIndex index{static_cast<uint32_t>(jobs_.size())};
    Job& job = jobs_.emplace_back();
    job.app = {index, {1, static_cast<int32_t>(index.value) + 1}, "job", "ann", queue, "job", 1, false, true, {}};
    job.tasks = tasks;
    job.size = size;
    job.place = place;
    job.app.master_asks = {AskFor(0, "*", model::Resources::Of(512, 1), 1)};
    ms::AppAdded added;
    added.app = index;
    added.id = job.app.id;
    added.queue = queue;
    added.user = "ann";
    added.place = false;
    added.master_asks = job.app.master_asks;
    added.token = ++token_;
    events_.emplace_back(std::move(added));
  }

  /// Maintenance of the node, which nothing else closes.
  void Announce(uint32_t node, int64_t from_ms, int64_t until_ms) {
    const ms::Window window{{from_ms * 1'000'000}, {until_ms * 1'000'000}};
    nodes_[node].node.windows = {window};
    events_.emplace_back(ms::NodeWindows{{node}, {window}});
    windows_[from_ms] = {node, false};
    windows_[until_ms] = {node, true};
  }

  /// All that happens up to and in that millisecond.
  void RunTo(int64_t to_ms) {
    Step();
    for (;;) {
      int64_t next = scheduler_->NextDeadline() == base::Instant::Max()
                         ? INT64_MAX
                         : (scheduler_->NextDeadline().ns + 999'999) / 1'000'000;
      if (!ends_.empty()) next = std::min(next, ends_.begin()->first);
      if (!windows_.empty()) next = std::min(next, windows_.begin()->first);
      for (const Node& node : nodes_) {
        if (by_heartbeat_) next = std::min(next, NextBeat(node));
      }
      if (next > to_ms) break;
      now_ms_ = std::max(next, now_ms_);
      while (!ends_.empty() && ends_.begin()->first <= now_ms_) {
        const model::ContainerId id = ends_.begin()->second;
        ends_.erase(ends_.begin());
        if (live_.contains(id)) Update(live_.at(id).node).completed.push_back({id, 0});
      }
      while (!windows_.empty() && windows_.begin()->first <= now_ms_) {
        const auto [node, opens] = windows_.begin()->second;
        windows_.erase(windows_.begin());
        if (opens) nodes_[node].node.windows.clear();
        events_.emplace_back(ms::NodeSchedulable{{node}, opens});
        events_.emplace_back(ms::NodeWindows{{node}, nodes_[node].node.windows});
      }
      for (Node& node : nodes_) {
        if (by_heartbeat_ && now_ms_ % kBeatMs == node.phase_ms) Update(node.node.index);
      }
      Step();
    }
    now_ms_ = to_ms;
  }

  Present Take() const {
    Present present;
    present.scheduler = scheduler_->Fork();
    present.now = {now_ms_ * 1'000'000};
    present.heartbeat = by_heartbeat_ ? base::Duration::Millis(kBeatMs) : base::Duration{};
    for (const Job& job : jobs_) {
      if (!job.gone) present.apps.push_back(job.app);
    }
    for (const Node& node : nodes_) {
      present.nodes.push_back(node.node);
      present.nodes.back().next_beat = {NextBeat(node) * 1'000'000};
    }
    for (const auto& [id, one] : live_) {
      present.containers.push_back(one);
      const auto& waiting = nodes_[one.node.value].launched;
      present.containers.back().launched = std::find(waiting.begin(), waiting.end(), id) == waiting.end();
    }
    return present;
  }
  const std::vector<Grant>& grants() const { return grants_; }
  const std::map<uint32_t, int64_t>& ended() const { return ended_; }
  const scheduler::Scheduler& scheduler() const { return *scheduler_; }
  bool WaitsForMaster() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.runs && !job.gone; });
  }

 private:
  struct Job {
    Present::App app;
    int32_t tasks = 0;
    model::Resources size;
    std::string place;
    int32_t left = 0;  // tasks that have not ended
    bool runs = false;
    bool gone = false;
    model::ContainerId master;
  };
  struct Node {
    int64_t phase_ms = 0;
    Present::Node node;
    std::vector<model::ContainerId> launched;
  };

  static model::Ask AskFor(int32_t priority, const std::string& name, const model::Resources& size, int32_t count) {
    model::Ask ask;
    ask.priority = priority;
    ask.name = name;
    ask.capability = size;
    ask.count = count;
    return ask;
  }
  int64_t NextBeat(const Node& node) const {
    const int64_t round = now_ms_ / kBeatMs * kBeatMs + node.phase_ms;
    return round > now_ms_ ? round : round + kBeatMs;
  }
  ms::NodeUpdated& Update(model::NodeIndex node) {
    for (ms::Event& event : events_) {
      auto* update = std::get_if<ms::NodeUpdated>(&event);
      if (update && update->node == node) return *update;
    }
    events_.emplace_back(ms::NodeUpdated{node, std::exchange(nodes_[node.value].launched, {}), {}});
    return std::get<ms::NodeUpdated>(events_.back());
  }
  void Step() {
    do {
      scheduler::EffectSink effects;
      const std::vector<ms::Event> told = std::exchange(events_, {});
      scheduler_->Step({now_ms_ * 1'000'000}, told, effects);
      for (const ms::Effect& effect : effects) {
        std::visit([this](const auto& one) { On(one); }, effect);
      }
    } while (!events_.empty() || Unregister());
  }
  /// Masters whose tasks are done end.
  bool Unregister() {
    for (Job& job : jobs_) {
      if (job.runs && job.left == 0) {
        job.runs = false;
        Update(live_.at(job.master).node).completed.push_back({job.master, 0});
      }
    }
    return !events_.empty();
  }
  void On(const ms::AppAccepted& effect) {
    events_.emplace_back(ms::AttemptAdded{effect.app, 1, false});
    ms::Allocate call;
    call.app = effect.app;
    call.token = ms::MasterToken(effect.app);
    call.asks = jobs_[effect.app.value].app.master_asks;
    events_.emplace_back(std::move(call));
  }
  void On(const ms::Granted& effect) {
    Job& job = jobs_[effect.app.value];
    const base::Instant now{now_ms_ * 1'000'000};
    live_[effect.container] = {effect.container, effect.app, effect.node, effect.resources, now, effect.priority,
                               effect.is_master, true,       true};
    grants_.push_back({now_ms_, effect.container, effect.node});
    nodes_[effect.node.value].launched.push_back(effect.container);
    events_.emplace_back(ms::Acquired{effect.app, {effect.container}});
    if (!effect.is_master) {
      ends_.emplace(now_ms_ + RunTime(effect.container).millis(), effect.container);
      return;
    }
    job.master = effect.container;
    job.runs = true;
    job.left = job.tasks;
    ms::Allocate call;
    call.app = effect.app;
    call.token = ++token_;
    call.asks = {AskFor(1, "*", job.size, job.tasks)};
    if (!job.place.empty()) {
      const Present::Node& near = nodes_[static_cast<size_t>(std::stoi(job.place))].node;
      call.asks.push_back(AskFor(1, near.host, job.size, job.tasks));
      call.asks.push_back(AskFor(1, near.rack, job.size, job.tasks));
    }
    events_.emplace_back(std::move(call));
  }
  void On(const ms::Finished& effect) {
    Job& job = jobs_[effect.app.value];
    live_.erase(effect.container);
    if (effect.container != job.master) {
      --job.left;
      return;
    }
    job.gone = true;
    ended_[effect.app.value] = now_ms_;
    events_.emplace_back(ms::AttemptRemoved{effect.app, 1, false});
    events_.emplace_back(ms::AppRemoved{effect.app});
  }
  void On(const ms::CallRefused&) { FL_CHECK(false, "nothing is refused here"); }
  template <class Other>
  void On(const Other&) {}

  uint64_t seed_;
  bool by_heartbeat_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  int64_t now_ms_ = 0;
  uint64_t token_ = 0;
  std::vector<Node> nodes_;
  std::vector<Job> jobs_;
  std::map<model::ContainerId, Present::Container> live_;
  std::set<std::pair<int64_t, model::ContainerId>> ends_;
  std::map<int64_t, std::pair<uint32_t, bool>> windows_;  // ahead: a node closes, or opens
  std::vector<ms::Event> events_;
  std::vector<Grant> grants_;
  std::map<uint32_t, int64_t> ended_;
};

/// A cluster of that seed amid its work: every master runs and has asked, so that nobody can be surprised by more.
inline World RandomWorld(const TestProfile& profile, uint64_t seed) {
  base::Rng rng(seed);
  World world(profile, seed);
  const int64_t nodes = rng.Between(2, 6);
  for (int64_t i = 0; i < nodes; ++i) world.AddNode(model::Resources::Of(8192, 8), rng.Between(0, World::kBeatMs - 1));
  int64_t at_ms = rng.Between(1, 1000);
  const int64_t jobs = rng.Between(2, 8);
  int in_c = 0;
  for (int64_t i = 0; i < jobs; ++i) {
    world.RunTo(at_ms);
    const char* queue = std::array{"root.a", "root.b", "root.c"}[rng.Below(3)];
    if (queue[5] == 'c' && ++in_c > 2) queue = "root.a";  // as many as may run
    const auto size = model::Resources::Of(512 * rng.Between(1, 6), rng.Between(1, 3));
    world.Submit(queue, static_cast<int32_t>(rng.Between(5, 40)), size,
                 rng.Chance(0.3) ? std::to_string(rng.Below(static_cast<uint64_t>(nodes))) : "");
    at_ms += rng.Between(0, 2500);
  }
  world.RunTo(at_ms);
  while (world.WaitsForMaster()) world.RunTo(at_ms += 500);
  if (rng.Chance(0.3)) {
    const int64_t from_ms = at_ms + rng.Between(1, 60'000);
    world.Announce(static_cast<uint32_t>(rng.Below(static_cast<uint64_t>(nodes))), from_ms,
                   from_ms + rng.Between(1, 60'000));
    world.RunTo(at_ms);
  }
  return world;
}

/// One node of eight containers: a job of root.a has it, one of root.b waits behind it.
inline World OneFullNode() {
  World world(kTestProfiles[0], 1);
  world.AddNode(model::Resources::Of(8192, 8), 0);
  world.RunTo(1);
  world.Submit("root.a", 6, model::Resources::Of(1024, 1), "");
  world.RunTo(10);
  world.Submit("root.b", 4, model::Resources::Of(1024, 1), "");
  world.RunTo(20);
  return world;
}

}  // namespace fairlead::process::ask

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using model::AppIndex;
using model::Resources;

/// A scheduler with nodes and applications of a test; checks itself after every step.
class Cluster {
 public:
  explicit Cluster(const model::CapacityQueues& queues, std::vector<ms::ClusterLabel> labels = {},
                   const YarnCapacityConfig& config = Config()) {
    auto made = MakeYarnCapacity(config, queues, labels);
    FL_CHECK(made.ok(), "queues of the test");
    core_ = std::move(*made);
  }

  static YarnCapacityConfig Config() {
    YarnCapacityConfig config;
    config.minimum_allocation = Resources::Of(256, 1);
    config.timed_passes = false;
    config.cap_at_largest_node = false;
    return config;
  }
  /// ... with passes by time.
  static YarnCapacityConfig TimedConfig() {
    YarnCapacityConfig config = Config();
    config.timed_passes = true;
    return config;
  }

  void AddNode(int64_t mib, int64_t vcores, std::vector<std::string> labels = {}) {
    const std::string host = "n" + std::to_string(nodes_);
    Send(ms::NodeAdded{{nodes_++}, host, 1, "/r", Resources::Of(mib, vcores), std::move(labels)});
  }
  AppIndex Submit(const std::string& queue, const std::string& user = "u", int64_t master_mib = 256) {
    const AppIndex app{apps_++};
    ms::AppAdded added;
    added.app = app;
    added.id = {1, static_cast<int32_t>(app.value) + 1};
    added.queue = queue;
    added.user = user;
    added.master_asks = {AskFor(master_mib, 1, 0)};
    Send(std::move(added));
    Send(ms::AttemptAdded{app, 1, false});
    Allocate(app, AskFor(master_mib, 1, 0));
    Beat();
    return app;
  }
  /// Grants of the application's last call, picked up.
  std::vector<model::ContainerId> Acquire(AppIndex app) {
    std::vector<model::ContainerId> containers;
    for (const ms::Granted& grant : granted_) {
      if (grant.app == app) containers.push_back(grant.container);
    }
    std::erase_if(granted_, [&](const ms::Granted& grant) { return grant.app == app; });
    Send(ms::Acquired{app, containers});
    return containers;
  }
  static model::Ask AskFor(int64_t mib, int32_t count, int32_t priority = 1) {
    model::Ask ask;
    ask.name = "*";
    ask.priority = priority;
    ask.capability = Resources::Of(mib, 1);
    ask.count = count;
    return ask;
  }
  void Allocate(AppIndex app, model::Ask ask) {
    ms::Allocate call;
    call.app = app;
    call.asks = {std::move(ask)};
    Send(std::move(call));
  }
  void Beat() {
    for (uint32_t node = 0; node < nodes_; ++node) Send(ms::NodeUpdated{{node}, {}, {}});
  }
  ms::Pending Why(AppIndex app) const {
    const std::vector<ms::Pending> all = core_->Why(app, {});
    return all.empty() ? ms::Pending{} : all.front();
  }
  YarnCapacityScheduler& core() const { return *core_; }
  const EffectSink& effects() const { return effects_; }
  template <class Event>
  void Send(Event event) {
    const ms::Event one = std::move(event);
    effects_.clear();
    Step({&one, 1});
  }
  /// Every pass that is due until then.
  void PassTime(base::Duration time) {
    const base::Instant end = now_ + time;
    effects_.clear();
    while (core_->NextDeadline() <= end) {
      now_ = core_->NextDeadline();
      Step({});
    }
    now_ = end;
  }
  template <class Effect>
  std::vector<Effect> Got() const {
    std::vector<Effect> got;
    for (const ms::Effect& effect : effects_) {
      if (const auto* one = std::get_if<Effect>(&effect)) got.push_back(*one);
    }
    return got;
  }

 private:
  void Step(std::span<const ms::Event> events) {
    core_->Step(now_, events, effects_);
    for (const ms::Granted& grant : Got<ms::Granted>()) granted_.push_back(grant);
    ASSERT_EQ(core_->CheckInvariants(), "");
  }

  base::Instant now_;
  std::vector<ms::Granted> granted_;
  std::unique_ptr<YarnCapacityScheduler> core_;
  EffectSink effects_;
  uint32_t nodes_ = 0;
  uint32_t apps_ = 0;
};

/// What each queue has of the default partition.
inline std::map<std::string, float> SharesOf(YarnCapacityScheduler& core) {
  std::map<std::string, float> shares;
  for (const QueueView& queue : core.GetQueues().queues) {
    shares[queue.name] = queue.capacity->partitions.at("").absolute;
  }
  return shares;
}

/// A percentage of the parent, as a file says it.
inline model::CapacityValue Percent(float percent) {
  model::CapacityValue value;
  value.percent = percent;
  value.vector.assign(model::ResourceTypes::Count(), {model::CapacityUnit::kPercent, percent});
  return value;
}

/// Two halves in percent; those of the first may use all.
inline model::CapacityQueues TwoHalves() {
  model::CapacityQueues queues;
  queues.am_percent = 1;
  queues.queues["root"].own.queues = {"a", "b"};
  queues.queues["root.a"].own.capacity[""] = Percent(50);
  queues.queues["root.b"].own.capacity[""] = Percent(50);
  queues.queues["root.a"].own.user_limit_factor = 2;
  return queues;
}

}  // namespace fairlead::scheduler::yarn_capacity

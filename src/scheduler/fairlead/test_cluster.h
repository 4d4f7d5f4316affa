#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/fairlead/fairlead.h"

// A scheduler of the default profile with its surroundings, for tests: sends events, keeps what was granted.

namespace fairlead::scheduler {

namespace ev = model::scheduler;

class TestCluster {
 public:
  explicit TestCluster(const FairleadConfig& config = {}) : TestCluster(MakeFairlead(config)) {}
  explicit TestCluster(std::unique_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}

  struct Live {
    ev::Granted grant;
    bool launched = false;
  };

  const EffectSink& Send(std::vector<ev::Event> events) {
    effects_.clear();
    scheduler_->Step(now_, events, effects_);
    for (const ev::Effect& effect : effects_) {
      if (const auto* granted = std::get_if<ev::Granted>(&effect)) live_[granted->container] = {*granted, false};
      if (const auto* finished = std::get_if<ev::Finished>(&effect)) {
        auto it = live_.find(finished->container);
        if (it->second.launched) dying_.push_back(it->second.grant);
        live_.erase(it);
      }
    }
    return effects_;
  }
  const EffectSink& Send(ev::Event event) { return Send(std::vector<ev::Event>{std::move(event)}); }

  void Node(uint32_t index, int64_t memory, int64_t cores, const std::string& rack = "/r",
            std::vector<std::string> labels = {}) {
    Send(ev::NodeAdded{
        {index}, "n" + std::to_string(index), 1, rack, model::Resources::Of(memory, cores), std::move(labels)});
  }
  void App(uint32_t index, const std::string& queue, const std::string& user = "u", bool unmanaged = true,
           int32_t priority = 0) {
    ev::AppAdded added;
    added.app = {index};
    added.id = {1, static_cast<int32_t>(index) + 1};
    added.queue = queue;
    added.user = user;
    added.place = false;
    added.unmanaged = unmanaged;
    added.priority = priority;
    ev::AttemptAdded attempt;
    attempt.app = {index};
    attempt.attempt = 1;
    Send({added, attempt});
  }
  static model::Ask Want(int32_t count, int64_t memory, int64_t cores, const std::string& name = "*", bool relax = true,
                         int32_t priority = 1) {
    return {priority, -1, name, relax, model::Resources::Of(memory, cores), count, ""};
  }
  const EffectSink& Ask(uint32_t app, std::vector<model::Ask> asks, std::vector<model::ContainerId> releases = {}) {
    ev::Allocate call;
    call.app = {app};
    call.token = ++token_;
    call.asks = std::move(asks);
    call.releases = std::move(releases);
    return Send(call);
  }
  const EffectSink& Complete(const model::ContainerId& id) {
    return Send(ev::NodeUpdated{live_.at(id).grant.node, {}, {{id, 0}}});
  }
  template <class T>
  std::vector<T> Last() const {
    std::vector<T> found;
    for (const ev::Effect& effect : effects_) {
      if (const auto* one = std::get_if<T>(&effect)) found.push_back(*one);
    }
    return found;
  }
  std::vector<ev::Granted> LiveOf(uint32_t app) const {
    std::vector<ev::Granted> found;
    for (const auto& [id, live] : live_) {
      if (live.grant.app.value == app) found.push_back(live.grant);
    }
    return found;
  }
  QueueView Queue(const std::string& name) const {
    for (QueueView& queue : scheduler_->GetView().queues) {
      if (queue.name == name) return queue;
    }
    return {};
  }

  Scheduler& scheduler() { return *scheduler_; }
  std::map<model::ContainerId, Live>& live() { return live_; }
  std::vector<ev::Granted>& dying() { return dying_; }
  base::Instant now_{};

 private:
  std::unique_ptr<Scheduler> scheduler_;
  EffectSink effects_;
  std::map<model::ContainerId, Live> live_;
  std::vector<ev::Granted> dying_;  // ended in the books, the node has not said so
  uint64_t token_ = 0;
};

}  // namespace fairlead::scheduler

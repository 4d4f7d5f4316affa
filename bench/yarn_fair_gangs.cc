#include "yarn_fair_gangs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/yarn_fair/yarn_fair.h"

namespace {

namespace ev = fairlead::model::scheduler;
using fairlead::base::Duration;
using fairlead::base::Instant;
using fairlead::model::Resources;
using fairlead::sim::RigidJob;
using fairlead::sim::RigidStart;

constexpr int64_t kDeviceMib = 1024;

/// One pool of devices as one node that says its heartbeat whenever jobs come or end.
class Pool {
 public:
  Pool(std::span<const RigidJob> jobs, int32_t devices, bool fifo)
      : jobs_(jobs), devices_(devices), given_(jobs.size()), starts_(jobs.size()) {
    fairlead::scheduler::yarn_fair::YarnFairConfig config;
    config.assign_multiple = true;
    config.dynamic_max_assign = false;
    config.timed_passes = false;
    fairlead::model::QueueTree tree;
    auto& queue = tree.queues.emplace_back();
    queue.name = "root.all";
    queue.policy = fifo ? "fifo" : "fair";
    scheduler_ = fairlead::scheduler::yarn_fair::MakeYarnFair(config, tree);
    Step({ev::NodeAdded{{0}, "node", 1, "/rack", Resources::Of(devices * kDeviceMib, devices), {}}});
  }

  std::vector<RigidStart> Run() {
    size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      now_ = next < jobs_.size() ? jobs_[next].submit_s : std::numeric_limits<int64_t>::max();
      if (!ends_.empty()) now_ = std::min(now_, ends_.begin()->first);
      while (!ends_.empty() && ends_.begin()->first == now_) End(ends_.begin());
      for (; next < jobs_.size() && jobs_[next].submit_s == now_; ++next) {
        if (jobs_[next].devices <= devices_) Submit(next);
      }
      if (held_ == devices_) continue;  // a heartbeat would give nothing
      Step({ev::Pass{}});
      Step({ev::NodeUpdated{{0}, {}, {}}});
    }
    return std::move(starts_);
  }

 private:
  void End(std::multimap<int64_t, uint32_t>::iterator one) {
    Step({ev::AttemptRemoved{{one->second}, 1}, ev::AppRemoved{{one->second}}});
    held_ -= jobs_[one->second].devices;
    ends_.erase(one);
  }

  void Submit(size_t job) {
    ev::AppAdded added;
    added.app = {static_cast<uint32_t>(job)};
    added.id = {1, static_cast<int32_t>(job) + 1};
    added.queue = "root.all";
    added.user = "u";
    added.place = false;
    added.unmanaged = true;
    ev::AttemptAdded attempt;
    attempt.app = added.app;
    attempt.attempt = 1;
    ev::Allocate call;
    call.app = added.app;
    call.asks = {{1, -1, "*", true, Resources::Of(kDeviceMib, 1), jobs_[job].devices, ""}};
    Step({added, attempt, call});
  }

  void Step(const std::vector<ev::Event>& events) {
    fairlead::scheduler::EffectSink effects;
    scheduler_->Step(Instant{} + Duration::Seconds(now_), events, effects);
    for (const ev::Effect& effect : effects) {
      const auto* granted = std::get_if<ev::Granted>(&effect);
      if (!granted) continue;
      const uint32_t job = granted->app.value;
      ++held_;
      if (++given_[job] < jobs_[job].devices) continue;
      starts_[job].at_s = now_;
      ends_.emplace(now_ + jobs_[job].run_s, job);
    }
  }

  std::span<const RigidJob> jobs_;
  int32_t devices_;
  std::unique_ptr<fairlead::scheduler::yarn_fair::YarnFairScheduler> scheduler_;
  int64_t now_ = 0;
  int32_t held_ = 0;
  std::vector<int32_t> given_;             // of each job's devices
  std::multimap<int64_t, uint32_t> ends_;  // who runs, by when it ends
  std::vector<RigidStart> starts_;
};

}  // namespace

std::vector<RigidStart> RunYarnFair(std::span<const RigidJob> jobs, int32_t devices, bool fifo) {
  return Pool(jobs, devices, fifo).Run();
}

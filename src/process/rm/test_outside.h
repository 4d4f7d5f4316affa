#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "process/rm/machine.h"

namespace fairlead::process::rm {

/// The world outside of a machine for tests: its store stores, its masters start at once, and nodes, masters and users
/// do what the test says at the millisecond that it says.
class TestOutside {
 public:
  using OnBatch = std::function<void(base::Instant, base::WallTime, const std::vector<model::rm::OuterEvent>&,
                                     const std::vector<model::rm::OuterEffect>&)>;
  static constexpr int64_t kEpochMs = 1'700'000'000'000;  // of millisecond 0

  explicit TestOutside(ResourceMachine& machine, OnBatch on_batch = {})
      : machine_(machine), on_batch_(std::move(on_batch)) {
    Do(0, model::rm::Started{kEpochMs, 0, {}, {}});
  }

  void AddNode(int64_t at_ms, const std::string& host, int64_t mib, int64_t vcores) {
    model::rm::RegisterNode event;
    event.call = ++call_;
    event.address = {host, 1};
    event.rack = "/r";
    event.capacity = model::Resources::Of(mib, vcores);
    beats_[host] = 0;
    Do(at_ms, std::move(event));
  }
  model::ApplicationId Submit(int64_t at_ms, const std::string& user, const std::string& queue) {
    model::rm::Submit event;
    event.call = ++call_;
    event.submission.id = {kEpochMs, ++apps_};
    event.submission.user = user;
    event.submission.queue = queue;
    event.submission.name = "job " + std::to_string(apps_);
    event.submission.max_attempts = 2;
    event.submission.master_asks = {AskFor(0, 1024, 1)};
    const model::ApplicationId id = event.submission.id;
    Do(at_ms, std::move(event));
    return id;
  }
  void Register(int64_t at_ms, const model::ApplicationId& app) {
    Do(at_ms, model::rm::RegisterMaster{++call_, {app, 1}, "host", 1, ""});
  }
  /// The master wants `count` containers in all.
  void Ask(int64_t at_ms, const model::ApplicationId& app, int64_t mib, int32_t count) {
    model::rm::AllocateCall event;
    event.call = ++call_;
    event.attempt = {app, 1};
    event.response_id = answers_[app];
    event.asks = {AskFor(1, mib, count)};
    Do(at_ms, std::move(event));
  }
  void Finish(int64_t at_ms, const model::ApplicationId& app) {
    Do(at_ms, model::rm::FinishMaster{++call_, {app, 1}, model::rm::FinalStatus::kSucceeded, "", ""});
    End(at_ms, masters_[app], 0);
  }
  /// Its node says that it runs.
  void Start(int64_t at_ms, const model::ContainerId& container) {
    Beat(at_ms, container, model::rm::NodeContainerState::kRunning, model::kExitInvalid);
  }
  void End(int64_t at_ms, const model::ContainerId& container, int32_t status) {
    Beat(at_ms, container, model::rm::NodeContainerState::kComplete, status);
  }
  /// Those that the application was granted, but for its master, in order.
  const std::vector<model::ContainerId>& Granted(const model::ApplicationId& app) { return granted_[app]; }
  const model::ContainerId& Master(const model::ApplicationId& app) { return masters_[app]; }

  void Do(int64_t at_ms, model::rm::OuterEvent event) {
    std::vector<model::rm::OuterEvent> events;
    events.push_back(std::move(event));
    while (!events.empty()) {
      const base::Instant now{at_ms * 1'000'000};
      const base::WallTime wall{kEpochMs + at_ms};
      std::vector<model::rm::OuterEffect> effects;
      machine_.Step(now, wall, events, effects);
      if (on_batch_) on_batch_(now, wall, events, effects);
      events.clear();
      for (const model::rm::OuterEffect& effect : effects) React(effect, events);
    }
  }

 private:
  static model::Ask AskFor(int32_t priority, int64_t mib, int32_t count) {
    model::Ask ask;
    ask.name = "*";
    ask.priority = priority;
    ask.capability = model::Resources::Of(mib, 1);
    ask.count = count;
    return ask;
  }
  void Beat(int64_t at_ms, const model::ContainerId& container, model::rm::NodeContainerState state, int32_t status) {
    const std::string host = hosts_[container];
    model::rm::NodeContainer report;
    report.id = container;
    report.state = state;
    report.exit_status = status;
    model::rm::Heartbeat event;
    event.call = ++call_;
    event.address = {host, 1};
    event.response_id = beats_[host];
    event.containers = {report};
    std::set<model::ContainerId>& running = running_[host];
    running.erase(container);
    event.running.assign(running.begin(), running.end());
    if (state == model::rm::NodeContainerState::kRunning) running.insert(container);
    beating_ = host;
    Do(at_ms, std::move(event));
  }
  void React(const model::rm::OuterEffect& effect, std::vector<model::rm::OuterEvent>& follow) {
    if (const auto* persist = std::get_if<model::rm::Persist>(&effect)) {
      follow.push_back(model::rm::Persisted{persist->txn, true, ""});
    } else if (const auto* launch = std::get_if<model::rm::LaunchMaster>(&effect)) {
      follow.push_back(model::rm::MasterLaunched{launch->attempt, ""});
      masters_[launch->attempt.app] = launch->container.id;
      hosts_[launch->container.id] = launch->container.address.host;
    } else if (const auto* answer = std::get_if<model::rm::AllocateAnswer>(&effect)) {
      answers_[answer->attempt.app] = answer->response_id;
      for (const model::rm::ContainerInfo& container : answer->granted) {
        granted_[answer->attempt.app].push_back(container.id);
        hosts_[container.id] = container.address.host;
      }
    } else if (const auto* beat = std::get_if<model::rm::HeartbeatAnswer>(&effect)) {
      beats_[beating_] = beat->response_id;
    }
  }

  ResourceMachine& machine_;
  OnBatch on_batch_;
  model::rm::CallToken call_ = 0;
  int32_t apps_ = 0;
  std::string beating_;
  std::map<std::string, int32_t> beats_;             // host -> answers
  std::map<model::ApplicationId, int32_t> answers_;  // to its master
  std::map<model::ContainerId, std::string> hosts_;
  std::map<std::string, std::set<model::ContainerId>> running_;  // as its node has told
  std::map<model::ApplicationId, model::ContainerId> masters_;
  std::map<model::ApplicationId, std::vector<model::ContainerId>> granted_;
};

}  // namespace fairlead::process::rm

#include "process/spark_worker/supervisor.h"

#include <utility>

namespace fairlead::process::spark_worker {

base::Result<std::unique_ptr<Supervisor>> Supervisor::Start(const World& world, const std::string& address,
                                                            spark_rpc::Security security,
                                                            std::function<void()> on_over) {
  std::unique_ptr<Supervisor> supervisor(new Supervisor(world, std::move(on_over)));
  auto port = WatchPort::Listen(world.loop, world.net, address, std::move(security));
  if (!port.ok()) return port.error();
  supervisor->port_ = std::move(*port);
  return supervisor;
}

Supervisor::~Supervisor() = default;

std::vector<SupervisedRun> Supervisor::Runs() const {
  std::vector<SupervisedRun> runs;
  for (const auto& [key, run] : runs_) runs.push_back(run.said);
  return runs;
}

void Supervisor::Attach() {
  has_worker_ = true;
  away_timer_.Stop();
}

void Supervisor::Detach() {
  if (!std::exchange(has_worker_, false)) return;
  listener_ = {};
  world_.log.Warn("the worker is gone",
                  {{"runs", std::to_string(runs_.size())}, {"kept_for_ms", std::to_string(absence_.millis())}});
  away_timer_.After(absence_, [this] { Quit(); });
}

void Supervisor::Tell(std::function<void(const Listener& listener)> what) {
  world_.loop.Post(alive_([this, what = std::move(what)] {
    if (listener_.on_ended) what(listener_);
  }));
}

void Supervisor::Start(RunOrder order) {
  Run& run = runs_[order.key];
  if (run.said.pid != 0) return;
  const std::string key = order.key;
  run.said = {};
  run.said.key = key;
  run.said.record = std::move(order.record);
  env::SpawnRequest request;
  request.argv = std::move(order.argv);
  request.environment = std::move(order.environment);
  request.directory = std::move(order.directory);
  request.stdout_path = std::move(order.stdout_path);
  request.stderr_path = std::move(order.stderr_path);
  run.child = std::make_unique<Child>(world_.loop, world_.processes);
  base::Status started;
  if (world_.surroundings != nullptr) started = world_.surroundings->Prepare(order, request);
  if (started.ok()) started = run.child->Start(request, [this, key](int32_t code) { OnEnded(key, code); });
  if (world_.surroundings != nullptr) world_.surroundings->Started(key);
  if (!started.ok()) {
    run.said.failure = started.error().message;
    if (world_.surroundings != nullptr) world_.surroundings->Ended(key);
    return Tell([key, why = run.said.failure](const Listener& listener) { listener.on_failed(key, why); });
  }
  run.said.pid = run.child->pid();
  Tell([key, pid = run.said.pid](const Listener& listener) { listener.on_started(key, pid); });
}

void Supervisor::OnEnded(const std::string& key, int32_t code) {
  SupervisedRun& run = runs_.at(key).said;
  run.pid = 0;
  run.code = code;
  if (world_.surroundings != nullptr) run.note = world_.surroundings->Ended(key);
  Tell([key, code, note = run.note](const Listener& listener) { listener.on_ended(key, code, note); });
}

void Supervisor::End(const std::string& key) {
  const auto found = runs_.find(key);
  if (found == runs_.end() || found->second.said.pid == 0) return;
  found->second.said.ending = true;
  found->second.child->End();
}

void Supervisor::Forget(const std::string& key) {
  const auto found = runs_.find(key);
  if (found != runs_.end() && found->second.said.pid == 0) runs_.erase(found);
}

void Supervisor::Quit() {
  runs_.clear();
  on_over_();
}

}  // namespace fairlead::process::spark_worker

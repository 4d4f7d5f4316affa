#include "scheduler/spark_standalone/master.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

// The master's reactions to messages; passes are in passes.cc, what follows a restart in recovery.cc.

namespace fairlead::scheduler::standalone {

std::optional<WorkerPolicy> WorkerPolicyByName(std::string_view name) {
  if (name == "CORES_FREE_DESC_UNTIED") return WorkerPolicy::kCoresFreeDescUntied;
  if (name == "CORES_FREE_ASC") return WorkerPolicy::kCoresFreeAsc;
  if (name == "CORES_FREE_DESC") return WorkerPolicy::kCoresFreeDesc;
  if (name == "MEMORY_FREE_ASC") return WorkerPolicy::kMemoryFreeAsc;
  if (name == "MEMORY_FREE_DESC") return WorkerPolicy::kMemoryFreeDesc;
  if (name == "WORKER_ID") return WorkerPolicy::kWorkerId;
  return std::nullopt;
}

void Master::Step(std::span<const sa::Event> events, std::vector<sa::Effect>& out) {
  out_ = &out;
  for (const sa::Event& event : events) {
    std::visit([this](const auto& alternative) { On(alternative); }, event);
    if (!std::holds_alternative<sa::Orders>(event)) orders_.reset();
  }
  out_ = nullptr;
}

void Master::On(const sa::Orders& event) {
  orders_ = event;
  next_permutation_ = 0;
}

void Master::On(const sa::WorkerRegistered& event) {
  FL_CHECK(event.worker.value == workers_.next(), "workers are numbered in order");
  for (const auto& [number, old] : workers_) {
    const bool same_id = old.id == event.id;
    if (old.state == sa::WorkerState::kDead || (!same_id && (old.host != event.host || old.port != event.port)))
      continue;
    if (!same_id && old.state == sa::WorkerState::kUnknown) {
      LoseWorker(number, "Worker replaced by a new worker with same address");
      break;
    }
    workers_.Add().state = sa::WorkerState::kDead;
    if (same_id) {
      Emit(sa::RegisteredWorker{event.worker, true});
    } else {
      Emit(sa::RegisterWorkerFailed{event.worker, "Attempted to re-register worker at same address: " + event.host +
                                                      ":" + std::to_string(event.port)});
    }
    return;
  }
  AddWorker(event);
  Emit(sa::RegisteredWorker{event.worker, false});
  Schedule();
}

Worker& Master::AddWorker(const sa::WorkerRegistered& event) {
  Worker& worker = workers_.Add();
  worker.id = event.id;
  worker.host = event.host;
  worker.port = event.port;
  worker.cores = event.cores;
  worker.memory = event.memory;
  worker.resources_free = event.resources;
  for (sa::Resource& resource : worker.resources_free) std::sort(resource.addresses.begin(), resource.addresses.end());
  return worker;
}

void Master::On(const sa::WorkerLost& event) {
  if (workers_.contains(event.worker.value)) LoseWorker(event.worker.value, event.message);
}

void Master::LoseWorker(uint32_t index, const std::string& message) {
  Worker& worker = workers_[index];
  if (worker.state == sa::WorkerState::kDead) return;
  worker.state = sa::WorkerState::kDead;
  for (const auto& [key, executor] : worker.executors) {
    const auto& [app, id] = key;
    Emit(sa::ExecutorUpdated{{app}, id, sa::ExecutorState::kLost, "worker lost", std::nullopt, worker.host});
    RemoveExecutorFromApp(app, id);
  }
  for (const auto [id] : LostDrivers(worker)) GiveUpDriver(id);
  for (const uint32_t app : waiting_apps_) Emit(sa::WorkerRemoved{{app}, {index}, message});
  Schedule();
}

void Master::On(const sa::WorkerAway& event) {
  if (workers_.contains(event.worker.value)) workers_[event.worker.value].away = true;
}

/// What the worker does not hold was lost on its way there, or died with what supervised it.
void Master::On(const sa::WorkerBack& event) {
  Emit(sa::Answer{event.token, true});
  if (!workers_.contains(event.worker.value) || !workers_[event.worker.value].away) return;
  Worker& worker = workers_[event.worker.value];
  worker.away = false;
  std::set<std::pair<uint32_t, int32_t>> held;
  for (const sa::HeldExecutor& one : event.executors) held.emplace(one.app.value, one.executor);
  std::vector<std::pair<uint32_t, int32_t>> lost;
  for (const auto& [key, executor] : worker.executors) {
    if (!held.contains(key)) lost.push_back(key);
  }
  for (const auto& [app, id] : lost) {
    Emit(sa::ExecutorUpdated{
        {app}, id, sa::ExecutorState::kLost, "lost with its supervisor", std::nullopt, std::nullopt});
    RemoveExecutorFromApp(app, id);
    RemoveExecutorFromWorker(event.worker.value, app, id);
  }
  std::vector<uint32_t> lost_drivers;
  for (const auto& [id, index] : worker.drivers) {
    if (std::find(event.drivers.begin(), event.drivers.end(), index) == event.drivers.end()) lost_drivers.push_back(id);
  }
  for (const uint32_t id : lost_drivers) GiveUpDriver(id);
  Schedule();
}

/// Its worker is gone.
void Master::GiveUpDriver(uint32_t id) {
  if (!drivers_[id].description.supervise) return RemoveDriver(id, sa::DriverState::kError);
  // A new id, so that late messages of a partitioned worker cannot end the new driver (SPARK-19900).
  const auto next = sa::DriverIndex{drivers_.next()};
  RemoveDriver(id, sa::DriverState::kRelaunching, next);
  waiting_drivers_.push_back(CreateDriver(drivers_[id].description));
  Schedule();
}

/// A lost worker's drivers in the order in which they are gone through.
std::vector<sa::DriverIndex> Master::LostDrivers(const Worker& worker) const {
  std::vector<sa::DriverIndex> out;
  for (const auto& [id, index] : worker.drivers) out.push_back(index);
  if (!orders_) return out;
  const auto place = [&given = orders_->lost](sa::DriverIndex driver) {
    return std::find(given.begin(), given.end(), driver) - given.begin();
  };
  std::stable_sort(out.begin(), out.end(), [&](auto a, auto b) { return place(a) < place(b); });
  return out;
}

void Master::On(const sa::WorkerDecommissioned& event) {
  if (!workers_.contains(event.worker.value)) return;
  Worker& worker = workers_[event.worker.value];
  if (worker.state != sa::WorkerState::kAlive) return;
  // What runs there keeps its cores until it reports its end; its applications no longer count on it.
  for (auto& [key, executor] : worker.executors) {
    const auto& [app, id] = key;
    Emit(sa::ExecutorUpdated{
        {app}, id, sa::ExecutorState::kDecommissioned, "worker decommissioned", std::nullopt, worker.host});
    executor.state = sa::ExecutorState::kDecommissioned;
    RemoveExecutorFromApp(app, id);
  }
  worker.state = sa::WorkerState::kDecommissioned;
}

void Master::AddProfile(App& app, const sa::Profile& profile) {
  if (app.profiles.contains(profile.id)) return;
  ExecutorNeeds needs;
  if (const auto base = app.profiles.find(0); base != app.profiles.end()) {
    needs.cores = base->second.cores;
    needs.memory = base->second.memory;
  }
  if (profile.cores) needs.cores = profile.cores;
  if (needs.cores && *needs.cores <= 0) needs.cores.reset();
  needs.memory = std::max(profile.memory.value_or(needs.memory), 0);
  needs.resources = profile.resources;
  app.profiles.emplace(profile.id, std::move(needs));
}

void Master::On(const sa::AppRegistered& event) {
  AddApp(event);
  Emit(sa::RegisteredApplication{event.app});
  Schedule();
}

App& Master::AddApp(const sa::AppRegistered& event) {
  FL_CHECK(event.app.value == apps_.next(), "applications are numbered in order");
  App& app = apps_.Add();
  app.known = true;
  app.requested_cores = event.max_cores.value_or(config_.default_cores);
  sa::Profile profile = event.profile;
  profile.id = 0;
  AddProfile(app, profile);
  app.targets[0] = event.initial_executor_limit.value_or(INT32_MAX);
  waiting_apps_.push_back(event.app.value);
  NoteWants(event.app.value);
  return app;
}

void Master::On(const sa::AppFinished& event) {
  if (apps_.contains(event.app.value) && apps_[event.app.value].known)
    RemoveApp(event.app.value, sa::AppState::kFinished);
}

void Master::On(const sa::AppKilled& event) {
  if (apps_.contains(event.app.value) && apps_[event.app.value].known)
    RemoveApp(event.app.value, sa::AppState::kKilled);
}

void Master::RemoveApp(uint32_t index, sa::AppState state) {
  App& app = apps_[index];
  app.known = false;
  std::erase(waiting_apps_, index);
  wanting_apps_.erase(index);
  for (const auto& [id, executor] : app.executors) KillExecutorOf(index, id, executor.worker);
  app.state = state;
  if (state != sa::AppState::kFinished) Emit(sa::ApplicationRemoved{{index}, std::string(EnumName(state))});
  Schedule();
  // Also the lost ones: they clean up when they come back.
  for (const auto& [number, worker] : workers_) {
    if (!worker.id.empty()) Emit(sa::ApplicationFinished{{number}, {index}});
  }
}

void Master::On(const sa::ExecutorStateChanged& event) {
  ChangeExecutorState(event);
  Emit(sa::Answer{event.token, true});
}

void Master::ChangeExecutorState(const sa::ExecutorStateChanged& event) {
  if (!apps_.contains(event.app.value) || !apps_[event.app.value].known) return;
  App& app = apps_[event.app.value];
  const auto it = app.executors.find(event.executor);
  if (it == app.executors.end() || (event.worker && it->second.worker != event.worker->value)) return;
  Executor& executor = it->second;
  executor.state = event.state;
  if (event.state == sa::ExecutorState::kRunning) app.retries = 0;
  Emit(sa::ExecutorUpdated{event.app, event.executor, event.state, event.message, event.exit_status, std::nullopt});
  const bool finished = event.state != sa::ExecutorState::kLaunching && event.state != sa::ExecutorState::kRunning &&
                        event.state != sa::ExecutorState::kDecommissioned;
  if (finished) {
    const uint32_t worker = executor.worker;
    RemoveExecutorFromApp(event.app.value, event.executor);
    RemoveExecutorFromWorker(worker, event.app.value, event.executor);
    const bool normal = event.exit_status == 0;
    if (!normal && ++app.retries >= config_.max_executor_retries && config_.max_executor_retries >= 0) {
      const bool running = std::any_of(app.executors.begin(), app.executors.end(),
                                       [](const auto& one) { return one.second.state == sa::ExecutorState::kRunning; });
      if (!running) RemoveApp(event.app.value, sa::AppState::kFailed);
    }
  }
  Schedule();
}

void Master::On(const sa::ExecutorsRequested& event) {
  if (!apps_.contains(event.app.value) || !apps_[event.app.value].known) {
    Emit(sa::Answer{event.token, false});
    return;
  }
  App& app = apps_[event.app.value];
  for (const sa::ProfileTarget& target : event.targets) SetTarget(app, target);
  NoteWants(event.app.value);
  Schedule();
  Emit(sa::Answer{event.token, true});
}

void Master::SetTarget(App& app, const sa::ProfileTarget& target) {
  AddProfile(app, target.profile);
  app.targets[target.profile.id] = target.total;
}

void Master::On(const sa::ExecutorsKilled& event) {
  if (!apps_.contains(event.app.value) || !apps_[event.app.value].known) {
    Emit(sa::Answer{event.token, false});
    return;
  }
  App& app = apps_[event.app.value];
  for (const int32_t id : event.executors) {
    const auto it = app.executors.find(id);
    if (it == app.executors.end()) continue;
    const uint32_t worker = it->second.worker;
    RemoveExecutorFromApp(event.app.value, id);
    KillExecutorOf(event.app.value, id, worker);
  }
  Schedule();
  Emit(sa::Answer{event.token, true});
}

void Master::On(const sa::ExecutorTaken& event) {
  if (!apps_.contains(event.app.value)) return;
  const auto it = apps_[event.app.value].executors.find(event.executor);
  if (it == apps_[event.app.value].executors.end()) return;
  const uint32_t worker = it->second.worker;
  // Of ExecutorExitCode: with this status drivers of Spark do not hold the loss against the tasks.
  constexpr int32_t kHeartbeatFailure = 56;
  Emit(sa::ExecutorUpdated{event.app, event.executor, sa::ExecutorState::kKilled, event.message, kHeartbeatFailure,
                           std::nullopt});
  RemoveExecutorFromApp(event.app.value, event.executor);
  KillExecutorOf(event.app.value, event.executor, worker);
  Schedule();
}

void Master::RemoveExecutorFromApp(uint32_t index, int32_t id) {
  // A decommissioned executor may outlive its application.
  if (!apps_.contains(index)) return;
  App& app = apps_[index];
  const auto it = app.executors.find(id);
  if (it == app.executors.end()) return;
  app.cores_granted -= it->second.cores;
  app.executors.erase(it);
  NoteWants(index);
}

void Master::RemoveExecutorFromWorker(uint32_t index, uint32_t app, int32_t id) {
  Worker& worker = workers_[index];
  const auto it = worker.executors.find({app, id});
  if (it == worker.executors.end()) return;
  worker.cores_used -= it->second.cores;
  worker.memory_used -= it->second.memory;
  for (const sa::Resource& taken : it->second.resources) ReturnResource(worker.resources_free, taken);
  worker.executors.erase(it);
}

void Master::KillExecutorOf(uint32_t app, int32_t id, uint32_t worker) {
  RemoveExecutorFromWorker(worker, app, id);
  Emit(sa::KillExecutor{{worker}, {app}, id});
}

uint32_t Master::CreateDriver(sa::DriverSubmitted description) {
  drivers_.Add().description = std::move(description);
  return drivers_.next() - 1;
}

void Master::On(const sa::DriverSubmitted& event) {
  const uint32_t driver = CreateDriver(event);
  waiting_drivers_.push_back(driver);
  Schedule();
  Emit(sa::DriverAccepted{event.token, {driver}});
}

void Master::On(const sa::DriverStateChanged& event) {
  if (!drivers_.contains(event.driver.value) || !drivers_[event.driver.value].known) return;
  if (event.state == sa::DriverState::kSubmitted || event.state == sa::DriverState::kRunning) return;
  if (event.worker && drivers_[event.driver.value].worker != event.worker->value) return;
  RemoveDriver(event.driver.value, event.state, {}, event.exception);
}

void Master::On(const sa::DriverKilled& event) {
  if (!drivers_.contains(event.driver.value) || !drivers_[event.driver.value].known) {
    Emit(sa::Answer{event.token, false});
    return;
  }
  const uint32_t index = event.driver.value;
  if (std::erase(waiting_drivers_, index) > 0) {
    RemoveDriver(index, sa::DriverState::kKilled);
  } else if (drivers_[index].worker != UINT32_MAX) {
    Emit(sa::KillDriver{{drivers_[index].worker}, event.driver});
  }
  Emit(sa::Answer{event.token, true});
}

void Master::RemoveDriver(uint32_t index, sa::DriverState state, sa::DriverIndex successor,
                          const std::string& exception) {
  Driver& driver = drivers_[index];
  driver.known = false;
  driver.state = state;
  if (driver.worker != UINT32_MAX) {
    Worker& worker = workers_[driver.worker];
    worker.drivers.erase(index);
    worker.cores_used -= driver.description.cores;
    worker.memory_used -= driver.description.memory;
    for (const sa::Resource& taken : driver.resources) ReturnResource(worker.resources_free, taken);
    --running_drivers_;
  }
  std::erase(waiting_drivers_, index);
  Emit(sa::DriverEnded{{index}, state, successor, exception});
  Schedule();
}

void Master::Forget(const Gone& gone) {
  for (const uint32_t app : gone.apps) FL_CHECK(!apps_[app].known, "an application that is forgotten has ended");
  for (const uint32_t driver : gone.drivers) FL_CHECK(!drivers_[driver].known, "a driver that is forgotten has ended");
  for (const uint32_t worker : gone.workers) {
    FL_CHECK(workers_[worker].state == sa::WorkerState::kDead, "a worker that is forgotten is lost");
  }
  workers_.Drop(gone.workers);
  apps_.Drop(gone.apps);
  drivers_.Drop(gone.drivers);
}

uint64_t Master::StateHash() const {
  base::StateHasher hash;
  for (const auto& [index, worker] : workers_) {
    hash.Mix(worker.id);
    hash.Mix(static_cast<uint64_t>(worker.state));
    hash.Mix(static_cast<uint64_t>(worker.cores_used));
    hash.Mix(static_cast<uint64_t>(worker.memory_used));
  }
  for (const auto& [index, app] : apps_) {
    hash.Mix(static_cast<uint64_t>(app.state));
    hash.Mix(static_cast<uint64_t>(app.cores_granted));
    hash.Mix(static_cast<uint64_t>(app.retries));
    for (const auto& [profile, target] : app.targets) hash.Mix(static_cast<uint64_t>(target));
    for (const auto& [id, executor] : app.executors) {
      hash.Mix(static_cast<uint64_t>(id));
      hash.Mix(executor.worker);
      hash.Mix(static_cast<uint64_t>(executor.state));
    }
  }
  for (const auto& [index, driver] : drivers_) {
    hash.Mix(static_cast<uint64_t>(driver.state));
    hash.Mix(driver.worker);
  }
  for (const uint32_t app : waiting_apps_) hash.Mix(app);
  for (const uint32_t driver : waiting_drivers_) hash.Mix(driver);
  return hash.value();
}

std::string Master::CheckInvariants() const {
  for (const auto& [number, worker] : workers_) {
    int64_t cores = 0;
    int64_t memory = 0;
    for (const auto& [key, executor] : worker.executors) {
      cores += executor.cores;
      memory += executor.memory;
    }
    for (const auto& [id, index] : worker.drivers) {
      cores += drivers_[id].description.cores;
      memory += drivers_[id].description.memory;
    }
    if (cores != worker.cores_used || memory != worker.memory_used) return "worker " + worker.id + ": usage";
    if (cores > worker.cores || memory > worker.memory) return "worker " + worker.id + ": over-committed";
  }
  for (const auto& [i, app] : apps_) {
    int64_t cores = 0;
    for (const auto& [id, executor] : app.executors) cores += executor.cores;
    if (cores != app.cores_granted) return "application " + std::to_string(i) + ": cores";
    const bool wants = app.known && std::ranges::any_of(app.targets, [&](const auto& one) {
                         return Wants(app, one.first, one.second);
                       });
    if (wants != wanting_apps_.contains(i)) return "application " + std::to_string(i) + ": whether it wants more";
    if (app.known && app.cores_left() < 0) return "application " + std::to_string(i) + ": above its maximum";
  }
  return "";
}

}  // namespace fairlead::scheduler::standalone

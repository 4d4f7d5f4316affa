#include <algorithm>

#include "base/check.h"
#include "scheduler/spark_standalone/master.h"

// What follows a restart (Master.beginRecovery, completeRecovery): stored workers and applications are called back and
// say what they run, and who does not answer is given up. Unlike Spark's, drivers that had not been sent to a worker
// still wait under their ids, and applications keep the last totals of executors that they asked for.

namespace fairlead::scheduler::standalone {

namespace {

bool IsFree(const Worker& worker, const sa::Resource& claimed) {
  const auto free = std::find_if(worker.resources_free.begin(), worker.resources_free.end(),
                                 [&](const sa::Resource& one) { return one.name == claimed.name; });
  if (free == worker.resources_free.end()) return false;
  return std::all_of(claimed.addresses.begin(), claimed.addresses.end(), [&](const std::string& address) {
    return std::count(free->addresses.begin(), free->addresses.end(), address) == 1 &&
           std::count(claimed.addresses.begin(), claimed.addresses.end(), address) == 1;
  });
}

/// Whether a worker can have what it says it runs: one resource of a name, and none of it anybody else's.
bool Fits(const Worker& worker, int32_t cores, int32_t memory, const std::vector<sa::Resource>& resources) {
  if (cores < 0 || memory < 0 || cores > worker.cores_free() || memory > worker.memory_free()) return false;
  return std::all_of(resources.begin(), resources.end(), [&](const sa::Resource& one) {
    const auto same = [&](const sa::Resource& other) { return other.name == one.name; };
    return std::count_if(resources.begin(), resources.end(), same) == 1 && IsFree(worker, one);
  });
}

void Take(Worker& worker, int32_t cores, int32_t memory, const std::vector<sa::Resource>& resources) {
  worker.cores_used += cores;
  worker.memory_used += memory;
  for (sa::Resource& free : worker.resources_free) {
    for (const sa::Resource& taken : resources) {
      if (taken.name != free.name) continue;
      std::erase_if(free.addresses, [&](const std::string& address) {
        return std::count(taken.addresses.begin(), taken.addresses.end(), address) != 0;
      });
    }
  }
}

}  // namespace

void Master::On(const sa::Recovered& event) {
  FL_CHECK(workers_.empty() && apps_.empty() && drivers_.empty(), "what is stored comes before all else");
  recovering_ = true;
  for (const sa::WorkerRegistered& worker : event.workers) AddWorker(worker).state = sa::WorkerState::kUnknown;
  for (const sa::StoredApp& stored : event.apps) {
    App& app = AddApp(stored.registration);
    for (const sa::ProfileTarget& target : stored.targets) SetTarget(app, target);
    app.next_executor = stored.next_executor;
    app.state = sa::AppState::kUnknown;
    NoteWants(stored.registration.app.value);
  }
  for (const sa::StoredDriver& stored : event.drivers) {
    const uint32_t index = CreateDriver(stored.description);
    if (stored.waits) {
      waiting_drivers_.push_back(index);
    } else {
      drivers_[index].state = sa::DriverState::kUnknown;
    }
  }
  EndRecoveryIfAllAnswered();
}

void Master::On(const sa::WorkerAnswered& event) {
  if (!workers_.contains(event.worker.value)) return;
  const uint32_t index = event.worker.value;
  if (workers_[index].state != sa::WorkerState::kUnknown) return;
  workers_[index].state = sa::WorkerState::kAlive;
  for (const sa::ClaimedExecutor& claimed : event.executors) {
    if (!Claim(index, claimed)) Emit(sa::KillExecutor{event.worker, claimed.app, claimed.executor});
  }
  for (const sa::ClaimedDriver& claimed : event.drivers) {
    if (!Claim(index, claimed)) Emit(sa::KillDriver{event.worker, claimed.driver});
  }
  EndRecoveryIfAllAnswered();
}

bool Master::Claim(uint32_t index, const sa::ClaimedExecutor& claimed) {
  Worker& worker = workers_[index];
  if (!apps_.contains(claimed.app.value) || !apps_[claimed.app.value].known) return false;
  App& app = apps_[claimed.app.value];
  const bool lives = claimed.state == sa::ExecutorState::kLaunching || claimed.state == sa::ExecutorState::kRunning;
  if (!lives || claimed.executor < 0 || claimed.executor == INT32_MAX || app.executors.contains(claimed.executor) ||
      claimed.cores > app.cores_left() || !Fits(worker, claimed.cores, claimed.memory, claimed.resources)) {
    return false;
  }
  Take(worker, claimed.cores, claimed.memory, claimed.resources);
  const Executor executor{claimed.executor,  index,        claimed.cores, claimed.memory, claimed.profile,
                          claimed.resources, claimed.state};
  app.cores_granted += claimed.cores;
  app.next_executor = std::max(app.next_executor, claimed.executor + 1);
  app.executors.emplace(claimed.executor, executor);
  worker.executors.emplace(std::pair(claimed.app.value, claimed.executor), executor);
  NoteWants(claimed.app.value);
  return true;
}

bool Master::Claim(uint32_t index, const sa::ClaimedDriver& claimed) {
  Worker& worker = workers_[index];
  if (!drivers_.contains(claimed.driver.value)) return false;
  Driver& driver = drivers_[claimed.driver.value];
  const int32_t cores = driver.description.cores, memory = driver.description.memory;
  if (driver.state != sa::DriverState::kUnknown || !Fits(worker, cores, memory, claimed.resources)) return false;
  Take(worker, cores, memory, claimed.resources);
  driver.resources = claimed.resources;
  driver.worker = index;
  driver.state = sa::DriverState::kRunning;
  worker.drivers.emplace(claimed.driver.value, claimed.driver);
  ++running_drivers_;
  return true;
}

void Master::On(const sa::AppAnswered& event) {
  if (!apps_.contains(event.app.value) || apps_[event.app.value].state != sa::AppState::kUnknown) return;
  apps_[event.app.value].state = sa::AppState::kWaiting;
  EndRecoveryIfAllAnswered();
}

void Master::On(const sa::RecoveryEnded&) {
  if (recovering_) EndRecovery();
}

void Master::EndRecoveryIfAllAnswered() {
  const auto silent = [](const auto& one) {
    return one.second.state == std::decay_t<decltype(one.second.state)>::kUnknown;
  };
  if (!recovering_ || std::ranges::any_of(workers_, silent) || std::ranges::any_of(apps_, silent)) return;
  EndRecovery();
}

void Master::EndRecovery() {
  for (const auto& [i, worker] : workers_) {
    if (worker.state == sa::WorkerState::kUnknown) LoseWorker(i, "Not responding for recovery");
  }
  for (auto& [i, app] : apps_) {
    if (app.state == sa::AppState::kUnknown) {
      RemoveApp(i, sa::AppState::kFinished);
      Emit(sa::ApplicationRemoved{{i}, "its driver did not answer after the master's restart"});
    } else if (app.state == sa::AppState::kWaiting && !app.executors.empty()) {
      app.state = sa::AppState::kRunning;
    }
  }
  std::vector<uint32_t> unclaimed;
  for (const auto& [i, driver] : drivers_) {
    if (driver.known && driver.state == sa::DriverState::kUnknown) unclaimed.push_back(i);
  }
  for (const uint32_t driver : unclaimed) GiveUpDriver(driver);
  recovering_ = false;
  Schedule();
}

}  // namespace fairlead::scheduler::standalone

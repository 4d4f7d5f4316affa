#include <algorithm>

#include "scheduler/spark_standalone/master.h"

// One scheduling pass: drivers first, then executors, application after application.

namespace fairlead::scheduler::standalone {

void ReturnResource(std::vector<sa::Resource>& free, const sa::Resource& taken) {
  for (sa::Resource& resource : free) {
    if (resource.name != taken.name) continue;
    resource.addresses.insert(resource.addresses.end(), taken.addresses.begin(), taken.addresses.end());
    std::sort(resource.addresses.begin(), resource.addresses.end());
  }
}

namespace {

int64_t FreeAmount(const Worker& worker, const std::string& name) {
  for (const sa::Resource& resource : worker.resources_free) {
    if (resource.name == name) return static_cast<int64_t>(resource.addresses.size());
  }
  return 0;
}

/// Takes the first free addresses; the caller has tested that there are enough.
std::vector<sa::Resource> TakeResources(Worker& worker, const std::vector<sa::ResourceAmount>& needs) {
  std::vector<sa::Resource> taken;
  for (const sa::ResourceAmount& need : needs) {
    for (sa::Resource& resource : worker.resources_free) {
      if (resource.name != need.name) continue;
      const auto end = resource.addresses.begin() + need.amount;
      taken.push_back({need.name, {resource.addresses.begin(), end}});
      resource.addresses.erase(resource.addresses.begin(), end);
    }
  }
  return taken;
}

}  // namespace

void Master::Schedule() {
  if (recovering_) return;
  ScheduleDrivers();
  ScheduleExecutors();
}

std::vector<uint32_t> Master::AliveWorkers() const {
  std::vector<uint32_t> alive;
  if (orders_) {
    for (const sa::WorkerIndex worker : orders_->alive) {
      if (workers_.contains(worker.value) && workers_[worker.value].usable()) alive.push_back(worker.value);
    }
    return alive;
  }
  for (const auto& [i, worker] : workers_) {
    if (worker.usable()) alive.push_back(i);
  }
  return alive;
}

/// The workers in the order in which this pass offers them to drivers.
std::vector<uint32_t> Master::DriverWorkers() {
  std::vector<uint32_t> alive = AliveWorkers();
  if (!config_.spread_out_drivers) {
    std::sort(alive.begin(), alive.end(), [&](uint32_t a, uint32_t b) { return workers_[a].id < workers_[b].id; });
    return alive;
  }
  if (orders_) {
    if (next_permutation_ >= orders_->permutations.size()) return alive;
    alive.clear();
    for (const sa::WorkerIndex worker : orders_->permutations[next_permutation_]) alive.push_back(worker.value);
    ++next_permutation_;
    return alive;
  }
  for (size_t n = alive.size(); n > 1; --n) std::swap(alive[n - 1], alive[rng_.Below(n)]);
  return alive;
}

bool Master::CanLaunch(const Worker& worker, int32_t cores, int32_t memory,
                       const std::vector<sa::ResourceAmount>& resources) const {
  if (worker.memory_free() < memory || worker.cores_free() < cores) return false;
  return std::all_of(resources.begin(), resources.end(),
                     [&](const sa::ResourceAmount& need) { return FreeAmount(worker, need.name) >= need.amount; });
}

void Master::ScheduleDrivers() {
  if (waiting_drivers_.empty()) {  // Spark draws an order all the same
    const bool drawn = orders_ && config_.spread_out_drivers && next_permutation_ < orders_->permutations.size();
    next_permutation_ += drawn ? 1 : 0;
    return;
  }
  const std::vector<uint32_t> offered = DriverWorkers();
  size_t at = 0;
  const std::vector<uint32_t> waiting = waiting_drivers_;
  for (const uint32_t index : waiting) {
    if (running_drivers_ >= config_.max_drivers) break;
    const sa::DriverSubmitted& needs = drivers_[index].description;
    for (size_t visited = 0; visited < offered.size(); ++visited) {
      const size_t here = config_.spread_out_drivers ? at : visited;
      at = (at + 1) % offered.size();
      if (!CanLaunch(workers_[offered[here]], needs.cores, needs.memory, needs.resources)) continue;
      LaunchDriverOn(index, offered[here]);
      std::erase(waiting_drivers_, index);
      break;
    }
  }
}

void Master::LaunchDriverOn(uint32_t index, uint32_t worker_index) {
  Driver& driver = drivers_[index];
  Worker& worker = workers_[worker_index];
  driver.resources = TakeResources(worker, driver.description.resources);
  driver.worker = worker_index;
  driver.state = sa::DriverState::kRunning;
  worker.drivers.emplace(index, sa::DriverIndex{index});
  worker.cores_used += driver.description.cores;
  worker.memory_used += driver.description.memory;
  ++running_drivers_;
  Emit(
      sa::LaunchDriver{{worker_index}, {index}, driver.description.cores, driver.description.memory, driver.resources});
}

void Master::ScheduleExecutors() {
  if (!config_.places_executors) return;
  if (wanting_apps_.empty()) return;
  const Room most = MostRoom();  // that a worker has left: during a pass it gets no more
  const std::vector<uint32_t> wanting(wanting_apps_.begin(), wanting_apps_.end());
  for (const uint32_t index : wanting) {
    for (const auto& [profile, target] : apps_[index].targets) {
      if (!Wants(apps_[index], profile, target)) continue;
      const ExecutorNeeds& needs = apps_[index].profiles.at(profile);
      if (most.cores < needs.cores.value_or(1) || most.memory < needs.memory) continue;
      const std::vector<uint32_t> usable = UsableWorkers(needs);
      const std::vector<int32_t> cores = Distribute(apps_[index], profile, needs, usable);
      for (size_t i = 0; i < usable.size(); ++i) {
        if (cores[i] > 0) LaunchExecutors(index, profile, needs, usable[i], cores[i]);
      }
    }
  }
}

bool Master::Wants(const App& app, int32_t profile, int32_t target) {
  // Fewer cores left than one executor takes: they stay ungranted.
  return app.cores_left() >= app.profiles.at(profile).cores.value_or(1) && ExecutorsOf(app, profile) < target;
}

void Master::NoteWants(uint32_t index) {
  const App& app = apps_[index];
  const bool wants =
      app.known && std::ranges::any_of(app.targets, [&](const auto& one) { return Wants(app, one.first, one.second); });
  if (wants) wanting_apps_.insert(index);
  if (!wants) wanting_apps_.erase(index);
}

Master::Room Master::MostRoom() const {
  Room most;
  for (const auto& [i, worker] : workers_) {
    if (!worker.usable()) continue;
    most.cores = std::max(most.cores, worker.cores_free());
    most.memory = std::max(most.memory, worker.memory_free());
  }
  return most;
}

int64_t Master::ExecutorsOf(const App& app, int32_t profile) {
  return std::count_if(app.executors.begin(), app.executors.end(),
                       [profile](const auto& one) { return one.second.profile == profile; });
}

std::vector<uint32_t> Master::UsableWorkers(const ExecutorNeeds& needs) const {
  std::vector<uint32_t> usable;
  for (const uint32_t i : AliveWorkers()) {
    if (CanLaunch(workers_[i], needs.cores.value_or(1), needs.memory, needs.resources)) usable.push_back(i);
  }
  const auto value = [&](uint32_t i) -> int64_t {
    switch (config_.worker_policy) {
      case WorkerPolicy::kCoresFreeDescUntied:
      case WorkerPolicy::kCoresFreeAsc:
      case WorkerPolicy::kCoresFreeDesc:
        return workers_[i].cores_free();
      case WorkerPolicy::kMemoryFreeAsc:
      case WorkerPolicy::kMemoryFreeDesc:
        return workers_[i].memory_free();
      case WorkerPolicy::kWorkerId:
        return 0;
    }
    return 0;
  };
  const bool untied = config_.worker_policy == WorkerPolicy::kCoresFreeDescUntied;
  std::stable_sort(usable.begin(), usable.end(), [&](uint32_t a, uint32_t b) {
    if (value(a) != value(b)) return value(a) < value(b);
    return !untied && workers_[a].id < workers_[b].id;
  });
  if (untied || config_.worker_policy == WorkerPolicy::kCoresFreeDesc ||
      config_.worker_policy == WorkerPolicy::kMemoryFreeDesc) {
    std::reverse(usable.begin(), usable.end());
  }
  return usable;
}

std::vector<int32_t> Master::Distribute(const App& app, int32_t profile, const ExecutorNeeds& needs,
                                        const std::vector<uint32_t>& usable) const {
  const int32_t step = needs.cores.value_or(1);
  const bool one_per_worker = !needs.cores;
  std::vector<int32_t> cores(usable.size());
  std::vector<int32_t> executors(usable.size());
  int64_t all_executors = ExecutorsOf(app, profile);
  int64_t free_cores = 0;
  for (const uint32_t worker : usable) free_cores += workers_[worker].cores_free();
  int64_t left = std::min<int64_t>(app.cores_left(), free_cores);
  const int64_t limit = app.targets.at(profile);
  const auto can = [&](size_t i) {
    const Worker& worker = workers_[usable[i]];
    if (left < step || worker.cores_free() - cores[i] < step) return false;
    if (one_per_worker && executors[i] > 0) return true;  // more cores for the executor it gets
    if (worker.memory_free() - int64_t{executors[i]} * needs.memory < needs.memory) return false;
    for (const sa::ResourceAmount& need : needs.resources) {
      if (FreeAmount(worker, need.name) - int64_t{executors[i]} * need.amount < need.amount) return false;
    }
    return all_executors < limit;
  };
  std::vector<size_t> open;
  for (size_t i = 0; i < usable.size(); ++i) {
    if (can(i)) open.push_back(i);
  }
  while (!open.empty()) {
    for (const size_t i : open) {
      while (can(i)) {
        left -= step;
        cores[i] += step;
        if (!one_per_worker || executors[i] == 0) {
          ++executors[i];
          ++all_executors;
        }
        if (config_.spread_out_apps) break;
      }
    }
    std::erase_if(open, [&](size_t i) { return !can(i); });
  }
  return cores;
}

void Master::On(const sa::ExecutorPlaced& event) {
  if (!apps_.contains(event.app.value) || !workers_.contains(event.worker.value)) return;
  const App& app = apps_[event.app.value];
  const auto needs = app.profiles.find(event.profile);
  const Worker& worker = workers_[event.worker.value];
  const bool fits = app.known && needs != app.profiles.end() && worker.usable() &&
                    CanLaunch(worker, event.cores, needs->second.memory, needs->second.resources);
  if (fits) LaunchExecutors(event.app.value, event.profile, needs->second, event.worker.value, event.cores);
}

void Master::LaunchExecutors(uint32_t app_index, int32_t profile, const ExecutorNeeds& needs, uint32_t worker_index,
                             int32_t cores) {
  App& app = apps_[app_index];
  Worker& worker = workers_[worker_index];
  const int32_t count = needs.cores ? cores / *needs.cores : 1;
  for (int32_t i = 0; i < count; ++i) {
    Executor executor;
    executor.id = app.next_executor++;
    executor.worker = worker_index;
    executor.cores = needs.cores.value_or(cores);
    executor.memory = needs.memory;
    executor.profile = profile;
    executor.resources = TakeResources(worker, needs.resources);
    app.cores_granted += executor.cores;
    worker.cores_used += executor.cores;
    worker.memory_used += executor.memory;
    Emit(sa::LaunchExecutor{
        {worker_index}, {app_index}, executor.id, executor.cores, executor.memory, profile, executor.resources});
    Emit(sa::ExecutorAdded{{app_index}, executor.id, {worker_index}, executor.cores, executor.memory});
    worker.executors.emplace(std::pair(app_index, executor.id), executor);
    app.executors.emplace(executor.id, std::move(executor));
  }
  app.state = sa::AppState::kRunning;
  NoteWants(app_index);
}

}  // namespace fairlead::scheduler::standalone

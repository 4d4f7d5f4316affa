#include "sim/traces/real_use.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

constexpr double kBytesPerMbit = 125'000;
constexpr double kMiB = 1 << 20;
/// Of what a task that waits for a disk asks of cores, it uses so much.
constexpr double kIoCores = 0.2;

base::Rng Generator(uint64_t seed, uint64_t app, uint64_t task) {
  return base::Rng(seed * 0x9e3779b97f4a7c15 + (app << 32 | task));
}

/// How fast that runs which wants `wanted` of `room`.
double Speed(double room, double wanted) { return wanted > room ? room / wanted : 1; }

}  // namespace

RealAmounts& RealAmounts::operator+=(const RealAmounts& other) {
  milli_cores += other.milli_cores;
  memory_mib += other.memory_mib;
  disk += other.disk;
  network += other.network;
  return *this;
}

RealAmounts& RealAmounts::operator-=(const RealAmounts& other) {
  milli_cores -= other.milli_cores;
  memory_mib -= other.memory_mib;
  disk -= other.disk;
  network -= other.network;
  return *this;
}

RealUse::RealUse(const UseOptions& options, const std::vector<TraceNode>& list)
    : options_(options), list_(list), network_type_(model::ResourceTypes::Find("network")) {}

void RealUse::AddNode(uint32_t index, uint32_t list, int64_t now_ms) {
  if (nodes_.size() <= index) nodes_.resize(index + 1);
  Node& node = nodes_[index];
  const model::Resources& capacity = list_[list].capacity;
  // A cluster that counts memory alone may give its nodes no cores; tasks run there all the same.
  node.room.milli_cores = static_cast<double>(std::max<int64_t>(capacity.vcores(), 1)) * 1000;
  node.room.memory_mib = static_cast<double>(capacity.memory_mib());
  node.room.disk = 1;
  if (Generator(options_.seed, UINT32_MAX, list).Unit() < options_.busy_nodes) {
    node.others.milli_cores = node.room.milli_cores * options_.busy_cores;
    node.others.disk = options_.busy_cores;
  }
  node.all = node.others;
  node.summed_ms = node.looked_ms = now_ms;
}

uint32_t RealUse::KindOf(uint32_t app) const {
  if (options_.kinds <= 0) return app;
  return static_cast<uint32_t>(Generator(options_.seed, app, UINT32_MAX - 1).Next() %
                               static_cast<uint32_t>(options_.kinds));
}

std::string RealUse::NameOf(uint32_t app) const {
  std::string name = "job ";
  for (uint32_t kind = KindOf(app);; kind /= 26) {
    name.push_back(static_cast<char>('a' + kind % 26));
    if (kind < 26) return name;
  }
}

model::MeasuredUse RealUse::UseOf(uint32_t index, const Task& task) const {
  const Node& node = nodes_[index];
  model::MeasuredUse use;
  use.milli_cores = std::llround(task.use.milli_cores * node.core_speed);
  use.physical_bytes = std::llround(task.use.memory_mib * kMiB);
  use.network_bytes = std::llround(task.use.network);
  return use;
}

RealUse::Task RealUse::Draw(uint32_t app, uint32_t task, const model::Resources& size) const {
  base::Rng of_job = Generator(options_.seed, KindOf(app), UINT32_MAX);
  const double cores = options_.part * (0.5 + of_job.Unit());
  const double memory = options_.part * (0.5 + of_job.Unit());
  Task drawn;
  drawn.app = app;
  drawn.waits_for_disk = of_job.Chance(options_.io_jobs);
  base::Rng of_task = Generator(options_.seed, app, task);
  const double own = 0.9 + 0.2 * of_task.Unit();
  drawn.use.milli_cores = static_cast<double>(size.vcores()) * 1000 * std::min(cores * own, 2.0);
  drawn.use.memory_mib = static_cast<double>(size.memory_mib()) * std::min(memory * own, 1.0);
  if (drawn.waits_for_disk) {
    drawn.use.milli_cores *= kIoCores;
    drawn.use.disk = options_.io_disk * own;
  }
  if (network_type_ >= 0) {
    drawn.use.network = static_cast<double>(size[static_cast<size_t>(network_type_)]) * kBytesPerMbit * options_.part;
  }
  return drawn;
}

double RealUse::ReadMs(bool rack, bool far) const {
  if (!rack && !far) return 0;
  return options_.input_mib * kMiB * 1000 / (kBytesPerMbit * (rack ? options_.rack_mbit : options_.cluster_mbit));
}

void RealUse::Sum(Node& node, int64_t now_ms) {
  const auto time = static_cast<double>(now_ms - node.summed_ms);
  node.summed_ms = now_ms;
  node.used.milli_cores += std::min(node.all.milli_cores, node.room.milli_cores) * time;
  node.used.disk += std::min(node.all.disk, node.room.disk) * time;
  node.used.network += node.all.network * time;
}

/// What runs on the node has changed.
void RealUse::Respeed(Node& node, int64_t now_ms, std::vector<Task>& moved) {
  const double cores = Speed(node.room.milli_cores, node.all.milli_cores);
  const double disk = Speed(node.room.disk, node.all.disk);
  for (Task& task : node.tasks) {
    const double before = task.waits_for_disk ? node.disk_speed : node.core_speed;
    const double after = task.waits_for_disk ? disk : cores;
    if (before == after && task.end_ms != 0) continue;
    if (task.end_ms != 0) task.left_ms -= static_cast<double>(now_ms - task.since_ms) * before;
    task.since_ms = now_ms;
    task.end_ms = now_ms + static_cast<int64_t>(std::ceil(std::max(task.left_ms, 0.0) / after));
    moved.push_back(task);
  }
  node.core_speed = cores;
  node.disk_speed = disk;
}

void RealUse::Start(uint32_t index, Task task, int64_t now_ms, std::vector<Task>& moved) {
  Node& node = nodes_[index];
  Sum(node, now_ms);
  node.all += task.use;
  task.end_ms = 0;
  node.tasks.push_back(task);
  Respeed(node, now_ms, moved);
}

void RealUse::Stop(uint32_t index, uint32_t app, uint32_t sequence, int64_t now_ms, std::vector<Task>& moved) {
  Node& node = nodes_[index];
  const auto found = std::find_if(node.tasks.begin(), node.tasks.end(),
                                  [&](const Task& task) { return task.app == app && task.sequence == sequence; });
  if (found == node.tasks.end()) return;
  Sum(node, now_ms);
  node.tasks.erase(found);
  // Summed again: nothing is left of rounding after a day.
  node.all = node.others;
  for (const Task& task : node.tasks) node.all += task.use;
  Respeed(node, now_ms, moved);
}

const RealUse::Task* RealUse::OutOfMemory(uint32_t index) const {
  const Node& node = nodes_[index];
  return node.all.memory_mib > node.room.memory_mib && !node.tasks.empty() ? &node.tasks.back() : nullptr;
}

void RealUse::Look(uint32_t index, int64_t now_ms) {
  Node& node = nodes_[index];
  Sum(node, now_ms);
  const double time = std::max(1.0, static_cast<double>(now_ms - node.looked_ms));
  node.seen.milli_cores = std::llround(node.used.milli_cores / time);
  node.seen.physical_bytes = std::llround(std::min(node.all.memory_mib, node.room.memory_mib) * kMiB);
  node.seen.disk_busy = std::llround(node.used.disk / time * 1000);
  node.seen.network_bytes = std::llround(node.used.network / time);
  node.used = {};
  node.looked_ms = now_ms;
}

}  // namespace fairlead::sim

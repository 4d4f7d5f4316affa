#include "sim/traces/stage.h"

#include <algorithm>

#include "base/hash.h"
#include "sim/traces/read.h"

namespace fairlead::sim {

Topology::Topology(const std::vector<TraceNode>& list) {
  for (const TraceNode& node : list) {
    by_host.emplace(node.host, static_cast<uint32_t>(nodes.size()));
    nodes.push_back({node.host, node.rack});
  }
}

uint32_t Topology::NodeOf(const std::string& name) const {
  const std::string host = SplitHost(name).second;
  const auto it = by_host.find(host);
  if (it != by_host.end()) return it->second;
  base::StateHasher hasher;
  hasher.Mix(std::string_view(host));
  return static_cast<uint32_t>(hasher.value() % nodes.size());
}

StageRun::StageRun(const TraceStage& stage, const Topology& topology) : stage_(stage) {
  const auto tasks = static_cast<uint32_t>(stage.run_ms.size());
  waiting_ = tasks;
  is_waiting_.assign(tasks, true);
  queue_.resize(tasks);
  for (uint32_t i = 0; i < tasks; ++i) queue_[i] = tasks - 1 - i;  // served from the back
  if (stage.hosts.empty()) return;
  std::vector<const Topology::Spot*> spots;
  for (const std::string& host : stage.hosts) spots.push_back(&topology.nodes[topology.NodeOf(host)]);
  any_host_ = stage.wishes.empty();
  if (any_host_) {
    for (const Topology::Spot* spot : spots) {
      for (const std::string* name : {&spot->host, &spot->rack}) {
        if (place_by_name_.try_emplace(*name, places_.size()).second) places_.push_back({name, tasks, 0, {}});
      }
    }
    return;
  }
  places_of_.resize(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    for (const uint32_t wish : stage.wishes[task]) {
      if (wish >= spots.size()) continue;
      AddWish(task, spots[wish]->host);
      AddWish(task, spots[wish]->rack);
    }
  }
  for (Place& place : places_) std::reverse(place.tasks.begin(), place.tasks.end());
}

void StageRun::AddWish(uint32_t task, const std::string& name) {
  const auto [it, added] = place_by_name_.try_emplace(name, static_cast<uint32_t>(places_.size()));
  if (added) places_.push_back({&name, 0, 0, {}});
  std::vector<uint32_t>& own = places_of_[task];
  if (std::find(own.begin(), own.end(), it->second) != own.end()) return;
  own.push_back(it->second);
  ++places_[it->second].wanted;
  places_[it->second].tasks.push_back(task);
}

void StageRun::AddAsks(int64_t id, std::vector<model::Ask>& asks) {
  if (!open_) return;
  const bool moved = told_ != waiting_;
  if (!moved && (any_host_ || places_.empty())) return;
  model::Ask ask;
  ask.priority = stage_.priority;
  ask.allocation_request_id = id;
  ask.capability = stage_.size;
  const size_t before = asks.size();
  for (Place& place : places_) {
    const int64_t wanted = any_host_ ? waiting_ : place.wanted;
    if (place.told == wanted) continue;
    ask.name = *place.name;
    ask.count = static_cast<int32_t>(wanted);
    asks.push_back(ask);
    place.told = wanted;
  }
  if (!moved && asks.size() == before) return;
  ask.name = "*";
  ask.count = static_cast<int32_t>(waiting_);
  asks.push_back(ask);
  told_ = waiting_;
}

int64_t StageRun::Assign(model::Locality locality, const Topology::Spot& spot) {
  --told_;
  int64_t task = -1;
  if (!any_host_ && locality != model::Locality::kOffSwitch) {
    // As the scheduler counts: the node's rack, and its host when that was asked for.
    const auto host = place_by_name_.find(spot.host);
    const auto rack = place_by_name_.find(spot.rack);
    if (locality == model::Locality::kNodeLocal && host != place_by_name_.end()) {
      --places_[host->second].told;
      task = TakeFrom(places_[host->second].tasks);
    }
    if (rack != place_by_name_.end()) {
      --places_[rack->second].told;
      if (task < 0) task = TakeFrom(places_[rack->second].tasks);
    }
  }
  if (task < 0) task = TakeFrom(queue_);
  if (task < 0) return -1;
  is_waiting_[static_cast<size_t>(task)] = false;
  Count(static_cast<uint32_t>(task), -1);
  return task;
}

int64_t StageRun::TakeFrom(std::vector<uint32_t>& tasks) {
  while (!tasks.empty()) {
    const uint32_t task = tasks.back();
    tasks.pop_back();
    if (is_waiting_[task]) return task;
  }
  return -1;
}

void StageRun::Count(uint32_t task, int64_t change) {
  waiting_ += change;
  if (places_of_.empty()) return;
  for (const uint32_t place : places_of_[task]) places_[place].wanted += change;
}

void StageRun::PutBack(uint32_t task) {
  is_waiting_[task] = true;
  Count(task, 1);
  queue_.push_back(task);
  if (places_of_.empty()) return;
  for (const uint32_t place : places_of_[task]) places_[place].tasks.push_back(task);
}

void StageRun::ForgetAsks() {
  told_ = 0;
  for (Place& place : places_) place.told = 0;
}

}  // namespace fairlead::sim

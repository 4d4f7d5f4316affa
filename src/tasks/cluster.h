#pragma once

#include <cstdint>
#include <vector>

#include "tasks/hash_order.h"
#include "tasks/names.h"
#include "tasks/set_events.h"

namespace fairlead::tasks {

/// Who is there: executors, hosts and racks as TaskSchedulerImpl keeps them. Numbers are those of the Names.
class Cluster {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Executor {
    HostNumber host = kNone;
    bool alive = false;  // offered since it was last lost
    bool decommissioning = false;
    int32_t running = 0;
    int32_t slots = 0;                // when known, for load
    int32_t outside_milli_slots = 0;  // measured load besides our tasks
  };
  struct Host {
    uint32_t rack = kNone;
    bool counts_for_rack = false;  // offered since its last executor went
    NamedHashSet executors;        // alive ones, decommissioning included
  };

  ExecutorNumber InternExecutor(std::string_view name) {
    const uint32_t number = executor_names.Intern(name);
    if (number >= executors_.size()) executors_.resize(number + 1);
    return number;
  }
  HostNumber InternHost(std::string_view name) {
    const uint32_t number = host_names.Intern(name);
    if (number >= hosts_.size()) hosts_.resize(number + 1);
    return number;
  }
  void SetRack(HostNumber host, std::string_view rack) {
    hosts_[host].rack = rack.empty() ? kNone : rack_names.Intern(rack);
    if (rack_names.size() > rack_hosts_.size()) rack_hosts_.resize(rack_names.size());
  }

  Executor& executor(ExecutorNumber number) { return executors_[number]; }
  const Executor& executor(ExecutorNumber number) const { return executors_[number]; }
  const Host& host(HostNumber number) const { return hosts_[number]; }
  size_t executors() const { return executors_.size(); }
  size_t hosts() const { return hosts_.size(); }
  size_t hosts_in_use() const { return hosts_in_use_; }
  uint32_t RackOf(HostNumber host) const { return hosts_[host].rack; }

  /// An offer names the executor: it lives from now on. True when it is new.
  bool Meet(ExecutorNumber number, HostNumber host) {
    if (executors_[number].alive) return false;
    executors_[number].alive = true;
    executors_[number].host = host;
    executors_[number].running = 0;
    if (hosts_[host].executors.empty()) ++hosts_in_use_;
    hosts_[host].executors.Insert(executor_names.Key(number));
    return true;
  }
  /// An offer names the host: its rack counts as live.
  void MeetHost(HostNumber host) {
    Host& entry = hosts_[host];
    if (entry.rack == kNone || entry.counts_for_rack) return;
    entry.counts_for_rack = true;
    ++rack_hosts_[entry.rack];
  }
  void Lose(ExecutorNumber number) {
    Executor& entry = executors_[number];
    Host& host = hosts_[entry.host];
    host.executors.Erase(executor_names.Key(number));
    if (host.executors.empty()) {
      --hosts_in_use_;
      if (host.counts_for_rack) --rack_hosts_[host.rack];
      host.counts_for_rack = false;
    }
    entry.alive = false;
    entry.decommissioning = false;
    entry.running = 0;
  }

  bool IsAlive(ExecutorNumber number) const { return executors_[number].alive && !executors_[number].decommissioning; }
  bool HasAliveOnHost(HostNumber host) const {
    bool found = false;
    hosts_[host].executors.ForEach([&](const NamedKey& key) { found = found || IsAlive(key.id); });
    return found;
  }
  /// Tasks that run there, ours and others', in thousandths per slot.
  int64_t Load(ExecutorNumber number) const {
    const Executor& entry = executors_[number];
    return (int64_t{1000} * entry.running + entry.outside_milli_slots) / (entry.slots > 0 ? entry.slots : 1);
  }
  bool HasHostOnRack(uint32_t rack) const { return rack_hosts_[rack] > 0; }

  Names executor_names;
  Names host_names;
  Names rack_names;

 private:
  std::vector<Executor> executors_;
  std::vector<Host> hosts_;
  std::vector<int32_t> rack_hosts_;  // live hosts by rack
  size_t hosts_in_use_ = 0;
};

}  // namespace fairlead::tasks

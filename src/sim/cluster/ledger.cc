#include "sim/cluster/ledger.h"

namespace fairlead::sim {

void Ledger::Ended(const model::ApplicationId& app, const std::string& final_status, bool complete) {
  const auto [entry, first] = ended_.emplace(app, final_status);
  if (!first && entry->second != final_status) {
    Violation(ToString(app) + " ended twice: " + entry->second + ", then " + final_status);
  }
  if (final_status == "SUCCEEDED" && !complete) {
    Violation(ToString(app) + " says it succeeded with " + std::to_string(tasks_done(app)) +
              " tasks done, and work is missing");
  }
}

void Ledger::ProcessStarted(const model::ContainerId& id, const std::string& host, const model::Resources& resources) {
  if (!ever_started_.insert(id).second) Violation(ToString(id) + " was started a second time, on " + host);
  running_[id] = {host, resources};
  model::Resources used;
  for (const auto& [other, running] : running_) {
    if (running.host == host) used += running.resources;
  }
  if (!used.FitsIn(capacity_[host])) {
    Violation(host + " runs " + ToString(used) + " of " + ToString(capacity_[host]) + " since " + ToString(id) +
              " began: room was granted twice");
  }
}

void Ledger::ProcessEnded(const model::ContainerId& id) { running_.erase(id); }

void Ledger::HostDied(const std::string& host) {
  std::erase_if(running_, [&](const auto& entry) { return entry.second.host == host; });
}

void Ledger::MasterHeardEnd(const std::string& master_life, int registration, const model::ContainerId& id) {
  if (!heard_[{master_life, registration}].insert(id).second) {
    Violation(master_life + " was told twice that " + ToString(id) + " ended");
  }
}

void Ledger::SentElsewhere(const std::string& manager, const std::string& method, base::Instant asked) {
  if (led_ >= asked || manager == leader_) return;
  Violation(method + " was sent elsewhere by " + manager + ", and nobody has led since it was asked");
}

void Ledger::TaskKilled(const model::ContainerId& id) {
  if (only_takeovers_) Violation(ToString(id) + " was killed while it worked, and only leaders changed");
}

bool Ledger::RefusedDamage(env_sim::Machine& machine, bool started) {
  if (!machine.store_is_damaged()) return false;
  if (started) Violation(machine.host() + " was started on a damaged store");
  machine.RepairStore();
  return !started;
}

int Ledger::tasks_done(const model::ApplicationId& app) const {
  const auto found = done_.find(app);
  return found == done_.end() ? 0 : static_cast<int>(found->second.size());
}

void Ledger::Commits(const std::string& driver, int64_t task) {
  if (!may_commit_.contains({driver, task})) {
    Violation(driver + ": task " + std::to_string(task) + " commits what its driver did not let it commit");
  }
}

}  // namespace fairlead::sim

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "env_sim/world.h"
#include "model/ids.h"
#include "model/resources.h"
#include "sim/cluster/merge_ledger.h"

namespace fairlead::sim {

/// What really happened in a simulated cluster, seen from above: the judge of the invariants that no single machine can
/// check. Every violation is kept; a run with one has failed.
class Ledger {
 public:
  // ---- applications
  /// The resource manager said yes to a submission.
  void Acknowledged(const model::ApplicationId& app) { acknowledged_.insert(app); }
  /// A client saw the final state of an application; `complete`: all its work was done.
  void Ended(const model::ApplicationId& app, const std::string& final_status, bool complete);

  // ---- containers
  /// A process of the container began on a host.
  void ProcessStarted(const model::ContainerId& id, const std::string& host, const model::Resources& resources);
  void ProcessEnded(const model::ContainerId& id);
  /// The host and everything on it is gone.
  void HostDied(const std::string& host);
  void SetCapacity(const std::string& host, const model::Resources& capacity) { capacity_[host] = capacity; }
  const model::Resources& capacity(const std::string& host) { return capacity_[host]; }
  /// One life of a master was told of the end of a container: once for each of its registrations at most. A new run of
  /// the resource manager, which wants another one, does not know what the one before had told; whose answers may come
  /// after its end.
  void MasterHeardEnd(const std::string& master_life, int registration, const model::ContainerId& id);

  /// Nothing but changes of the leader befalls the cluster from now on: no order may end what works.
  void OnlyTakeovers() { only_takeovers_ = true; }
  /// A task was ended by an order of its node's agent.
  void TaskKilled(const model::ContainerId& id);
  /// A resource manager acts.
  void Leads(const std::string& manager, base::Instant now) { leader_ = manager, led_ = now; }
  /// A manager sent a call of `asked` elsewhere: somebody must have led since, unless it led itself. Else the caller
  /// goes to the dead one, and sleeps.
  void SentElsewhere(const std::string& manager, const std::string& method, base::Instant asked);

  // ---- stores
  /// A process was started on the machine. True when its store is damaged and it refused to start, as it must: the
  /// store is whole again (a backup), and the start is to be repeated.
  bool RefusedDamage(env_sim::Machine& machine, bool started);

  // ---- tasks
  void TaskDone(const model::ApplicationId& app, int task) { done_[app].insert(task); }
  int tasks_done(const model::ApplicationId& app) const;
  /// A driver let one of its tasks commit; the task commits. Tasks are named by their driver's attempt.
  void MayCommit(const std::string& driver, int64_t task) { may_commit_.insert({driver, task}); }
  void Commits(const std::string& driver, int64_t task);
  /// An attempt of the application computed the right result.
  void ResultRight(const model::ApplicationId& app) { right_.insert(app); }
  bool result_right(const model::ApplicationId& app) const { return right_.contains(app); }

  // ---- merged shuffles
  MergeLedger& merges() { return merges_; }

  void Violation(const std::string& what) { violations_.push_back(what); }
  const std::vector<std::string>& violations() const { return violations_; }
  const std::set<model::ApplicationId>& acknowledged() const { return acknowledged_; }
  bool AllEnded() const { return ended_.size() == acknowledged_.size(); }
  /// Containers whose processes run now.
  size_t running() const { return running_.size(); }

 private:
  struct Running {
    std::string host;
    model::Resources resources;
  };
  std::set<model::ApplicationId> acknowledged_;
  std::map<model::ApplicationId, std::string> ended_;
  std::map<model::ContainerId, Running> running_;
  std::set<model::ContainerId> ever_started_;
  std::map<std::string, model::Resources> capacity_;
  bool only_takeovers_ = false;
  std::string leader_;  // who was the last to lead,
  base::Instant led_;   // and when
  std::map<std::pair<std::string, int>, std::set<model::ContainerId>> heard_;
  std::map<model::ApplicationId, std::set<int>> done_;
  std::set<std::pair<std::string, int64_t>> may_commit_;
  std::set<model::ApplicationId> right_;
  std::vector<std::string> violations_;
  MergeLedger merges_{[this](const std::string& what) { Violation(what); }};
};

}  // namespace fairlead::sim

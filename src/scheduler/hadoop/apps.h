#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/resources.h"
#include "scheduler/hadoop/asks.h"
#include "scheduler/hadoop/blacklist.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/ids.h"

namespace fairlead::scheduler::hadoop {

/// SchedulerApplication.
struct App {
  bool alive = false;
  bool unmanaged = false;
  model::ApplicationId id;
  std::string user;
  std::vector<std::string> groups;
  QueueId queue;
  AttemptId current;  // not valid before the first attempt
  FL_STATE(alive, unmanaged, id, user, groups, queue, current)
};

/// AbstractYarnScheduler.applications: those it knows, by index and by id. O(1).
class Apps {
 public:
  const App& operator[](AppIndex app) const { return apps_[app.value]; }
  uint32_t size() const { return static_cast<uint32_t>(apps_.size()); }
  bool Alive(AppIndex app) const { return app.value < apps_.size() && apps_[app.value].alive; }
  /// Not valid for one that is not alive or has none.
  AttemptId Current(AppIndex app) const { return Alive(app) ? apps_[app.value].current : AttemptId{}; }
  /// Not valid for an unknown one.
  AppIndex Find(const model::ApplicationId& id) const {
    const auto it = ids_.find(id);
    return it == ids_.end() ? AppIndex{} : it->second;
  }

  void Add(AppIndex index, App app);
  /// Its index stays its own; id and current attempt remain to be read.
  void Remove(AppIndex app);
  void SetQueue(AppIndex app, QueueId queue) { apps_[app.value].queue = queue; }
  void SetCurrent(AppIndex app, AttemptId attempt) { apps_[app.value].current = attempt; }
  void Mix(base::StateHasher& hash) const;
  FL_STATE(apps_, ids_)

 private:
  std::vector<App> apps_;  // by AppIndex
  std::unordered_map<model::ApplicationId, AppIndex> ids_;
};

/// The container of an attempt's master.
class Master {
 public:
  Master() = default;
  explicit Master(bool unmanaged) : unmanaged_(unmanaged) {}

  /// The attempt's next container is its master's.
  bool Starts() const { return !running_ && !unmanaged_; }
  bool running() const { return running_; }
  const model::Resources& size() const { return size_; }
  /// It has one; the attempt learns of it (RMAppAttemptImpl) after the scheduler's call has returned.
  void Start(const model::Resources& size) {
    running_ = true;
    size_ = size;
  }
  void SetKnown() { known_ = true; }
  /// Whose blacklist counts now.
  Blacklist::Of BlacklistNow() const { return unmanaged_ || known_ ? Blacklist::Of::kMaster : Blacklist::Of::kSystem; }
  void Mix(base::StateHasher& hash) const;
  FL_STATE(unmanaged_, running_, known_, size_)

 private:
  bool unmanaged_ = false;
  bool running_ = false;
  bool known_ = false;
  model::Resources size_;
};

/// SchedulerApplicationAttempt: what every Hadoop scheduler keeps of an attempt. A profile's attempt adds its own.
struct AppAttempt {
  Blacklist blacklist;
  QueueId queue;
  bool stopped = false;
  Master master;
  Asks asks;
  AppIndex app;
  int32_t number = 0;
  int64_t start_ms = 0;
  model::Resources used;
  Chain live;                             // its containers
  Numbers numbers;                        // of them
  std::vector<NodeIndex> reserved_nodes;  // in order of reservation
  model::Resources reserved;
};

}  // namespace fairlead::scheduler::hadoop

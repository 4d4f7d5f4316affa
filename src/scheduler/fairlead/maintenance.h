#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "model/scheduler.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/config.h"
#include "scheduler/fairlead/outlook.h"

namespace fairlead::scheduler::native {

/// Maintenance windows of nodes: a container starts only where it is expected to end before the next one begins. One
/// whose run time nobody knows is expected to run for MaintenanceConfig::unknown_run.
class Maintenance {
 public:
  explicit Maintenance(const MaintenanceConfig& config) : config_(config) {}

  /// Some node has, or had, a window: run times are learned from then on.
  bool known() const { return known_; }
  void Expect() { known_ = true; }
  bool any() const { return !windows_.empty(); }

  void Set(const model::scheduler::NodeWindows& event);
  void Forget(NodeIndex node) { windows_.erase(node); }
  /// By when they begin; those that have ended may be among them.
  const std::vector<model::scheduler::Window>& Of(NodeIndex node) const;
  /// A container that runs for so long may start there now; kForever: nobody knows how long. O(log nodes + windows).
  bool Allows(NodeIndex node, base::Instant now, base::Duration run) const { return !InTheWay(node, now, run); }
  /// The window that keeps it from the node; null: none does.
  const model::scheduler::Window* InTheWay(NodeIndex node, base::Instant now, base::Duration run) const;
  base::Duration unknown_run() const { return config_.unknown_run; }

  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(known_, windows_)

 private:
  MaintenanceConfig config_;
  bool known_ = false;
  std::map<NodeIndex, std::vector<model::scheduler::Window>> windows_;
};

}  // namespace fairlead::scheduler::native

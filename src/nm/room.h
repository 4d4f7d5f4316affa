#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "model/ids.h"
#include "model/resources.h"

namespace fairlead::nm {

/// Room for processes on this node: its size, which containers hold how much, and the line of those that wait. The
/// resource manager gives a container's room away as soon as it counts it as ended (released, or lost with its node),
/// which may be before its process is gone; so a process starts only when there is room beside those that run, as in
/// Hadoop's ContainerScheduler. Nobody overtakes; a container holds room or waits, never both. O(holders) per question.
class Room {
 public:
  /// Schedulers that count memory alone give away more cores than there are; `all_types`: no such scheduler is used.
  Room(const model::Resources& capacity, bool all_types) : capacity_(capacity), all_types_(all_types) {}

  /// Whether `id` holds room now; otherwise it is the last in line.
  bool Take(const model::ContainerId& id, const model::Resources& wanted);
  /// The first in line, which holds room from now on; nothing while that does not fit.
  std::optional<model::ContainerId> TakeNext();
  /// It runs already, or may: whether it fits or not.
  void Hold(const model::ContainerId& id, const model::Resources& held) { holders_[id] = held; }
  void Resize(const model::ContainerId& id, const model::Resources& size);
  /// It neither holds room nor waits any more.
  void Leave(const model::ContainerId& id);
  bool Holds(const model::ContainerId& id) const { return holders_.contains(id); }

  void SetCapacity(const model::Resources& capacity) { capacity_ = capacity; }
  const model::Resources& capacity() const { return capacity_; }
  void HashInto(base::StateHasher& hasher) const;

 private:
  bool Fits(const model::Resources& wanted) const;

  model::Resources capacity_;
  bool all_types_;
  std::map<model::ContainerId, model::Resources> holders_;
  std::vector<std::pair<model::ContainerId, model::Resources>> line_;  // oldest first
};

}  // namespace fairlead::nm

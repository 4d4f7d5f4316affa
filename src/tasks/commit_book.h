#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/tasks.h"

namespace fairlead::tasks {

/// Which attempt may commit the output of a partition: the first that asks, until it is known to have failed (Spark:
/// OutputCommitCoordinator). Attempts write aside and commit by one atomic step, so a commit that was made by an
/// attempt whose success never arrived is replaced by that of the next.
class CommitBook {
 public:
  bool Ask(model::tasks::StageId stage, int32_t partition, model::tasks::TaskId task) {
    const auto [it, is_new] = holders_.try_emplace({stage, partition}, task);
    return is_new || it->second == task;
  }
  void Failed(model::tasks::StageId stage, int32_t partition, model::tasks::TaskId task) {
    const auto it = holders_.find({stage, partition});
    if (it != holders_.end() && it->second == task) holders_.erase(it);
  }
  /// Forgets stages for which `is_live(stage)` is false.
  template <class Predicate>
  void Prune(Predicate&& is_live) {
    std::erase_if(holders_, [&](const auto& entry) { return !is_live(entry.first.first); });
  }
  const std::map<std::pair<model::tasks::StageId, int32_t>, model::tasks::TaskId>& holders() const { return holders_; }

 private:
  std::map<std::pair<model::tasks::StageId, int32_t>, model::tasks::TaskId> holders_;
};

}  // namespace fairlead::tasks

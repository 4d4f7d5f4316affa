#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/tasks.h"
#include "tasks/hash_order.h"

namespace fairlead::tasks {

/// The graph of datasets: definitions, who is cached where, what a partition prefers. Knows nothing of stages.
class Lineage {
 public:
  /// A partition of a dataset.
  using Place = std::pair<model::tasks::DatasetId, int32_t>;

  struct ShuffleUse {
    model::tasks::DatasetId parent = -1;  // written from
    int32_t reduces = 0;
  };

  /// Checks that the new datasets are well formed (ids new, parents defined, ranges inside, shuffles unique), that the
  /// target is defined and the partitions are distinct and inside; nothing is changed.
  base::Status Check(const model::tasks::SubmitJob& job) const;
  /// Takes the definitions; Check must have passed.
  void Define(std::vector<model::tasks::Dataset> datasets);
  void Forget(model::tasks::DatasetId dataset);
  void ForgetShuffle(model::tasks::ShuffleId shuffle) { shuffles_.erase(shuffle); }

  const model::tasks::Dataset& Get(model::tasks::DatasetId dataset) const { return datasets_.at(dataset).definition; }
  bool Knows(model::tasks::DatasetId dataset) const { return datasets_.contains(dataset); }
  const ShuffleUse* Shuffle(model::tasks::ShuffleId shuffle) const {
    const auto it = shuffles_.find(shuffle);
    return it == shuffles_.end() ? nullptr : &it->second;
  }
  /// Rows or order may differ when a partition is computed again.
  model::tasks::Determinism DeterminismOf(model::tasks::DatasetId dataset) const {
    return datasets_.at(dataset).determinism;
  }

  /// The shuffles that are read directly by the stage of `dataset`, in Spark's order (a hash set of objects without
  /// hash codes of their own).
  IdentityHashSet ShufflesRead(model::tasks::DatasetId dataset) const;

  /// Whether computing `from` may need `wanted`, through dependencies of any kind.
  bool Reaches(model::tasks::DatasetId from, model::tasks::DatasetId wanted) const;

  void SetCached(model::tasks::DatasetId dataset, int32_t partition, model::tasks::ExecutorIndex executor,
                 bool present);
  void DropCached(model::tasks::ExecutorIndex executor);
  /// Every partition is cached somewhere: nothing before it is needed.
  bool FullyCached(model::tasks::DatasetId dataset) const;
  const std::vector<model::tasks::ExecutorIndex>& CachedAt(model::tasks::DatasetId dataset, int32_t partition) const;
  bool HasCached(model::tasks::ExecutorIndex executor) const;
  /// The dataset is known, may be cached, and has such a partition.
  bool IsCachedPartition(model::tasks::DatasetId dataset, int32_t partition) const;
  /// Datasets with a cached partition, ascending.
  std::vector<model::tasks::DatasetId> WithCached() const;

  /// The first partition on the way up narrow dependencies that says where it likes to be: visits `partition` itself,
  /// then its parents depth first. `visit(dataset, partition)` returns true when it has found an answer.
  template <class Visitor>
  void WalkNarrow(model::tasks::DatasetId dataset, int32_t partition, Visitor&& visit) const {
    std::vector<Place> stack{{dataset, partition}};
    Visited visited;
    while (!stack.empty()) {
      const auto [at, part] = stack.back();
      stack.pop_back();
      if (!visited.Add({at, part})) continue;
      if (visit(Get(at), part)) return;
      PushNarrowParents(Get(at), part, stack);
    }
  }

 private:
  /// Places seen in one walk; few as a rule.
  class Visited {
   public:
    /// False when it was there.
    bool Add(Place place) {
      if (!many_.empty()) return many_.insert(place).second;
      if (std::find(few_.begin(), few_.end(), place) != few_.end()) return false;
      few_.push_back(place);
      if (few_.size() > 32) many_.insert(few_.begin(), few_.end());
      return true;
    }

   private:
    std::vector<Place> few_;
    std::set<Place> many_;
  };
  struct Entry {
    model::tasks::Dataset definition;
    model::tasks::Determinism determinism = model::tasks::Determinism::kDeterminate;
    std::vector<std::vector<model::tasks::ExecutorIndex>> cached;  // by partition, once something is
    int32_t cached_partitions = 0;
  };
  static void PushNarrowParents(const model::tasks::Dataset& dataset, int32_t partition, std::vector<Place>& stack);
  model::tasks::Determinism Judge(const model::tasks::Dataset& dataset) const;

  std::map<model::tasks::DatasetId, Entry> datasets_;
  std::map<model::tasks::ShuffleId, ShuffleUse> shuffles_;
};

}  // namespace fairlead::tasks

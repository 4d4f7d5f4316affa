#include "tasks/lineage.h"

#include <algorithm>
#include <set>
#include <string>

namespace fairlead::tasks {

using model::tasks::Dataset;
using model::tasks::DatasetId;
using model::tasks::Dependency;
using model::tasks::Determinism;
using model::tasks::ExecutorIndex;
using model::tasks::ShuffleId;

namespace {

/// More partitions than this are a mistake, not a job.
constexpr int32_t kMaxPartitions = 16'777'216;

std::string Name(const Dataset& dataset) {
  return "dataset " + std::to_string(dataset.id) + (dataset.name.empty() ? "" : " (" + dataset.name + ")");
}

base::Status CheckRange(const Dataset& dataset, const Dependency& dependency, int32_t parents) {
  const auto inside = [&](int32_t start, int32_t total) {
    return start >= 0 && dependency.length >= 0 && int64_t{start} + dependency.length <= total;
  };
  if (!inside(dependency.in_start, parents) || !inside(dependency.out_start, dataset.partitions)) {
    return base::Error{Name(dataset) + ": a range dependency reaches outside of its datasets"};
  }
  return {};
}

base::Status CheckNarrow(const Dataset& dataset, const Dependency& dependency, int32_t parents) {
  if (static_cast<int32_t>(dependency.parents.size()) != dataset.partitions) {
    return base::Error{Name(dataset) + ": a narrow dependency must list parents for every partition"};
  }
  for (const std::vector<int32_t>& list : dependency.parents) {
    for (const int32_t parent : list) {
      if (parent < 0 || parent >= parents) {
        return base::Error{Name(dataset) + ": a narrow dependency names a partition its parent has not"};
      }
    }
  }
  return {};
}

base::Status CheckDependency(const Dataset& dataset, const Dependency& dependency, int32_t parents) {
  switch (dependency.kind) {
    case Dependency::Kind::kOneToOne:
      if (parents == dataset.partitions) return {};
      return base::Error{Name(dataset) + ": a one-to-one dependency needs as many partitions as its parent"};
    case Dependency::Kind::kRange:
      return CheckRange(dataset, dependency, parents);
    case Dependency::Kind::kNarrow:
      return CheckNarrow(dataset, dependency, parents);
    case Dependency::Kind::kShuffle:
      break;
  }
  if (dependency.shuffle >= 0) return {};
  return base::Error{Name(dataset) + ": a shuffle dependency needs a shuffle id"};
}

}  // namespace

base::Status Lineage::Check(const model::tasks::SubmitJob& job) const {
  std::map<DatasetId, int32_t> defined;  // new ones and their partitions
  std::set<ShuffleId> shuffles;
  const auto partitions_of = [&](DatasetId id) {
    if (const auto it = defined.find(id); it != defined.end()) return it->second;
    return Knows(id) ? Get(id).partitions : -1;
  };
  for (const Dataset& dataset : job.datasets) {
    if (dataset.id < 0 || partitions_of(dataset.id) >= 0)
      return base::Error{Name(dataset) + ": id is taken or negative"};
    if (dataset.partitions < 0 || dataset.partitions > kMaxPartitions) {
      return base::Error{Name(dataset) + ": " + std::to_string(dataset.partitions) + " partitions"};
    }
    if (!dataset.preferred.empty() && static_cast<int32_t>(dataset.preferred.size()) != dataset.partitions) {
      return base::Error{Name(dataset) + ": preferred locations must be given for every partition or for none"};
    }
    for (const Dependency& dependency : dataset.dependencies) {
      const int32_t parents = partitions_of(dependency.dataset);
      if (parents < 0)
        return base::Error{Name(dataset) + ": parent " + std::to_string(dependency.dataset) + " is unknown"};
      if (base::Status checked = CheckDependency(dataset, dependency, parents); !checked.ok()) return checked;
      if (dependency.kind != Dependency::Kind::kShuffle) continue;
      if (Shuffle(dependency.shuffle) != nullptr || !shuffles.insert(dependency.shuffle).second) {
        return base::Error{Name(dataset) + ": shuffle " + std::to_string(dependency.shuffle) + " is taken"};
      }
    }
    defined[dataset.id] = dataset.partitions;
  }
  const int32_t partitions = partitions_of(job.target);
  if (partitions < 0) return base::Error{"target dataset " + std::to_string(job.target) + " is unknown"};
  std::vector<bool> seen(static_cast<size_t>(partitions));
  for (const int32_t partition : job.partitions) {
    if (partition < 0 || partition >= partitions) {
      return base::Error{"partition " + std::to_string(partition) + " does not exist: the target has " +
                         std::to_string(partitions)};
    }
    if (seen[static_cast<size_t>(partition)]) return base::Error{"partition " + std::to_string(partition) + " twice"};
    seen[static_cast<size_t>(partition)] = true;
  }
  return {};
}

/// Spark: RDD.getOutputDeterministicLevel.
Determinism Lineage::Judge(const Dataset& dataset) const {
  if (dataset.determinism == Determinism::kIndeterminate) return Determinism::kIndeterminate;
  Determinism worst = Determinism::kDeterminate;
  bool unordered_input = false;
  for (const Dependency& dependency : dataset.dependencies) {
    Determinism level = DeterminismOf(dependency.dataset);
    if (dependency.kind == Dependency::Kind::kShuffle && level != Determinism::kIndeterminate) {
      level = dataset.sorts_input ? Determinism::kDeterminate : Determinism::kUnordered;
    }
    unordered_input = unordered_input || level == Determinism::kUnordered;
    worst = std::max(worst, level);
  }
  if (dataset.order_sensitive && unordered_input) return Determinism::kIndeterminate;
  return std::max(worst, dataset.determinism);
}

void Lineage::Define(std::vector<Dataset> datasets) {
  for (Dataset& dataset : datasets) {
    for (const Dependency& dependency : dataset.dependencies) {
      if (dependency.kind != Dependency::Kind::kShuffle) continue;
      shuffles_[dependency.shuffle] = {.parent = dependency.dataset, .reduces = dataset.partitions};
    }
    Entry entry;
    entry.determinism = Judge(dataset);
    const DatasetId id = dataset.id;
    entry.definition = std::move(dataset);
    datasets_.emplace(id, std::move(entry));
  }
}

void Lineage::Forget(DatasetId dataset) { datasets_.erase(dataset); }

IdentityHashSet Lineage::ShufflesRead(DatasetId dataset) const {
  IdentityHashSet shuffles;
  std::set<DatasetId> visited;
  std::vector<DatasetId> stack{dataset};
  while (!stack.empty()) {
    const DatasetId at = stack.back();
    stack.pop_back();
    if (!visited.insert(at).second) continue;
    for (const Dependency& dependency : Get(at).dependencies) {
      if (dependency.kind == Dependency::Kind::kShuffle) {
        shuffles.Insert(dependency.shuffle);
      } else {
        stack.push_back(dependency.dataset);
      }
    }
  }
  return shuffles;
}

bool Lineage::Reaches(DatasetId from, DatasetId wanted) const {
  std::set<DatasetId> visited;
  std::vector<DatasetId> stack{from};
  while (!stack.empty()) {
    const DatasetId at = stack.back();
    stack.pop_back();
    if (at == wanted) return true;
    if (!visited.insert(at).second) continue;
    for (const Dependency& dependency : Get(at).dependencies) stack.push_back(dependency.dataset);
  }
  return false;
}

bool Lineage::IsCachedPartition(DatasetId dataset, int32_t partition) const {
  const auto it = datasets_.find(dataset);
  return it != datasets_.end() && it->second.definition.cached && partition >= 0 &&
         partition < it->second.definition.partitions;
}

std::vector<DatasetId> Lineage::WithCached() const {
  std::vector<DatasetId> ids;
  for (const auto& [id, entry] : datasets_) {
    if (entry.cached_partitions > 0) ids.push_back(id);
  }
  return ids;
}

void Lineage::SetCached(DatasetId dataset, int32_t partition, ExecutorIndex executor, bool present) {
  if (!IsCachedPartition(dataset, partition)) return;
  Entry& entry = datasets_.at(dataset);
  if (entry.cached.empty()) entry.cached.resize(static_cast<size_t>(entry.definition.partitions));
  std::vector<ExecutorIndex>& places = entry.cached[static_cast<size_t>(partition)];
  const bool before = !places.empty();
  std::erase(places, executor);
  if (present) places.push_back(executor);
  entry.cached_partitions += static_cast<int32_t>(!places.empty()) - static_cast<int32_t>(before);
}

void Lineage::DropCached(ExecutorIndex executor) {
  for (auto& [id, entry] : datasets_) {
    for (std::vector<ExecutorIndex>& places : entry.cached) {
      if (std::erase(places, executor) > 0 && places.empty()) --entry.cached_partitions;
    }
  }
}

bool Lineage::FullyCached(DatasetId dataset) const {
  const Entry& entry = datasets_.at(dataset);
  return entry.cached_partitions == entry.definition.partitions;
}

const std::vector<ExecutorIndex>& Lineage::CachedAt(DatasetId dataset, int32_t partition) const {
  static const std::vector<ExecutorIndex> kNowhere;
  const Entry& entry = datasets_.at(dataset);
  return entry.cached.empty() ? kNowhere : entry.cached[static_cast<size_t>(partition)];
}

bool Lineage::HasCached(ExecutorIndex executor) const {
  for (const auto& [id, entry] : datasets_) {
    for (const std::vector<ExecutorIndex>& places : entry.cached) {
      if (std::find(places.begin(), places.end(), executor) != places.end()) return true;
    }
  }
  return false;
}

/// In reverse, so that the first parent comes off the stack first.
void Lineage::PushNarrowParents(const Dataset& dataset, int32_t partition, std::vector<Place>& stack) {
  for (auto it = dataset.dependencies.rbegin(); it != dataset.dependencies.rend(); ++it) {
    const Dependency& dependency = *it;
    switch (dependency.kind) {
      case Dependency::Kind::kOneToOne:
        stack.push_back({dependency.dataset, partition});
        break;
      case Dependency::Kind::kRange:
        if (partition >= dependency.out_start && partition < dependency.out_start + dependency.length) {
          stack.push_back({dependency.dataset, partition - dependency.out_start + dependency.in_start});
        }
        break;
      case Dependency::Kind::kNarrow: {
        const std::vector<int32_t>& parents = dependency.parents[static_cast<size_t>(partition)];
        for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
          stack.push_back({dependency.dataset, *parent});
        }
        break;
      }
      case Dependency::Kind::kShuffle:
        break;
    }
  }
}

}  // namespace fairlead::tasks

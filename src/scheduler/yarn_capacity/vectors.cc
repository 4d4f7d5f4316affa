#include <cmath>

#include "scheduler/yarn_capacity/capacity.h"

// Queues without legacy-queue-mode: per type first amounts, then percentages of the rest, then weights
// (ResourceCalculationDriver, CapacitySchedulerQueueCapacityHandler).

namespace fairlead::scheduler::yarn_capacity {

using model::CapacityEntry;
using model::CapacityUnit;

namespace {

using Vector = std::vector<double>;  // by type

/// One parent's children, for one update.
class Driver {
 public:
  Driver(Books& books, QueueId parent) : books_(books), parent_(books.queues[parent]) {
    for (const PartitionId label : parent_.settings.labels) {
      const Resources& have = parent_.shares[label].effective_min;
      Vector all(books.calc.types());
      for (size_t type = 0; type < all.size(); ++type) all[type] = static_cast<double>(have[type]);
      remaining_[label] = batch_[label] = all;
      ReadRatios(label);
    }
    SumWeights();
  }

  void Run() {
    for (size_t type = 0; type < books_.calc.types(); ++type) {
      for (const CapacityUnit unit : {CapacityUnit::kAbsolute, CapacityUnit::kPercent, CapacityUnit::kWeight}) {
        std::map<PartitionId, double> used;
        for (const QueueId child : parent_.children) GiveToChild(books_.queues[child], type, unit, used);
        for (const auto& [label, amount] : used) batch_[label][type] -= amount;
      }
    }
  }

  double SumOfWeights(PartitionId label, size_t type) const {
    const auto it = weights_.find(label);
    return it == weights_.end() ? 0 : it->second[type];
  }

 private:
  /// AbsoluteResourceCapacityCalculator.setNormalizedResourceRatio.
  void ReadRatios(PartitionId label) {
    const auto own = parent_.settings.minimum.find(label);
    if (own == parent_.settings.minimum.end() || own->second.empty()) return;
    for (size_t type = 0; type < books_.calc.types(); ++type) {
      int64_t configured = 0;
      for (const QueueId child : parent_.children) {
        const auto of_child = books_.queues[child].settings.minimum.find(label);
        if (of_child == books_.queues[child].settings.minimum.end() || of_child->second.empty()) continue;
        const CapacityEntry& entry = of_child->second[type];
        if (entry.unit == CapacityUnit::kAbsolute) {
          configured = static_cast<int64_t>(static_cast<double>(configured) + entry.value);
        }
      }
      if (configured == 0) continue;
      const int64_t have = parent_.shares[label].effective_min[type];
      auto numerator = static_cast<float>(configured);
      if (have < configured) numerator = static_cast<float>(have);
      Vector& ratios = ratios_.try_emplace(label, Vector(books_.calc.types(), 0)).first->second;
      ratios[type] = static_cast<double>(numerator / static_cast<float>(configured));
    }
  }

  void SumWeights() {
    for (const QueueId child : parent_.children) {
      for (const auto& [label, vector] : books_.queues[child].settings.minimum) {
        for (size_t type = 0; type < vector.size(); ++type) {
          if (vector[type].unit != CapacityUnit::kWeight) continue;
          weights_.try_emplace(label, Vector(books_.calc.types(), 0)).first->second[type] += vector[type].value;
        }
      }
    }
  }

  double Cluster(PartitionId label, size_t type) const {
    return static_cast<double>(books_.partitions.Of(label)[type]);
  }
  double RemainingRatio(PartitionId label, size_t type) const {
    return batch_.at(label)[type] / static_cast<double>(parent_.shares[label].effective_min[type]);
  }
  double ParentShare(PartitionId label, size_t type) const {
    return static_cast<double>(parent_.shares[label].effective_min[type]) / Cluster(label, type);
  }

  double Minimum(PartitionId label, size_t type, const CapacityEntry& entry) const {
    if (entry.unit == CapacityUnit::kAbsolute) {
      const auto ratios = ratios_.find(label);
      const double ratio = ratios == ratios_.end() ? 1.0 : ratios->second[type];
      return ratio * RemainingRatio(label, type) * entry.value;
    }
    if (entry.unit == CapacityUnit::kPercent) {
      const double share = ParentShare(label, type) * RemainingRatio(label, type) * entry.value / 100;
      return Cluster(label, type) * share;
    }
    const double weight = entry.value / SumOfWeights(label, type);
    if (weight == 1) return batch_.at(label)[type];
    const double share = ParentShare(label, type) * RemainingRatio(label, type) * weight;
    return Cluster(label, type) * share;
  }

  double Maximum(PartitionId label, size_t type, const CapacityEntry& entry) const {
    if (entry.unit != CapacityUnit::kPercent) return entry.value;
    const double above = static_cast<double>(parent_.shares[label].effective_max[type]) / Cluster(label, type);
    return Cluster(label, type) * (above * entry.value / 100);
  }

  /// DefaultQueueResourceRoundingStrategy.
  static double Rounded(double value, CapacityUnit unit) {
    return unit == CapacityUnit::kWeight ? static_cast<double>(hadoop::java::Round(value)) : std::floor(value);
  }

  /// ResourceCalculationDriver.calculateResourceOnChild, setChildResources, validateCalculatedResources.
  void GiveToChild(Queue& child, size_t type, CapacityUnit unit, std::map<PartitionId, double>& used) {
    for (const PartitionId label : child.settings.labels) {
      const std::vector<CapacityEntry>& least = child.settings.minimum.at(label);
      if (least.empty() || least[type].unit != unit || !remaining_.contains(label)) continue;
      const CapacityEntry& most = child.settings.maximum.at(label)[type];
      double minimum = Rounded(Minimum(label, type, least[type]), unit);
      double maximum = Rounded(Maximum(label, type, most), most.unit);
      Share& share = child.shares.Of(label);
      if (type != 0 && share.effective_min[0] == 0) minimum = 0;
      const auto above = static_cast<double>(parent_.shares[label].effective_max[type]);
      maximum = maximum == 0 ? above : maximum != maximum ? maximum : std::min(maximum, above);
      if (maximum < minimum) minimum = maximum;
      if (minimum > remaining_[label][type]) minimum = remaining_[label][type];
      share.effective_min[type] = hadoop::java::ToLong(minimum);
      share.effective_max[type] = hadoop::java::ToLong(maximum);
      remaining_[label][type] -= minimum;
      used[label] += minimum;
    }
  }

  Books& books_;
  const Queue& parent_;
  std::map<PartitionId, Vector> remaining_;
  std::map<PartitionId, Vector> batch_;
  std::map<PartitionId, Vector> ratios_;
  std::map<PartitionId, Vector> weights_;
};

/// CapacitySchedulerQueueCapacityHandler.setQueueCapacities.
void DeriveShares(Books& books, Queue& queue, PartitionId label) {
  const Share& above = books.queues[queue.parent].shares[label];
  const Resources& total = books.partitions.Of(label);
  Share& share = queue.shares.Of(label);
  const auto finite = [](float x) { return std::isinf(x) ? 0.0F : x; };
  share.capacity = finite(books.calc.Divide(total, share.effective_min, above.effective_min));
  share.maximum = finite(books.calc.Divide(total, share.effective_max, above.effective_max));
  UpdateAbsoluteShares(books, queue);
}

/// The calculators' updateCapacitiesAfterCalculation: what a scheduler does that believes in legacy mode, as it read
/// the key at its start.
void UpdateSharesByUnit(Books& books, const Driver& driver, Queue& queue, PartitionId label) {
  const std::vector<CapacityEntry>& vector = queue.settings.minimum.at(label);
  std::set<CapacityUnit> units;
  for (const CapacityEntry& entry : vector) units.insert(entry.unit);
  for (const CapacityUnit unit : units) {
    if (unit == CapacityUnit::kAbsolute) {
      DeriveShares(books, queue, label);
    } else if (unit == CapacityUnit::kPercent) {
      UpdateAbsoluteShares(books, queue);
    } else {
      double sum = 0;
      double count = 0;
      for (size_t type = 0; type < vector.size(); ++type) {
        if (vector[type].unit != CapacityUnit::kWeight) continue;
        sum += vector[type].value / driver.SumOfWeights(label, type);
        ++count;
      }
      queue.shares.Of(label).normalized_weight = static_cast<float>(sum / count);
      UpdateAbsoluteShares(books, queue);
    }
  }
}

}  // namespace

void UpdateRootByVectors(Books& books) {
  Queue& root = books.queues[books.queues.root()];
  for (const PartitionId label : root.settings.labels) {
    Share& share = root.shares.Of(label);
    share.effective_min = share.effective_max = books.partitions.Of(label);
    share.absolute = 1;
    if (share.weight == 1.0F) share.normalized_weight = 1;
  }
  UpdateUsedShares(books, root);
}

void UpdateChildrenByVectors(Books& books, QueueId id, Resources limit) {
  if (!id.valid() || books.queues[id].children.empty()) return;
  Driver driver(books, id);
  driver.Run();
  const std::vector<QueueId> children = books.queues[id].children;
  for (const QueueId child : children) {
    Queue& queue = books.queues[child];
    for (const PartitionId label : queue.settings.labels) {
      if (books.legacy_at_start) {
        UpdateSharesByUnit(books, driver, queue, label);
      } else {
        DeriveShares(books, queue, label);
      }
    }
    const Resources of_child = LimitOfChild(books, books.queues[id], queue, limit);
    if (queue.leaf) {
      bool some = false;
      for (const int64_t amount : books.cluster().amount) some |= amount > 0;
      RefreshLeaf(books, child, of_child, some);
    } else {
      UpdateUsedShares(books, queue);
      UpdateChildrenByVectors(books, child, of_child);
    }
  }
}

}  // namespace fairlead::scheduler::yarn_capacity

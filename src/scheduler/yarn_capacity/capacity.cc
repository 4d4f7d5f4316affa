#include "scheduler/yarn_capacity/capacity.h"

#include <cmath>

#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/managed.h"

namespace fairlead::scheduler::yarn_capacity {

static void UpdateLegacy(Books& books, QueueId id, Resources limit);

/// What each child has, in the words of AbstractParentQueue.getCapacityConfigurationTypeForQueues.
static std::string ModesOf(const Books& books, const Queue& parent, const std::vector<QueueId>& queues) {
  std::string text;
  bool percent = false;  // once set it stays for the queues that follow, as there
  for (const QueueId id : queues) {
    const Queue& queue = books.queues[id];
    for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
      if (!parent.shares.Exists(label)) continue;
      const auto tell = [&](const char* mode) {
        text += "{Queue=" + queue.path + ", label=" + books.partitions.Name(label) + " uses " + mode + " mode}. ";
      };
      percent |= queue.shares.capacity(label) > 0;
      if (queue.shares[label].weight >= 0) tell("weight");
      if (!queue.shares[label].configured_min.IsZero()) {
        percent = false;
        tell("absolute");
      }
      if (percent) tell("percentage");
    }
  }
  return text;
}

CapacityProblem ReadMode(const Books& books, const Queue& parent, const std::vector<QueueId>& queues, ChildrenBy& by) {
  bool percent = false;
  bool weight = false;
  bool absolute = false;
  for (const QueueId id : queues) {
    const Queue& queue = books.queues[id];
    for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
      if (!parent.shares.Exists(label)) continue;
      if (queue.shares.capacity(label) > 0) percent = true;
      if (queue.shares[label].weight >= 0) weight = true;
      if (!queue.shares[label].configured_min.IsZero()) {
        absolute = true;
        percent = false;
      }
    }
  }
  if (!queues.empty() && books.queues[queues.front()].parent.valid() &&
      int{percent} + int{weight} + int{absolute} > 1) {
    return {CapacityFault::kIo, "Parent queue '" + parent.path +
                                    "' have children queue used mixed of  weight mode, percentage and absolute mode, "
                                    "it is not allowed, please double check, details:" +
                                    ModesOf(books, parent, queues)};
  }
  by = weight || queues.empty() ? ChildrenBy::kWeight : absolute ? ChildrenBy::kAbsolute : ChildrenBy::kPercent;
  return {};
}

void UpdateCluster(Books& books) { UpdateQueue(books, books.queues.root()); }

void UpdateQueue(Books& books, QueueId id) {
  books.orders.Forget();
  if (books.file.legacy_queue_mode) return UpdateLegacy(books, id, books.cluster());
  if (!books.queues[id].parent.valid()) {
    UpdateRootByVectors(books);
    UpdateChildrenByVectors(books, id, books.cluster());
  } else {
    UpdateChildrenByVectors(books, books.queues[id].parent, books.cluster());
  }
}

Resources LimitOfChild(const Books& books, const Queue& parent, const Queue& child, Resources& limit) {
  CutToParent(books, parent, kNoLabel, limit);
  return RoomOfChild(books, parent, child, kNoLabel, limit);
}

void CutToParent(const Books& books, const Queue& parent, PartitionId partition, Resources& limit) {
  if (books.config.quirks.child_limits_by_own_maximum) return;
  limit = books.calc.Min(books.cluster(), limit, parent.shares[partition].effective_max);
}

Resources RoomOfChild(const Books& books, const Queue& parent, const Queue& child, PartitionId partition,
                      const Resources& limit) {
  Resources room = limit - parent.usage.used(partition) + books.killable.TotalOfQueue(parent.path, partition) +
                   child.usage.used(partition);
  if (books.config.quirks.child_limits_by_own_maximum) {
    const Resources most = books.calc.RoundDown(child.shares[partition].effective_max, books.minimum());
    room = books.calc.Min(books.cluster(), room, most);
  }
  return books.calc.RoundDown(room, books.minimum());
}

/// Normalized weights of children that have weights (AbstractParentQueue.updateClusterResourceLegacyMode).
static void NormalizeWeights(Books& books, Queue& parent) {
  if (IsManaged(books, parent)) return;
  for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
    if (!parent.shares.Exists(label)) continue;
    for (const QueueId child : parent.children) {
      Queue& queue = books.queues[child];
      if (queue.dynamic && queue.shares[label].weight == -1.0F) queue.shares.Of(label).weight = 1;
    }
  }
  ChildrenBy by{};
  if (ReadMode(books, parent, parent.children, by) || by != ChildrenBy::kWeight) return;
  for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
    if (!parent.shares.Exists(label)) continue;
    float sum = 0;
    for (const QueueId child : parent.children) {
      const Shares& shares = books.queues[child].shares;
      if (shares.Exists(label)) sum += std::max(0.0F, shares[label].weight);
    }
    if (std::fabs(sum) <= 1e-6) continue;
    for (const QueueId child : parent.children) {
      Shares& shares = books.queues[child].shares;
      if (shares.Exists(label)) shares.Of(label).normalized_weight = shares[label].weight / sum;
    }
  }
}

/// AbstractParentQueue.recalculateEffectiveMinRatio.
static void UpdateMinRatio(Books& books, Queue& parent, PartitionId label) {
  Resources configured;
  for (const QueueId child : parent.children) configured += books.queues[child].shares[label].configured_min;
  const Resources& total = books.partitions.Of(label);
  const Resources& have = parent.parent.valid() ? parent.shares[label].effective_min : total;
  std::vector<float>& ratio = parent.min_ratio[label];
  ratio.assign(books.calc.types(), 0);
  const bool short_of = books.calc.Less(books.cluster(), have, configured);
  if (!short_of || (!parent.parent.valid() && total.IsZero())) return;
  for (size_t type = 0; type < books.calc.types(); ++type) {
    // A ratio of 0 is kept as the smallest number that is none: amounts become 0 all the same.
    if (configured[type] == 0) continue;
    ratio[type] = static_cast<float>(have[type]) / static_cast<float>(configured[type]);
    if (ratio[type] == 0) ratio[type] = std::numeric_limits<float>::denorm_min();
  }
}

/// AbstractCSQueue.createNormalizedMinResource.
static Resources Shrunk(const Resources& amount, const std::vector<float>& ratio) {
  Resources shrunk = amount;
  for (size_t type = 0; type < ratio.size(); ++type) {
    if (ratio[type] != 0) {
      shrunk[type] = hadoop::java::ToLong(static_cast<double>(static_cast<float>(amount[type]) * ratio[type]));
    }
  }
  return shrunk;
}

/// AbstractCSQueue.deriveCapacityFromAbsoluteConfigurations.
static void DeriveShares(Books& books, Queue& queue, PartitionId label) {
  const Queue& parent = books.queues[queue.parent];
  Share& share = queue.shares.Of(label);
  const Share& above = parent.shares[label];
  const bool any = books.config.quirks.shares_may_be_infinite;
  const auto finite = [any](float x) { return std::isinf(x) && !any ? 0.0F : x; };
  share.capacity = finite(books.calc.Divide(books.cluster(), share.effective_min, above.effective_min));
  share.maximum = finite(books.calc.Divide(books.cluster(), share.effective_max, above.effective_max));
  share.absolute = share.capacity * parent.shares.absolute(label);
  share.absolute_maximum = share.maximum * above.absolute_maximum;
}

static void UpdateEffectiveOf(Books& books, Queue& queue, PartitionId label) {
  const Resources& total = books.partitions.Of(label);
  if (!queue.settings.absolute) {
    Share& share = queue.shares.Of(label);
    share.effective_min = hadoop::MultiplyDown(total, static_cast<double>(queue.shares.absolute(label)));
    share.effective_max = hadoop::MultiplyDown(total, static_cast<double>(share.absolute_maximum));
    return;
  }
  Share& share = queue.shares.Of(label);
  const Queue& parent = books.queues[queue.parent];
  const auto ratio = parent.min_ratio.find(label);
  share.effective_min =
      ratio == parent.min_ratio.end() ? share.configured_min : Shrunk(share.configured_min, ratio->second);
  const Share& above = parent.shares[label];
  const Resources& most = above.configured_max.IsZero() ? above.effective_max : above.configured_max;
  share.effective_max = share.configured_max.IsZero() ? most : books.calc.Min(total, share.configured_max, most);
  DeriveShares(books, queue, label);
}

/// AbstractCSQueue.updateEffectiveResources.
static void UpdateEffective(Books& books, Queue& queue) {
  for (const PartitionId label : queue.settings.labels) UpdateEffectiveOf(books, queue, label);
}

/// In Java's order; the default one was added last.
static std::vector<PartitionId> LabelsInOrder(const Books& books, const Queue& queue) {
  std::vector<PartitionId> labels;
  for (const PartitionId label : queue.settings.labels) {
    if (label != kNoLabel) labels.push_back(label);
  }
  labels.push_back(kNoLabel);
  return InHashOrder(books, labels);
}

/// ParentQueue.calculateEffectiveResourcesAndCapacity: shares of percentages stay what they were when keys were read.
static void UpdateByParent(Books& books, Queue& parent) {
  const bool root = !parent.parent.valid();
  for (const PartitionId label : LabelsInOrder(books, parent)) {
    if (root) {
      Share& share = parent.shares.Of(label);
      share.effective_min = share.effective_max = books.partitions.Of(label);
      share.absolute = 1;
    }
    UpdateMinRatio(books, parent, label);
    for (const QueueId id : parent.children) {
      Queue& child = books.queues[id];
      if (!child.settings.absolute && !child.shares.Exists(label)) continue;
      UpdateEffectiveOf(books, child, label);
      if (child.leaf && child.settings.absolute) SetMaximumApplications(books, child, label, true);
    }
  }
}

/// AbstractParentQueue.updateClusterResourceLegacyMode up to the children.
static void UpdateSelf(Books& books, Queue& parent) {
  const bool root = !parent.parent.valid();
  for (PartitionId label{0}; root && label.value < parent.shares.partitions(); ++label.value) {
    if (parent.shares[label].weight > 0) parent.shares.Of(label).normalized_weight = 1;
  }
  UpdateAbsoluteShares(books, parent);
  NormalizeWeights(books, parent);
  for (const PartitionId label : parent.settings.labels) {
    if (root) {
      parent.shares.Of(label).effective_min = parent.shares.Of(label).effective_max = books.partitions.Of(label);
    } else {
      UpdateEffective(books, parent);
    }
    UpdateMinRatio(books, parent, label);
  }
}

static void UpdateParentLegacy(Books& books, QueueId id, Resources limit) {
  if (books.config.quirks.amounts_by_parent) {
    UpdateByParent(books, books.queues[id]);
  } else {
    UpdateSelf(books, books.queues[id]);
  }
  const std::vector<QueueId> children = books.queues[id].children;
  for (const QueueId child : children) {
    const Resources of_child = LimitOfChild(books, books.queues[id], books.queues[child], limit);
    UpdateLegacy(books, child, of_child);
  }
  UpdateUsedShares(books, books.queues[id]);
}

void UpdateLegacy(Books& books, QueueId id, Resources limit) {
  Queue& queue = books.queues[id];
  if (!queue.leaf) return UpdateParentLegacy(books, id, limit);
  queue.own.last_cluster = books.cluster();
  if (!books.config.quirks.amounts_by_parent) {
    UpdateAbsoluteShares(books, queue);
    UpdateEffective(books, queue);
  }
  RefreshLeaf(books, id, limit, true);
}

/// What one user may have of them.
static void SetMaximumPerUser(const Books& books, Leaf& leaf) {
  leaf.max_apps_per_user = leaf.max_apps;
  const float factor = leaf.users.factor();
  if (factor == -1.0F && !books.config.quirks.factor_may_be_negative) return;
  const float per_user = static_cast<float>(leaf.max_apps) * (leaf.users.percent() / 100.0F) * factor;
  leaf.max_apps_per_user = std::min(leaf.max_apps, hadoop::java::ToInt(static_cast<double>(per_user)));
}

void SetMaximumApplications(const Books& books, Queue& leaf, PartitionId partition, bool of_amounts) {
  if (!books.config.quirks.maximum_applications_at_setup) return;
  const int32_t global = books.file.global_queue_max_application;
  int32_t most = KeysOf(books, leaf).maximum_applications.value_or(-1);
  if (most < 0 && global > 0 && !of_amounts) most = global;
  if (most < 0) {
    const int32_t all = global > 0 ? global : books.file.maximum_applications;
    const float of_partition = static_cast<float>(all) * leaf.shares.absolute(partition);
    most = hadoop::java::ToInt(static_cast<double>(of_partition));
  }
  leaf.own.max_apps = most;
  SetMaximumPerUser(books, leaf.own);
}

/// AbstractLeafQueue.updateMaximumApplications.
static void UpdateMaximumApplications(Books& books, Queue& queue, bool sizes_known) {
  if (books.config.quirks.maximum_applications_at_setup) return;
  const model::CapacityQueues& file = books.file;
  const model::CapacityQueueSettings keys = KeysOf(books, queue);
  int32_t most = keys.maximum_applications.value_or(-1);
  const int32_t base = file.global_queue_max_application > 0
                           ? std::min(file.global_queue_max_application, file.maximum_applications)
                           : file.maximum_applications;
  if (most < 0) {
    if (!sizes_known || (file.global_queue_max_application > 0 && !queue.settings.absolute)) {
      most = base;
    } else {
      for (const PartitionId label : queue.settings.labels) {
        const float of_label = static_cast<float>(base) * queue.shares.absolute(label);
        most = std::max(most, hadoop::java::ToInt(static_cast<double>(of_label)));
      }
    }
  }
  queue.own.max_apps = most;
  SetMaximumPerUser(books, queue.own);
}

void RefreshLeaf(Books& books, QueueId id, const Resources& limit, bool sizes_known) {
  Queue& queue = books.queues[id];
  Leaf& leaf = queue.own;
  leaf.last_cluster = books.cluster();
  UpdateMaximumApplications(books, queue, sizes_known);
  SetPassLimit(books, queue, limit);
  leaf.headroom_limit = leaf.pass_limit;
  const uint32_t end = std::max(queue.shares.partitions(), queue.usage.partitions());
  for (PartitionId label{0}; label.value < end; ++label.value) {
    if (queue.shares.Exists(label) || queue.usage.Exists(label)) {
      leaf.users.UpdateRatios(label, books.partitions.Of(label), books.calc);
    }
  }
  UpdateUsedShares(books, queue);
  Activate(books, id);
  leaf.users.Outdate();
  for (const AttemptId attempt : leaf.active.InOrder())
    UserLimit(books, id, attempt, kNoLabel, Mode::kRespect, nullptr);
}

}  // namespace fairlead::scheduler::yarn_capacity

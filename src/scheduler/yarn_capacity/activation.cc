#include "scheduler/yarn_capacity/activation.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/setup.h"

namespace fairlead::scheduler::yarn_capacity {

void SetPassLimit(Books& books, Queue& leaf, const Resources& limit) {
  const Resources most = books.calc.RoundDown(leaf.shares[kNoLabel].effective_max, books.minimum());
  leaf.own.pass_limit = books.calc.Min(books.cluster(), most, limit);
}

std::vector<PartitionId> InHashOrder(const Books& books, const std::vector<PartitionId>& added) {
  std::vector<int32_t> hashes;
  hashes.reserve(added.size());
  for (const PartitionId label : added) hashes.push_back(hadoop::java::HashOfString(books.partitions.Name(label)));
  std::vector<PartitionId> order;
  order.reserve(added.size());
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(added.size()))) {
    order.push_back(added[i]);
  }
  return order;
}

std::set<PartitionId> LabelsOf(const Queue& queue) {
  std::set<PartitionId> labels = queue.settings.accessible;
  if (queue.settings.any_label) {
    labels.clear();
    const uint32_t end = std::max(queue.shares.partitions(), queue.usage.partitions());
    for (PartitionId id{0}; id.value < end; ++id.value) {
      if (queue.shares.Exists(id) || queue.usage.Exists(id)) labels.insert(id);
    }
  }
  labels.insert(kNoLabel);
  return labels;
}

Resources UpdateMasterLimit(Books& books, Queue& leaf, PartitionId partition) {
  const Share& share = leaf.shares[partition];
  const Resources reachable = partition == kNoLabel ? leaf.own.headroom_limit : Resources{};
  const Resources& base = books.calc.FitsIn(share.effective_min, reachable) ? reachable : share.effective_min;
  const Resources limit = books.calc.MultiplyUp(base, static_cast<double>(share.master_percent), books.minimum());
  leaf.usage.SetMasterLimit(partition, limit);
  return limit;
}

Resources UserMasterLimit(const Books& books, const Queue& leaf, PartitionId partition, const std::string& user_name) {
  const Users& users = leaf.own.users;
  const User* user = users.Find(user_name);
  const float weight = user == nullptr ? 1.0F : user->weight;
  float part = std::max(users.percent() / 100.0F, 1.0F / static_cast<float>(std::max(users.active(), 1)));
  part = std::min(part * weight, 1.0F);
  const Share& share = leaf.shares[partition];
  float of_minimum = share.master_percent * part * users.factor();
  if (users.factor() == -1.0F && !books.config.quirks.factor_may_be_negative) of_minimum = share.master_percent;
  const Resources limit = books.calc.MultiplyUp(share.effective_min, static_cast<double>(of_minimum), books.minimum());
  return books.calc.Min(leaf.own.last_cluster, limit, leaf.usage.master_limit(partition));
}

/// A master that is too large may start all the same where nothing runs.
static bool MayStart(const Books& books, const Queue& leaf, PartitionId partition, const Resources& used,
                     const Resources& limit) {
  return books.calc.FitsIn(used, limit) || leaf.own.active.size() < 1 ||
         books.calc.AtMost(leaf.own.last_cluster, leaf.usage.masters(partition), {});
}

void Activate(Books& books, QueueId id) {
  Queue& leaf = books.queues[id];
  std::map<PartitionId, Resources> user_limits;  // that of the first user met, for all of this walk
  for (const PartitionId label : LabelsOf(leaf)) UpdateMasterLimit(books, leaf, label);
  for (const AttemptId attempt_id : leaf.own.pending.InOrder()) {
    const Attempt& attempt = books.attempts[attempt_id];
    const PartitionId partition = attempt.master_partition;
    const Resources& size = attempt.usage.masters(partition);
    const Resources with_it = size + leaf.usage.masters(partition);
    if (!MayStart(books, leaf, partition, with_it, leaf.usage.master_limit(partition))) continue;
    User& user = leaf.own.users.Make(attempt.user);
    auto limit = user_limits.find(partition);
    if (limit == user_limits.end()) {
      limit = user_limits.emplace(partition, UserMasterLimit(books, leaf, partition, attempt.user)).first;
    }
    if (!MayStart(books, leaf, partition, size + user.usage.masters(partition), limit->second)) continue;
    --user.pending_apps;
    ++user.active_apps;
    leaf.own.active.Add(attempt_id, RankOf(books, attempt_id));
    leaf.usage.AddMasters(partition, size);
    user.usage.AddMasters(partition, size);
    leaf.own.pending.Remove(attempt_id);
  }
}

Resources UserLimit(Books& books, QueueId leaf_id, AttemptId id, PartitionId partition, Mode mode,
                    const Resources* known) {
  Attempt& attempt = books.attempts[id];
  Queue& leaf = books.queues[leaf_id];
  User* user = leaf.own.users.Find(attempt.user);
  if (user == nullptr) return {};
  const Resources limit =
      known != nullptr ? *known : leaf.own.users.LimitForActive(user, partition, mode, books.BasisOf(leaf));
  leaf.own.headroom_limit = leaf.own.pass_limit;
  attempt.headroom_of = leaf_id;
  attempt.headroom_user = user->born;
  return limit;
}

/// AbstractComparatorOrderingPolicy.reorderScheduleEntities.
void RefreshOrder(Books& books, Queue& leaf) {
  leaf.own.active.Refresh([&](AttemptId id) {
    Attempt& attempt = books.attempts[id];
    attempt.cached_used = attempt.usage.used_memory();
    attempt.cached_pending = attempt.usage.pending_memory();
    return RankOf(books, id);
  });
}

/// AbstractLeafQueue.getHeadroom.
static Resources HeadroomIn(Books& books, Queue& leaf, const Attempt& attempt, PartitionId partition) {
  Resources of_user = leaf.own.users.LimitForActive(attempt.user, partition, Mode::kRespect, books.BasisOf(leaf));
  const User* user = leaf.own.users.Find(attempt.user);
  const bool known = user != nullptr && user->born == attempt.headroom_user;
  hadoop::SubtractNonNegative(of_user, (known ? user->usage : attempt.headroom_usage).used(partition));
  Resources of_queue = partition == kNoLabel ? leaf.own.headroom_limit : leaf.shares[partition].effective_max;
  hadoop::SubtractNonNegative(of_queue, leaf.usage.used(partition));
  const Resources headroom = books.calc.RoundDown(hadoop::ComponentwiseMin(of_user, of_queue), books.minimum());
  const Resources& total = books.partitions.Of(partition);
  const Resources free = total - books.queues[books.queues.root()].usage.used(partition);
  return books.calc.Min(total, free, headroom);
}

Resources Headroom(Books& books, AttemptId id) {
  const Attempt& attempt = books.attempts[id];
  if (!books.queues.Has(attempt.headroom_of)) return {};
  Queue& leaf = books.queues[attempt.headroom_of];
  Resources headroom;
  const std::set<PartitionId>& asked = attempt.requested_partitions;
  if (asked.empty() || (asked.size() == 1 && *asked.begin() == kNoLabel)) {
    headroom = HeadroomIn(books, leaf, attempt, kNoLabel);
  } else {
    // The last one decides which limit the user is seen to have.
    for (const PartitionId partition : InHashOrder(books, {asked.begin(), asked.end()})) {
      headroom += HeadroomIn(books, leaf, attempt, partition);
    }
  }
  headroom[0] = std::max<int64_t>(headroom[0], 0);
  return headroom;
}

}  // namespace fairlead::scheduler::yarn_capacity

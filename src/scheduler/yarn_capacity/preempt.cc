#include "scheduler/yarn_capacity/preempt.h"

#include <algorithm>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/preempt_round.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;

void PreemptRoundState::AddUnderserved(const PreemptQueue& queue) {
  std::vector<QueueId>& list = underserved[queue.partition];
  if (std::find(list.begin(), list.end(), queue.queue) == list.end()) list.push_back(queue.queue);
}

bool PreemptRoundState::KnowsUser(Queue& leaf, const std::string& user) {
  if (leaf.own.users.Find(user) != nullptr) return true;
  if (books.config.quirks.forgotten_users_fail_rounds) {
    if (failure.empty()) {
      failure = std::string(kNobodyThere) + leaf.path + " has an application of " + user + ", whom it has forgotten";
    }
    return false;
  }
  leaf.own.users.Make(user);
  return true;
}

void PreemptRoundState::Select(ContainerSlot slot, Selection& current) {
  selected.Add(books.containers[slot], slot);
  current.Add(books.containers[slot], slot);
}

void Selection::Add(const Container& container, ContainerSlot slot) {
  if (!ids_.insert(container.id).second) return;
  const auto [number, is_new] = numbers_.try_emplace(container.attempt, groups_.size());
  if (is_new) {
    groups_.emplace_back();
    hashes_.push_back(hadoop::HashOf(container.id.attempt));
  }
  Group& group = groups_[number->second];
  group.ids.push_back(container.id);
  group.slots.push_back(slot);
  group.hashes.push_back(container.JavaHash());
}

std::vector<ContainerSlot> Selection::Of(AttemptId attempt) const {
  const auto number = numbers_.find(attempt);
  return number == numbers_.end() ? std::vector<ContainerSlot>{} : groups_[number->second].slots;
}

std::vector<std::pair<model::ContainerId, ContainerSlot>> Selection::InOrder() const {
  std::vector<std::pair<model::ContainerId, ContainerSlot>> order;
  for (const uint32_t i : hadoop::java::HashOrder(hashes_, hadoop::java::HashCapacity(hashes_.size()))) {
    const Group& group = groups_[i];
    for (const uint32_t j : hadoop::java::HashOrder(group.hashes, hadoop::java::HashCapacity(group.hashes.size()))) {
      order.emplace_back(group.ids[j], group.slots[j]);
    }
  }
  return order;
}

namespace {

/// The order of a HashSet of strings to which they were added one by one.
std::vector<std::string> InHashOrder(const std::vector<std::string>& names) {
  std::vector<int32_t> hashes;
  for (const std::string& name : names) hashes.push_back(hadoop::java::HashOfString(name));
  std::vector<std::string> sorted;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(names.size()))) {
    sorted.push_back(names[i]);
  }
  return sorted;
}

std::vector<PartitionId> PartitionsInOrder(Books& books) {
  std::vector<std::string> names;
  for (uint32_t i = 1; i < books.partitions.size(); ++i) {
    if (books.partitions.Known({i})) names.push_back(books.partitions.Name({i}));
  }
  names.push_back("");
  std::vector<PartitionId> partitions;
  for (const std::string& name : InHashOrder(names)) partitions.push_back(books.partitions.Intern(name));
  return partitions;
}

std::vector<std::string> LeavesInOrder(const Books& books, QueueId id) {
  const Queue& queue = books.queues[id];
  if (queue.leaf) return {queue.path};
  std::vector<std::string> names;
  for (const QueueId child : queue.children) {
    for (std::string& name : LeavesInOrder(books, child)) names.push_back(std::move(name));
  }
  return InHashOrder(names);
}

/// getTotalPendingResourcesConsideringUserLimit.
Resources PendingWithinLimits(PreemptRoundState& round, Queue& leaf, PartitionId partition, bool without_reserved) {
  Books& books = round.books;
  std::map<std::string, Resources> headroom;
  Resources total;
  leaf.own.active.ForEach([&](AttemptId id) {
    if (!round.failure.empty()) return;
    const Attempt& attempt = books.attempts[id];
    const auto [room, is_new] = headroom.try_emplace(attempt.user);
    if (is_new) {
      Users& users = leaf.own.users;
      if (!round.KnowsUser(leaf, attempt.user)) return;
      const Resources limit = users.LimitForActive(attempt.user, partition, Mode::kRespect, books.BasisOf(leaf));
      room->second = hadoop::ComponentwiseMax(limit - users.Find(attempt.user)->usage.used(partition), {});
    }
    Resources pending = attempt.usage.pending(partition);
    if (without_reserved) pending -= attempt.usage.reserved(partition);
    const Resources counted = hadoop::ComponentwiseMin(room->second, hadoop::ComponentwiseMax(pending, {}));
    total += counted;
    room->second -= counted;
  });
  return total;
}

Resources Part(const Resources& whole, float share) {
  Resources part;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    part[type] = hadoop::java::ToLong(static_cast<double>(whole[type]) * static_cast<double>(share));
  }
  return part;
}

size_t CloneQueue(PreemptRoundState& round, QueueId id, PartitionId partition) {
  Books& books = round.books;
  Queue& queue = books.queues[id];
  PreemptQueue clone;
  clone.queue = id;
  clone.partition = partition;
  clone.leaf = queue.leaf;
  clone.disabled = queue.settings.preemption_disabled;
  clone.whole = books.partitions.Of(partition);
  clone.absolute = queue.shares.absolute(partition);
  const Share& share = queue.shares[partition];
  const float maximum = books.partitions.Exclusive(partition) ? share.absolute_maximum : 1.0F;
  clone.guaranteed = share.effective_min != Resources{} ? share.effective_min : Part(clone.whole, clone.absolute);
  clone.maximum = share.effective_max != Resources{} ? share.effective_max : Part(clone.whole, maximum);
  clone.used = queue.usage.used(partition);
  if (books.file.preemption.lazy) clone.killable = books.killable.TotalOfQueue(queue.path, partition);
  clone.normalized.assign(books.calc.types(), 0);
  if (queue.leaf && round.failure.empty()) {
    clone.pending = PendingWithinLimits(round, queue, partition, false);
    clone.pending_without_reserved = PendingWithinLimits(round, queue, partition, true);
  }
  for (const QueueId child : queue.children) {
    const size_t below = CloneQueue(round, child, partition);
    if (queue.settings.by_priority) round.queues[below].priority = books.queues[child].settings.priority;
    clone.children.push_back(below);
    clone.pending += round.queues[below].pending;
    clone.pending_without_reserved += round.queues[below].pending_without_reserved;
  }
  round.index[{id, partition}] = round.queues.size();
  round.queues.push_back(std::move(clone));
  return round.queues.size() - 1;
}

std::vector<Selected> RunSelectors(PreemptRoundState& round) {
  const model::CapacityPreemption& keys = round.books.file.preemption;
  std::vector<Selected> all;
  const auto run = [&](int64_t wait_ms, const auto& select) {
    if (!round.failure.empty()) return;
    all.push_back({wait_ms, {}});
    select(all.back().containers);
  };
  if (keys.for_priority.enabled) {
    run(keys.wait_before_kill_ms, [&](Selection& current) { SelectForPriority(round, current); });
  }
  if (keys.select_for_reserved) {
    run(keys.wait_before_kill_ms, [&](Selection& current) { SelectForReserved(round, current); });
  }
  run(keys.wait_before_kill_ms,
      [&](Selection& current) { SelectByQueues(round, keys.count_reserved, false, current); });
  if (keys.balance) {
    const int64_t wait =
        keys.balance_wait_before_kill_ms > 0 ? keys.balance_wait_before_kill_ms : keys.wait_before_kill_ms;
    run(wait, [&](Selection& current) { SelectByQueues(round, false, true, current); });
  }
  if (keys.intra_queue) {
    run(keys.wait_before_kill_ms, [&](Selection& current) { SelectWithinQueues(round, current); });
  }
  return all;
}

void Decide(Books& books, const model::ContainerId& id, ms::PreemptionStep step) {
  books.Emit(ms::PreemptionDecided{id, step});
}

void Drop(Books& books, ContainerSlot slot) {
  if (!books.containers.Has(slot)) return;  // selected twice
  Decide(books, books.containers[slot].id, ms::PreemptionStep::kDropped);
  Complete(books, slot, {hadoop::End::kKilled, model::kExitAborted, "Container reservation no longer required."});
}

void Mark(Books& books, const model::ContainerId& id) {
  Decide(books, id, ms::PreemptionStep::kMarked);
  const ContainerSlot slot = FindLive(books, id);
  if (!slot.valid()) return;
  std::vector<model::ContainerId>& marked = books.attempts[books.containers[slot].attempt].to_preempt;
  if (std::find(marked.begin(), marked.end(), id) == marked.end()) marked.push_back(id);
}

/// CapacityScheduler.markContainerForKillable. The container may be one that its node alone holds.
void Kill(Books& books, const model::ContainerId& id, ContainerSlot slot) {
  Decide(books, id, ms::PreemptionStep::kKilled);
  if (!books.containers.Has(slot) || books.containers[slot].id != id) return;
  const Container& container = books.containers[slot];
  if (!books.file.preemption.lazy) {
    return Complete(books, slot, {hadoop::End::kKilled, model::kExitPreempted, "Container preempted by scheduler"});
  }
  const Killable::One one{slot, container.resources};
  if (container.on_node) books.killable.AddToNode(container.node, id, one);
  if (!books.apps.Current(container.app).valid()) return;
  const Queue& leaf = books.queues[books.attempts[container.attempt].queue];
  books.killable.AddToQueue(leaf.path, books.partitions.OfNode(container.node), id, one);
}

/// preemptOrkillSelectedContainerAfterWait, then what its events do.
void MarkOrKill(Books& books, const std::vector<Selected>& all) {
  std::vector<model::ContainerId> marked;
  std::vector<std::pair<model::ContainerId, ContainerSlot>> killed;
  for (const Selected& one : all) {
    for (const auto& [id, slot] : one.containers.InOrder()) {
      const auto since = books.rounds.marked_ms.find(id);
      if (since == books.rounds.marked_ms.end()) {
        books.rounds.marked_ms[id] = books.now_ms;
        marked.push_back(id);
      } else if (since->second + one.wait_ms <= books.now_ms) {
        books.rounds.marked_ms.erase(since);
        killed.emplace_back(id, slot);
      }
    }
  }
  std::erase_if(books.rounds.marked_ms, [&](const auto& entry) {
    return entry.second + 2 * books.file.preemption.wait_before_kill_ms < books.now_ms;
  });
  for (const model::ContainerId& id : marked) Mark(books, id);
  for (const auto& [id, slot] : killed) Kill(books, id, slot);
}

}  // namespace

void PreemptRound(Books& books) {
  const model::CapacityPreemption& keys = books.file.preemption;
  PreemptRoundState round{books, PartitionsInOrder(books), {}, {}, {}, {}, {}, {}, {}, {}};
  for (const PartitionId partition : round.partitions) CloneQueue(round, books.queues.root(), partition);
  for (const std::string& path : LeavesInOrder(books, books.queues.root())) {
    round.leaves.push_back(books.queues.names().FindPath(path));
  }
  round.allowed = Part(books.cluster(), keys.total_per_round);
  const std::vector<Selected> all = RunSelectors(round);
  for (const ContainerSlot slot : round.dropped) Drop(books, slot);
  if (!round.failure.empty()) return books.Emit(ms::RoundFailed{round.failure});
  if (!keys.observe_only) MarkOrKill(books, all);
}

}  // namespace fairlead::scheduler::yarn_capacity

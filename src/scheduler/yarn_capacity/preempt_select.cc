#include <algorithm>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/preempt_round.h"

namespace fairlead::scheduler::yarn_capacity {

ToTake ToTakeOf(PreemptRoundState& round, QueueId leaf) {
  ToTake to_take;
  for (const PartitionId partition : round.partitions) {
    const PreemptQueue& queue = round.Of(leaf, partition);
    if (!queue.disabled && round.calc().Greater(round.books.cluster(), queue.to_take, {})) {
      to_take[partition] = queue.to_take;
    }
  }
  return to_take;
}

bool TryTake(PreemptRoundState& round, ToTake& to_take, ContainerSlot slot, Selection& current, bool conservative) {
  const Arithmetic& calc = round.calc();
  const Container& container = round.books.containers[slot];
  if (round.IsSelected(slot)) return false;
  const PartitionId partition = round.books.partitions.OfNode(container.node);
  const auto found = to_take.find(partition);
  if (found == to_take.end()) return false;
  Resources& wanted = found->second;
  for (size_t type = 0; type < calc.types(); ++type) {
    if (wanted[type] == 0) wanted[type] = -1;
  }
  if (!calc.AnyAboveZero(wanted) || !calc.FitsIn(container.resources, round.allowed)) return false;
  const Resources after = hadoop::ComponentwiseMax(wanted - container.resources, {});
  const bool helps = conservative ? !calc.AnyZeroOrLess(wanted)
                                  : calc.Less(round.books.cluster(), after, hadoop::ComponentwiseMax(wanted, {}));
  if (!helps) return false;
  wanted -= container.resources;
  round.allowed -= container.resources;
  if (calc.AtMost(round.books.cluster(), wanted, {})) to_take.erase(found);
  round.Select(slot, current);
  return true;
}

void DeductSelected(PreemptRoundState& round) {
  const Arithmetic& calc = round.calc();
  for (const auto& [id, slot] : round.selected.InOrder()) {
    const Container& container = round.books.containers[slot];
    if (!round.books.nodes.Alive(container.node)) continue;
    const QueueId leaf = round.books.attempts[container.attempt].queue;
    if (round.books.named_ambiguously.contains(id) &&
        round.books.queues.names().Ambiguous(round.books.queues[leaf].name)) {
      round.failure = "the name " + round.books.queues[leaf].name + " is that of several queues";
      return;
    }
    PreemptQueue& queue = round.Of(leaf, round.books.partitions.OfNode(container.node));
    if (calc.Greater(queue.whole, queue.to_take, container.resources)) queue.to_take -= container.resources;
    queue.to_take = calc.Max(queue.whole, queue.to_take, {});
    for (PreemptApp& app : queue.apps) {
      if (calc.Greater(queue.whole, app.to_take, container.resources)) app.to_take -= container.resources;
    }
  }
}

TakingOrder::TakingOrder(const Books& books, AttemptId attempt) {
  for (const ContainerSlot slot : books.containers.OfAttempt(books.attempts[attempt].live)) {
    const Container& container = books.containers[slot];
    heap_.push_back({container.key, container.id, slot});
  }
  std::make_heap(heap_.begin(), heap_.end());
}

ContainerSlot TakingOrder::Next() {
  if (heap_.empty()) return {};
  std::pop_heap(heap_.begin(), heap_.end());
  const ContainerSlot slot = heap_.back().slot;
  heap_.pop_back();
  return slot;
}

namespace {

class ByQueues {
 public:
  ByQueues(PreemptRoundState& round, Selection& current) : round_(round), books_(round.books), current_(current) {}
  void SelectFrom(QueueId leaf);

 private:
  bool Take(ContainerSlot slot) {
    return TryTake(round_, to_take_, slot, current_, books_.file.preemption.conservative_drf);
  }
  bool IsSelected(ContainerSlot slot) const { return round_.IsSelected(slot); }
  void SelectBorrowed(const Leaf& leaf);
  void SelectFromApp(AttemptId id);
  void SelectMasters(const Queue& leaf);

  PreemptRoundState& round_;
  Books& books_;
  Selection& current_;
  ToTake to_take_;
  std::vector<ContainerSlot> masters_;  // left out at first
  Resources masters_size_;
};

void ByQueues::SelectFrom(QueueId id) {
  if (round_.Of(id, kNoLabel).disabled) return;
  to_take_ = ToTakeOf(round_, id);
  Queue& leaf = books_.queues[id];
  SelectBorrowed(leaf.own);
  masters_size_ = {};
  RefreshOrder(books_, leaf);
  const std::vector<AttemptId> order = leaf.own.active.InOrder();
  for (auto it = order.rbegin(); it != order.rend() && !to_take_.empty(); ++it) SelectFromApp(*it);
  SelectMasters(leaf);
}

/// Containers on nodes of shared partitions that asked for no label, the last ones first.
void ByQueues::SelectBorrowed(const Leaf& leaf) {
  std::vector<PartitionId> partitions;
  for (const auto& [partition, amount] : to_take_) partitions.push_back(partition);
  for (const PartitionId partition : partitions) {
    const auto borrowing = leaf.borrowing.find(partition);
    if (borrowing == leaf.borrowing.end()) continue;
    for (auto it = borrowing->second.rbegin(); it != borrowing->second.rend(); ++it) {
      if (!IsSelected(it->second)) Take(it->second);
    }
  }
}

void ByQueues::SelectFromApp(AttemptId id) {
  for (const ContainerSlot slot : ReservedInOrder(books_, id)) {
    if (IsSelected(slot)) continue;
    if (to_take_.empty()) return;
    Take(slot);
    if (!books_.file.preemption.observe_only) round_.dropped.push_back(slot);
  }
  if (to_take_.empty()) return;
  TakingOrder order(books_, id);
  for (ContainerSlot slot = order.Next(); slot.valid(); slot = order.Next()) {
    const Container& container = books_.containers[slot];
    if (to_take_.empty()) return;
    if (IsSelected(slot)) continue;
    if (books_.file.preemption.lazy && books_.killable.Any(container.id)) continue;
    if (container.is_master) {
      masters_.push_back(slot);
      masters_size_ += container.resources;
      continue;
    }
    Take(slot);
  }
}

void ByQueues::SelectMasters(const Queue& leaf) {
  Resources most = leaf.shares[kNoLabel].effective_min;
  for (size_t type = 0; type < books_.calc.types(); ++type) {
    most[type] = hadoop::java::ToLong(static_cast<double>(most[type]) * leaf.settings.master_percent);
  }
  for (const ContainerSlot slot : masters_) {
    if (to_take_.empty() || books_.calc.AtMost(books_.cluster(), masters_size_, most)) break;
    if (Take(slot)) masters_size_ -= books_.containers[slot].resources;
  }
  masters_.clear();
}

/// Makes room on nodes for what is reserved there.
class ForReserved {
 public:
  ForReserved(PreemptRoundState& round, Selection& current) : round_(round), books_(round.books), current_(current) {}
  void Select();

 private:
  struct Choice {
    float cost = 0;
    NodeIndex node;
    std::vector<ContainerSlot> containers;
  };
  std::optional<Choice> Choose(NodeIndex node, bool really);
  Resources* ToTakeFrom(const Container& container, PartitionId partition);
  bool TakeFromQueue(const Container& container, PartitionId partition, bool really);
  bool Fits(const Resources& a, const Resources& b) const { return books_.calc.FitsIn(a, b); }

  PreemptRoundState& round_;
  Books& books_;
  Selection& current_;
  std::map<QueueId, ToTake> to_take_;
};

void ForReserved::Select() {
  for (const QueueId leaf : round_.leaves) to_take_[leaf] = ToTakeOf(round_, leaf);
  std::vector<Choice> choices;
  for (const NodeIndex node : books_.nodes.InHashOrder()) {
    if (std::optional<Choice> choice = Choose(node, false)) choices.push_back(std::move(*choice));
  }
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
  for (const Choice& choice : choices) {
    const std::optional<Choice> made = Choose(choice.node, true);
    if (!made) continue;
    for (const ContainerSlot slot : made->containers) round_.Select(slot, current_);
  }
}

std::optional<ForReserved::Choice> ForReserved::Choose(NodeIndex index, bool really) {
  const Node& node = books_.nodes[index];
  if (!node.reserved.valid()) return std::nullopt;
  const Resources needed = books_.containers[node.reserved].resources;
  Resources room = node.unallocated + books_.killable.TotalOfNode(index);
  if (Fits(needed, room)) return std::nullopt;
  const PartitionId partition = books_.partitions.OfNode(index);
  std::vector<ContainerSlot> running = books_.containers.InHashOrder(node.containers, node.most_containers);
  std::sort(running.begin(), running.end(),
            [&](ContainerSlot a, ContainerSlot b) { return books_.containers[b].id < books_.containers[a].id; });
  Choice choice{0, index, {}};
  Resources chosen;
  bool enough = false;
  for (const ContainerSlot slot : running) {
    const Container& container = books_.containers[slot];
    if (books_.killable.OnNode(index, container.id) || container.is_master) continue;
    if (!TakeFromQueue(container, partition, really)) continue;
    if (!round_.IsSelected(slot)) {
      if (really) choice.containers.push_back(slot);
      chosen += container.resources;
    }
    room += container.resources;
    enough = Fits(needed, room);
    if (enough) break;
  }
  if (!enough) {
    for (const ContainerSlot slot : choice.containers) {
      const Container& container = books_.containers[slot];
      if (Resources* amount = ToTakeFrom(container, partition)) *amount += container.resources;
    }
    return std::nullopt;
  }
  choice.cost = books_.calc.Ratio(chosen, needed);
  return choice;
}

/// By the name that the container carries, which leads nowhere when several queues have it.
Resources* ForReserved::ToTakeFrom(const Container& container, PartitionId partition) {
  const QueueId leaf = books_.attempts[container.attempt].queue;
  if (books_.queues.names().Ambiguous(books_.queues[leaf].name)) return nullptr;
  const auto of_leaf = to_take_.find(leaf);
  if (of_leaf == to_take_.end()) return nullptr;
  const auto found = of_leaf->second.find(partition);
  return found == of_leaf->second.end() ? nullptr : &found->second;
}

bool ForReserved::TakeFromQueue(const Container& container, PartitionId partition, bool really) {
  Resources* amount = ToTakeFrom(container, partition);
  if (amount == nullptr || !Fits(container.resources, *amount) || !Fits(container.resources, round_.allowed)) {
    return false;
  }
  if (really) {
    *amount -= container.resources;
    round_.allowed -= container.resources;
  }
  return true;
}

}  // namespace

void SelectByQueues(PreemptRoundState& round, bool with_reserved, bool balance, Selection& current) {
  ComputeIdeal(round, with_reserved, balance);
  DeductSelected(round);
  if (!round.failure.empty()) return;
  ByQueues by_queues(round, current);
  for (const QueueId leaf : round.leaves) by_queues.SelectFrom(leaf);
}

void SelectForReserved(PreemptRoundState& round, Selection& current) {
  ComputeIdeal(round, true, false);
  ForReserved(round, current).Select();
}

}  // namespace fairlead::scheduler::yarn_capacity

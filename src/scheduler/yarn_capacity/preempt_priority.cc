#include <algorithm>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/preempt_round.h"

// QueuePriorityContainerCandidateSelector: reserved containers of queues that have less than is theirs take the room
// they need from queues of lower priority, also from such as have less than is theirs.

namespace fairlead::scheduler::yarn_capacity {

namespace {

class ForPriority {
 public:
  ForPriority(PreemptRoundState& round, Selection& current) : round_(round), books_(round.books), current_(current) {}
  void Select();

 private:
  /// A queue from the root to a leaf, and its priority among its siblings.
  using Path = std::vector<std::pair<QueueId, int32_t>>;

  void FindPaths();
  bool IsLeaf(QueueId id) const { return id.value < paths_.size() && !paths_[id.value].empty(); }
  bool Outranks(QueueId leaf, QueueId other) const;
  bool OutranksAny(QueueId leaf);
  QueueId QueueOf(const Container& container) const;
  bool MayTake(QueueId demanding, ContainerSlot victim) const;
  void Sort(std::vector<ContainerSlot>& containers) const;
  bool IsSatisfied(QueueId leaf, PartitionId partition);
  bool CanMakeRoom(ContainerSlot reserved, NodeIndex node, std::vector<ContainerSlot>& victims) const;
  void SelectFor(ContainerSlot reserved);
  bool CanMove(ContainerSlot reserved, NodeIndex to) const;
  void TryToMove(ContainerSlot reserved);

  PreemptRoundState& round_;
  Books& books_;
  Selection& current_;
  std::vector<Path> paths_;  // by QueueId
  std::set<NodeIndex> touched_;
  std::map<std::pair<QueueId, PartitionId>, Resources> promised_;  // toPreemptedFromOtherQueues
  std::map<QueueId, bool> outranks_any_;
};

void ForPriority::FindPaths() {
  for (const QueueId leaf : round_.leaves) {
    if (leaf.value >= paths_.size()) paths_.resize(leaf.value + size_t{1});
    Path& path = paths_[leaf.value];
    for (QueueId id = leaf; id.valid(); id = books_.queues[id].parent) {
      path.emplace_back(id, round_.Of(id, kNoLabel).priority);
    }
    std::reverse(path.begin(), path.end());
  }
}

/// The queues directly below the nearest one above both are compared; priorities count where that one orders by them.
bool ForPriority::Outranks(QueueId leaf, QueueId other) const {
  const Path& a = paths_[leaf.value];
  const Path& b = paths_[other.value];
  const auto same = [](const auto& one, const auto& two) { return one.first == two.first; };
  const auto [i, j] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same);
  return i != a.end() && j != b.end() && i->second > j->second;
}

bool ForPriority::OutranksAny(QueueId leaf) {
  const auto [found, is_new] = outranks_any_.try_emplace(leaf);
  if (is_new) {
    found->second =
        std::any_of(round_.leaves.begin(), round_.leaves.end(), [&](QueueId other) { return Outranks(leaf, other); });
  }
  return found->second;
}

/// By the name that the container carries, which is no leaf's when several queues had it, or when the leaf is gone and
/// only the node holds the container.
QueueId ForPriority::QueueOf(const Container& container) const {
  const QueueId leaf = books_.attempts[container.attempt].queue;
  return IsLeaf(leaf) && !books_.named_ambiguously.contains(container.id) ? leaf : QueueId{};
}

bool ForPriority::MayTake(QueueId demanding, ContainerSlot victim) const {
  const QueueId other = QueueOf(books_.containers[victim]);
  return demanding.valid() && other.valid() && Outranks(demanding, other);
}

/// Higher queues first, else older ones. That is no order where queues of several parents meet: a list of 32 or more
/// Hadoop may refuse to sort then ("Comparison method violates its general contract!"), and no round comes about.
void ForPriority::Sort(std::vector<ContainerSlot>& containers) const {
  hadoop::java::SortSmall(std::span(containers), [&](ContainerSlot a, ContainerSlot b) {
    if (MayTake(QueueOf(books_.containers[a]), b)) return -1;
    if (MayTake(QueueOf(books_.containers[b]), a)) return 1;
    const int64_t one = books_.containers[a].created_ms;
    const int64_t other = books_.containers[b].created_ms;
    return one < other ? -1 : (one > other ? 1 : 0);
  });
}

bool ForPriority::IsSatisfied(QueueId leaf, PartitionId partition) {
  const PreemptQueue& queue = round_.Of(leaf, partition);
  const Resources used = queue.used - books_.queues[leaf].usage.reserved(partition);
  return round_.calc().AtLeast(books_.cluster(), used + promised_[{leaf, partition}], queue.guaranteed);
}

/// canPreemptEnoughResourceForAsked. `victims` counts only when it says yes.
bool ForPriority::CanMakeRoom(ContainerSlot reserved, NodeIndex index, std::vector<ContainerSlot>& victims) const {
  if (touched_.contains(index)) return false;
  const Arithmetic& calc = round_.calc();
  const Node& node = books_.nodes[index];
  const QueueId demanding = QueueOf(books_.containers[reserved]);
  Resources lacking = books_.containers[reserved].resources - node.unallocated;
  std::vector<ContainerSlot> running = books_.containers.InHashOrder(node.containers, node.most_containers);
  Sort(running);
  for (const ContainerSlot slot : running) {
    if (round_.IsSelected(slot)) lacking -= books_.containers[slot].resources;
  }
  if (calc.FitsIn(lacking, {})) return true;
  Resources allowed = round_.allowed;
  for (const ContainerSlot slot : running) {
    const Container& container = books_.containers[slot];
    if (round_.IsSelected(slot) || container.is_master || !MayTake(demanding, slot)) continue;
    if (calc.AtLeast(books_.cluster(), allowed, container.resources)) {
      allowed -= container.resources;
      lacking -= container.resources;
      victims.push_back(slot);
    }
    if (calc.FitsIn(lacking, {})) return true;
  }
  return false;
}

void ForPriority::SelectFor(ContainerSlot reserved) {
  const Container& container = books_.containers[reserved];
  const model::CapacityPriorityPreemption& keys = books_.file.preemption.for_priority;
  if (books_.now_ms - container.created_ms < keys.reserved_delay_ms) return;
  const QueueId leaf = QueueOf(container);
  const PartitionId partition = books_.partitions.OfNode(container.node);
  if (IsSatisfied(leaf, partition)) return;
  std::vector<ContainerSlot> victims;
  if (!CanMakeRoom(reserved, container.node, victims)) {
    if (keys.move_reservations) TryToMove(reserved);
    return;
  }
  touched_.insert(container.node);
  promised_[{leaf, partition}] += container.resources;
  for (const ContainerSlot slot : victims) {
    round_.Select(slot, current_);
    round_.allowed -= books_.containers[slot].resources;
  }
}

/// preChecksForMovingReservedContainerToNode.
bool ForPriority::CanMove(ContainerSlot reserved, NodeIndex to) const {
  const Container& container = books_.containers[reserved];
  if (container.key.IsGrowth() || books_.nodes[to].reserved.valid()) return false;
  const KeyLines* lines = books_.attempts[container.attempt].asks.Find(container.key);
  if (lines != nullptr && lines->Any() != nullptr && !lines->Any()->relax) return false;
  return AskedLabel(books_, container) == books_.partitions.OfNode(to);
}

/// tryToMakeBetterReservationPlacement: to the first node where room could be made.
void ForPriority::TryToMove(ContainerSlot reserved) {
  if (books_.rounds.moved.contains(books_.containers[reserved].id)) return;
  for (const NodeIndex to : books_.nodes.InHashOrder()) {
    std::vector<ContainerSlot> victims;
    if (!CanMove(reserved, to) || !CanMakeRoom(reserved, to, victims) || !MoveReservation(books_, reserved, to)) {
      continue;
    }
    touched_.insert(to);
    return;
  }
}

void ForPriority::Select() {
  FindPaths();
  std::vector<ContainerSlot> reserved;
  for (const NodeIndex node : books_.nodes.InHashOrder()) {
    const ContainerSlot slot = books_.nodes[node].reserved;
    if (!slot.valid()) continue;
    const QueueId leaf = QueueOf(books_.containers[slot]);
    if (leaf.valid() && OutranksAny(leaf)) reserved.push_back(slot);
  }
  Sort(reserved);
  for (const ContainerSlot slot : reserved) SelectFor(slot);
}

}  // namespace

void SelectForPriority(PreemptRoundState& round, Selection& current) { ForPriority(round, current).Select(); }

}  // namespace fairlead::scheduler::yarn_capacity

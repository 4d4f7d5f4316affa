#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/yarn_capacity/books.h"

// One round of preemption: a copy of the amounts that queues have and want (TempQueuePerPartition), and the selection.

namespace fairlead::scheduler::yarn_capacity {

/// A user of a leaf in one partition (TempUserPerPartition).
struct PreemptUser {
  Resources used;
  Resources masters;
  Resources selected;
  Resources limit;  // without masters
  Resources ideal;
  bool delta_done = false;

  Resources used_by_workers() const { return used - masters; }
};

/// An application of a leaf in one partition (TempAppPerPartition).
struct PreemptApp {
  AttemptId id;
  model::ApplicationId app;
  int32_t priority = 0;
  std::string user;
  Resources used;
  Resources masters;
  Resources pending;
  Resources ideal;
  Resources surplus;     // toBePreempted
  Resources to_take;     // actuallyToBePreempted
  Resources from_other;  // toBePreemptFromOther
  Resources selected;

  Resources used_by_workers() const { return used - masters; }
};

/// A queue in one partition (TempQueuePerPartition).
// Large on purpose: the columns of one table, which the steps of a round fill one after the other.
struct PreemptQueue {
  QueueId queue;
  PartitionId partition;
  bool leaf = false;
  bool disabled = false;
  int32_t priority = 0;  // relative to its siblings
  float absolute = 0;
  Resources whole;  // of the partition
  Resources guaranteed;
  Resources maximum;
  Resources used;
  Resources pending;
  Resources pending_without_reserved;
  Resources killable;
  Resources ideal;
  Resources untouchable;
  Resources preemptable;
  Resources surplus;  // toBePreempted
  Resources to_take;  // actuallyToBePreempted
  std::vector<double> normalized;
  std::vector<size_t> children;
  std::vector<PreemptApp> apps;  // once the leaf's own applications were looked at
  std::map<std::string, PreemptUser> users;
};

/// Selected containers by attempt, in the order of a Java HashMap of HashSets. O(log containers), a walk n log n.
class Selection {
 public:
  void Add(const Container& container, ContainerSlot slot);
  bool Has(const model::ContainerId& id) const { return ids_.contains(id); }
  std::vector<ContainerSlot> Of(AttemptId attempt) const;
  /// With their names: a reservation is given up before it is marked.
  std::vector<std::pair<model::ContainerId, ContainerSlot>> InOrder() const;

 private:
  /// As they came.
  struct Group {
    std::vector<model::ContainerId> ids;
    std::vector<ContainerSlot> slots;
    std::vector<int32_t> hashes;
  };
  std::set<model::ContainerId> ids_;
  std::map<AttemptId, size_t> numbers_;
  std::vector<Group> groups_;
  std::vector<int32_t> hashes_;  // of the groups' attempts
};

/// What one selector chose, and how long its containers have until they are killed.
struct Selected {
  int64_t wait_ms = 0;
  Selection containers;
};

struct PreemptRoundState {
  Books& books;
  std::vector<PartitionId> partitions;  // in the order of a Java set
  std::vector<QueueId> leaves;          // in the order of nested Java sets
  std::vector<PreemptQueue> queues;
  std::map<std::pair<QueueId, PartitionId>, size_t> index;
  std::map<PartitionId, std::vector<QueueId>> underserved;  // each once, in order of insertion
  Resources allowed;                                        // that may still be taken in this round
  Selection selected;
  std::vector<ContainerSlot> dropped;  // reservations
  std::string failure;                 // the round ends

  const Arithmetic& calc() const { return books.calc; }
  PreemptQueue& Of(QueueId queue, PartitionId partition) { return queues[index.at({queue, partition})]; }
  void AddUnderserved(const PreemptQueue& queue);
  bool IsSelected(ContainerSlot slot) const { return selected.Has(books.containers[slot].id); }
  void Select(ContainerSlot slot, Selection& current);
  /// Makes the user again if the leaf has forgotten it; or the round fails.
  bool KnowsUser(Queue& leaf, const std::string& user);
};

/// What can be taken of a leaf, by partition.
using ToTake = std::map<PartitionId, Resources>;
ToTake ToTakeOf(PreemptRoundState& round, QueueId leaf);
/// tryPreemptContainerAndDeductResToObtain.
bool TryTake(PreemptRoundState& round, ToTake& to_take, ContainerSlot slot, Selection& current, bool conservative);
/// deductPreemptableResourcesBasedSelectedCandidates.
void DeductSelected(PreemptRoundState& round);
/// An attempt's containers in the order in which they are taken: those of the least urgent ask first, of one ask the
/// latest (PreemptionCandidatesSelector.sortContainers). Few of many are taken as a rule, so each is looked for when it
/// is its turn: O(containers), then O(log containers) for each.
class TakingOrder {
 public:
  TakingOrder(const Books& books, AttemptId attempt);
  /// Not valid: there was none left.
  ContainerSlot Next();

 private:
  struct One {
    RequestKey key;
    model::ContainerId id;
    ContainerSlot slot;
    /// It comes later than `other`.
    bool operator<(const One& other) const { return key != other.key ? key < other.key : id < other.id; }
  };
  std::vector<One> heap_;
};

/// How much of each leaf is to be taken (PreemptableResourceCalculator).
void ComputeIdeal(PreemptRoundState& round, bool with_reserved, bool balance);
/// FifoCandidatesSelector.
void SelectByQueues(PreemptRoundState& round, bool with_reserved, bool balance, Selection& current);
/// QueuePriorityContainerCandidateSelector. O(reserved containers x containers of a node).
void SelectForPriority(PreemptRoundState& round, Selection& current);
/// ReservedContainerCandidatesSelector.
void SelectForReserved(PreemptRoundState& round, Selection& current);
/// IntraQueueCandidatesSelector.
void SelectWithinQueues(PreemptRoundState& round, Selection& current);

}  // namespace fairlead::scheduler::yarn_capacity

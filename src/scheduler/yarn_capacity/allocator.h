#pragma once

#include "scheduler/yarn_capacity/assign.h"
#include "scheduler/yarn_capacity/recording.h"

namespace fairlead::scheduler::yarn_capacity {

/// Which of an application's asks a node serves, and how (RegularContainerAllocator).
class Allocator {
 public:
  Allocator(Books& books, AttemptId id, NodeIndex node, Mode mode, const Limits& limits)
      : books_(books),
        calc_(books.calc),
        id_(id),
        attempt_(books.attempts[id]),
        node_id_(node),
        node_(books.nodes[node]),
        partition_(books.partitions.OfNode(node)),
        mode_(mode),
        limits_(limits),
        record_(books) {}

  Proposal Propose();
  /// The node is reserved by this application: granted there, reserved again, or given up.
  Proposal FromReservation(ContainerSlot slot);

 private:
  /// AllocationState.
  enum class Outcome : uint8_t { kAllocated, kReserved, kSkipLocality, kSkipKey, kSkipApp, kSkipQueue };
  struct Result {
    Outcome outcome = Outcome::kSkipKey;
    Resources size;
    model::Locality type = model::Locality::kNodeLocal;
    ContainerSlot unreserves;
    std::vector<ContainerSlot> kills;
  };

  const Queue& leaf() const { return books_.queues[attempt_.queue]; }
  int32_t nodes() const { return static_cast<int32_t>(books_.nodes.count()); }
  bool Pends() const;
  /// Whether the key is looked at on this node; else why not.
  Outcome Precheck(const RequestKey& key, const KeyLines& lines);
  /// The same, and the reason is written down.
  Outcome SkipRequest(const RequestKey& key, Outcome outcome, std::string_view why) const;
  Result SkipNode(const RequestKey& key, Outcome outcome, std::string_view why) const;
  /// The container that the key makes larger is on this node: another manager of its host cannot.
  bool GrowsHere(const RequestKey& key) const;
  bool WithinHeadroom(const Resources& size) const;
  bool MayTakeMore(const RequestKey& key, const Resources& size) const;
  Result TryNode(const RequestKey& key, const KeyLines& lines, ContainerSlot reserved);
  Result TryLevels(const RequestKey& key, const KeyLines& lines, ContainerSlot reserved);
  bool MayServe(const RequestKey& key, const KeyLines& lines, model::Locality type, ContainerSlot reserved) const;
  Result Place(const RequestKey& key, const Resources& size, model::Locality type, ContainerSlot reserved);
  ContainerSlot FindReservation(const RequestKey& key, const Resources& at_least) const;
  /// Makes room of killable containers; whether there is enough then.
  bool AddKills(const Resources& size, std::vector<ContainerSlot>& kills) const;
  /// What follows from a result that grants or reserves (doAllocation).
  Proposal Finish(const RequestKey& key, const Result& result, ContainerSlot reserved);

  Books& books_;
  const Arithmetic& calc_;
  AttemptId id_;
  Attempt& attempt_;
  NodeIndex node_id_;
  const Node& node_;
  PartitionId partition_;
  Mode mode_;
  const Limits& limits_;
  Recording record_;
};

}  // namespace fairlead::scheduler::yarn_capacity

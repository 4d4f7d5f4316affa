#pragma once

#include <vector>

#include "scheduler/yarn_capacity/books.h"

// One node offered to the tree: what is proposed there (CapacityScheduler.allocateContainersToNode,
// AbstractParentQueue.assignContainers, AbstractLeafQueue.assignContainers).

namespace fairlead::scheduler::yarn_capacity {

/// ResourceLimits: what a parent hands down in a pass, and what comes back.
struct Limits {
  explicit Limits(const Resources& handed_down) : limit(handed_down), headroom(handed_down) {}
  Resources limit;
  Resources headroom;
  Resources needs_unreserving;
  Resources blocked;
  bool may_preempt = false;

  Resources Net() const { return limit - blocked; }
};

enum class Skipped : uint8_t { kNone, kQueueLimit, kOther };

/// A container as a proposal names it: until the proposal is decided on, another may have taken its number.
struct ContainerRef {
  ContainerSlot slot;
  model::ContainerId id;

  bool valid() const { return slot.valid(); }
  bool StillThere(const hadoop::Containers& containers) const {
    return containers.Has(slot) && containers[slot].id == id && containers[slot].state != ContainerState::kEnded;
  }
};

/// CSAssignment: a container to grant or to reserve, or why there is none.
struct Proposal {
  Resources size;  // nothing: no container
  model::Locality type = model::Locality::kNodeLocal;
  Skipped skipped = Skipped::kNone;
  bool reserves = false;
  AttemptId attempt;
  RequestKey key;
  NodeIndex node;
  Mode mode = Mode::kRespect;
  ContainerRef reserved;    // whose room is used, or that is reserved again
  ContainerRef unreserves;  // a reservation that is given up for it
  std::vector<ContainerRef> kills;

  static Proposal Nothing(Skipped why) {
    Proposal proposal;
    proposal.skipped = why;
    return proposal;
  }
};

/// The container that the proposal grants or reserves, if it is decided on next.
model::ContainerId ContainerOf(const Books& books, const Proposal& proposal);

void Apply(Books& books, const model::scheduler::NodeUpdated& event);
/// Asynchronous scheduling: one attempt a node, then all is decided on in order.
void Apply(Books& books, const model::scheduler::ProposalPass& event);

}  // namespace fairlead::scheduler::yarn_capacity

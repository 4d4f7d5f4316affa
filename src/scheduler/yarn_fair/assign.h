#pragma once

#include "scheduler/yarn_fair/books.h"

// One node pass: which application gets a container there.

namespace fairlead::scheduler::yarn_fair {

/// The line of an ask that a node would serve, and how close that is.
struct Choice {
  const Request* ask;
  model::Locality type;
};
/// What offering a node gave: nothing, a reservation, or a container of this size.
struct Offer {
  bool reserved = false;
  Resources assigned;
  bool Nothing() const { return !reserved && assigned.IsZero(); }
};

/// FairScheduler.nodeUpdate: the node's report, then what it is offered to (attemptScheduling).
void Apply(Books& books, const model::scheduler::NodeUpdated& event);
/// FairScheduler.continuousSchedulingAttempt: all nodes by free memory, most first; with the quirk those of equal free
/// memory count as one (a TreeSet). O(nodes log nodes).
void ContinuousPass(Books& books);
/// FSAppAttempt.assignContainer: the first of the attempt's asks, by priority, that the node serves. `reserved`: for
/// the ask of the node's reservation alone.
Offer AssignKeys(Books& books, AttemptId id, NodeIndex node, bool reserved);
/// The line of an ask that a node would serve, and how close that is.
std::optional<Choice> Choose(const Books& books, const KeyLines& placement, const Node& node, model::Locality allowed);
/// FSAppAttempt.hasContainerForNode: some line of the ask names this node, its rack or any place, and it fits the
/// node's size.
bool HasContainerFor(const Books& books, const Attempt& attempt, const KeyLines* placement, const Node& node);
/// FSAppAttempt.isOverAMShareLimit.
bool OverMasterShare(const Books& books, const Attempt& attempt);
/// The leaf's maxAMShare is -1.
bool MastersUnlimited(const Queue& leaf);
/// FSLeafQueue.computeMaxAMResource: of types without a fair share what is free, or the maximum, counts.
Resources MasterLimit(const Books& books, const Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair

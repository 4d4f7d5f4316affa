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

void Apply(Books& books, const model::scheduler::NodeUpdated& event);
void ContinuousPass(Books& books);
Offer AssignKeys(Books& books, AttemptId id, NodeIndex node, bool reserved);
/// The line of an ask that a node would serve, and how close that is.
std::optional<Choice> Choose(const Books& books, const KeyLines& placement, const Node& node, model::Locality allowed);
bool HasContainerFor(const Books& books, const Attempt& attempt, const KeyLines* placement, const Node& node);
bool OverMasterShare(const Books& books, const Attempt& attempt);
bool MastersUnlimited(const Queue& leaf);
Resources MasterLimit(const Books& books, const Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include "scheduler/yarn_fair/books.h"

// Which queues and applications a node need not be offered to.

namespace fairlead::scheduler::yarn_fair {

/// False when an offer of this node to the queue would change nothing. O(types).
bool MayServe(const Queue& queue, const Node& node);
/// False when an offer of this node to the applications without a master would change nothing: all that they ask for is
/// too large for the masters' share, or for the node and too small to be reserved.
bool MayStartOne(const Books& books, const Queue& leaf, const Node& node);
/// True when the masters' share has no room for any of them before shares change or a master ends, whatever the cluster
/// has free (see MasterLimit).
bool MastersFull(const Books& books, const Queue& leaf);
/// Whether the attempt may reserve a node for the largest that it asks for.
bool MayReserveSome(const Books& books, const Attempt& attempt);
/// The attempt is offered nodes from now on, or asks for something else. O(depth of the tree).
void NoteAsks(Books& books, const Attempt& attempt);
/// The same for the bounds of the leaf's applications without a master.
void NoteStarting(Books& books, const Attempt& attempt);
/// The attempt uses less: it may be starved now, and reserve.
void NoteUsage(Books& books, const Attempt& attempt);
/// Somebody in the queue may reserve, so every node is offered to it and to those above.
void Unbound(Books& books, QueueId queue);
/// Raises the queue's bounds, which only fell until now, to those of its members. O(members).
void RaiseBounds(Books& books, Queue& queue);
/// The same for applications without a master. O(those).
void RaiseStartingBounds(Books& books, Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair

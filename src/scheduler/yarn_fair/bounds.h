#pragma once

#include "scheduler/yarn_fair/books.h"

// Which queues and applications a node need not be offered to.

namespace fairlead::scheduler::yarn_fair {

bool MayServe(const Queue& queue, const Node& node);
bool MayStartOne(const Books& books, const Queue& leaf, const Node& node);
bool MastersFull(const Books& books, const Queue& leaf);
bool MayReserveSome(const Books& books, const Attempt& attempt);
void NoteAsks(Books& books, const Attempt& attempt);
void NoteStarting(Books& books, const Attempt& attempt);
void NoteUsage(Books& books, const Attempt& attempt);
void Unbound(Books& books, QueueId queue);
void RaiseBounds(Books& books, Queue& queue);
void RaiseStartingBounds(Books& books, Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair

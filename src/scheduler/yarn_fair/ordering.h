#pragma once

#include "scheduler/yarn_fair/books.h"

// Who is offered a node first, and what each uses.

namespace fairlead::scheduler::yarn_fair {

/// What decides between the queue's children, or its applications.
CompareContext ContextOf(const Books& books, const Queue& parent);
/// A queue as the comparator sees it.
Subject SubjectOf(const Queue& queue);
/// An application as the comparator sees it.
Subject SubjectOf(const Attempt& attempt);
/// Adds a container's size to (or takes it off) its application and all queues above. O(depth).
void Charge(Books& books, AttemptId id, const Resources& size, int sign);
/// The same for the queues alone.
void ChargeQueues(Books& books, QueueId queue, const Resources& size, int sign);
/// The attempt's place among the applications of its leaf, or whether it has one, may have changed. O(1).
void Touch(Books& books, AttemptId id);
/// The same for a queue among its siblings.
void TouchQueue(Books& books, QueueId id);
/// Puts the members that were touched into their places. O(touched log members).
void Refresh(Books& books, QueueId id);
/// Sorts all members. O(n log n).
void Rebuild(Books& books, QueueId id);
/// Takes a leaving attempt out of its leaf's order at once.
void Detach(Books& books, AttemptId id);
/// Running applications and starting ones in one order.
std::vector<uint32_t> Merged(const Books& books, const Order& order);
/// Children or applications as Hadoop's TreeSet has them, filled in list order: for members without an exact key.
/// O(n log n).
std::vector<uint32_t> ExactOrder(const Books& books, QueueId id);
/// Whether nodes are offered to the attempt at all: it runs and asks for something. O(depth).
void SetOfferable(Books& books, AttemptId id, bool offerable);
/// Policies or weights changed: every order is built again when it is next needed. O(queues).
void InvalidateOrders(Books& books);

}  // namespace fairlead::scheduler::yarn_fair

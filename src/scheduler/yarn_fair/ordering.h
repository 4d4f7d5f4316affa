#pragma once

#include "scheduler/yarn_fair/books.h"

// Who is offered a node first, and what each uses.

namespace fairlead::scheduler::yarn_fair {

CompareContext ContextOf(const Books& books, const Queue& parent);
Subject SubjectOf(const Queue& queue);
Subject SubjectOf(const Attempt& attempt);
void Charge(Books& books, AttemptId id, const Resources& size, int sign);
void ChargeQueues(Books& books, QueueId queue, const Resources& size, int sign);
void Touch(Books& books, AttemptId id);
void TouchQueue(Books& books, QueueId id);
void Refresh(Books& books, QueueId id);
void Rebuild(Books& books, QueueId id);
void Detach(Books& books, AttemptId id);
/// Running applications and starting ones in one order.
std::vector<uint32_t> Merged(const Books& books, const Order& order);
std::vector<uint32_t> ExactOrder(const Books& books, QueueId id);
void SetOfferable(Books& books, AttemptId id, bool offerable);
void InvalidateOrders(Books& books);

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include "scheduler/yarn_fair/books.h"

// Reservations.

namespace fairlead::scheduler::yarn_fair {

bool IsReservable(const Books& books, const Attempt& attempt, const Resources& size);
/// False when nothing up to this size is reservable, whoever asks for it.
bool MayReserve(const Books& books, const Queue& leaf, const Resources& most);
bool Reserve(Books& books, AttemptId id, NodeIndex node, const Resources& size, model::Locality type, bool reserved,
             const RequestKey& key);
void Unreserve(Books& books, AttemptId id, NodeIndex node, bool fulfilled);
bool SettleReservation(Books& books, NodeIndex node);

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include "scheduler/yarn_fair/books.h"

// Reservations.

namespace fairlead::scheduler::yarn_fair {

/// Only for a starved application, and for containers of a certain size (FairScheduler.isAtLeastReservationThreshold).
bool IsReservable(const Books& books, const Attempt& attempt, const Resources& size);
/// False when nothing up to this size is reservable, whoever asks for it.
bool MayReserve(const Books& books, const Queue& leaf, const Resources& most);
/// FSAppAttempt.reserve. False: another holds the node, or the application has reserved too many. `reserved`: it is
/// this reservation's own turn, and it stays.
bool Reserve(Books& books, AttemptId id, NodeIndex node, const Resources& size, model::Locality type, bool reserved,
             const RequestKey& key);
/// FSAppAttempt.unreserve. `fulfilled`: the container lives on as a granted one.
void Unreserve(Books& books, AttemptId id, NodeIndex node, bool fulfilled);
/// FSAppAttempt.assignReservedContainer: true while the reservation is valid, which ends the pass.
bool SettleReservation(Books& books, NodeIndex node);

}  // namespace fairlead::scheduler::yarn_fair

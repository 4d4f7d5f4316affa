#pragma once

#include "scheduler/yarn_fair/books.h"

// How long a request waits for a closer node.

namespace fairlead::scheduler::yarn_fair {

/// FSAppAttempt.getAllowedLocalityLevel, or ...ByTime: counts the opportunity, then says how far away a container of
/// this key may be now.
model::Locality AllowedLocality(const Books& books, const Attempt& attempt, KeyState& state);
/// A grant closer than allowed brings the allowed level back to its own (FSAppAttempt.allocate).
void TightenLocality(Books& books, Attempt& attempt, const RequestKey& key, model::Locality type);
/// What is counted for the key; made when it is asked for first. O(log keys).
KeyState& StateOf(Attempt& attempt, const RequestKey& key);
/// A copy of it, for looking ahead.
KeyState StateNow(const Attempt& attempt, const RequestKey& key);

}  // namespace fairlead::scheduler::yarn_fair

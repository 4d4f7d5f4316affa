#pragma once

#include "scheduler/yarn_fair/books.h"

// How long a request waits for a closer node.

namespace fairlead::scheduler::yarn_fair {

model::Locality AllowedLocality(const Books& books, const Attempt& attempt, KeyState& state);
void TightenLocality(Books& books, Attempt& attempt, const RequestKey& key, model::Locality type);
KeyState& StateOf(Attempt& attempt, const RequestKey& key);
KeyState StateNow(const Attempt& attempt, const RequestKey& key);

}  // namespace fairlead::scheduler::yarn_fair

#pragma once

#include "scheduler/yarn_fair/books.h"

// CheckInvariants.

namespace fairlead::scheduler::yarn_fair {

/// Every sum, count, list and order computed from scratch and compared with what is kept: what differs.
std::string Check(const Books& books);

}  // namespace fairlead::scheduler::yarn_fair

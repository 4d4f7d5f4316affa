#pragma once

#include "scheduler/yarn_capacity/books.h"

// CheckInvariants.

namespace fairlead::scheduler::yarn_capacity {

/// Sums and lists computed from scratch and compared with what is kept: what differs.
std::string Check(const Books& books);

}  // namespace fairlead::scheduler::yarn_capacity

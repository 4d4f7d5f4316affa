#pragma once

#include "scheduler/yarn_fair/books.h"

// Why an ask waits.

namespace fairlead::scheduler::yarn_fair {

/// Every pending ask of the application with the reason that binds it now.
std::vector<model::scheduler::Pending> Why(const Books& books, AppIndex app);

}  // namespace fairlead::scheduler::yarn_fair

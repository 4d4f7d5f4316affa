#pragma once

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

// What readers see.

namespace fairlead::scheduler::yarn_capacity {

View ViewOf(const Books& books);
View QueuesOf(const Books& books);
CapacityAppView AppOf(const Books& books, model::AppIndex app);

}  // namespace fairlead::scheduler::yarn_capacity

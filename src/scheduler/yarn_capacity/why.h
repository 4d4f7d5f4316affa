#pragma once

#include <vector>

#include "scheduler/yarn_capacity/books.h"

namespace fairlead::scheduler::yarn_capacity {

/// Why each pending ask of the application waits: the tests that a node's offer goes through, in their order, without
/// effect. O(asks * nodes + users of the leaf).
std::vector<model::scheduler::Pending> Why(const Books& books, AppIndex app);

}  // namespace fairlead::scheduler::yarn_capacity

#include "scheduler/yarn_fair/core.h"

namespace fairlead::scheduler::yarn_fair {

std::vector<model::scheduler::Pending> Core::Why(model::AppIndex, base::Instant) const { return {}; }

}  // namespace fairlead::scheduler::yarn_fair

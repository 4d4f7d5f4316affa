#pragma once

#include <string>

#include "model/refusal.h"

namespace fairlead::model {

/// What an application's diagnostics say when the scheduler did not take it (FairScheduler.addApplication; reasons that
/// Hadoop does not know get a sentence of their own).
std::string RejectionText(const Refused& refused);
/// That a user may not have a priority (CapacityScheduler.checkAndGetApplicationPriority).
std::string PriorityAccessText(const Refused& refused);

}  // namespace fairlead::model

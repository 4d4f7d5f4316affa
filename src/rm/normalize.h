#pragma once

#include <string>

#include "model/refusal.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "rm/state.h"

namespace fairlead::rm {

/// Between the configured minimum and maximum, in steps of the increment (ResourceCalculator.normalize).
model::Resources Normalize(const Config& config, const model::Resources& wanted);

/// Refused when an amount is below 0 or above `maximum`; of several the first type's.
model::Refused CheckSize(const Config& config, const model::Resources& maximum, const model::Resources& size);

/// Makes the ask one that the scheduler takes: its label, its amounts, its count. Refused when it is beyond `maximum`,
/// the largest container of the moment (SchedulerUtils.normalizeAndValidateRequest).
model::Refused NormalizeAsk(const Config& config, const model::Resources& maximum, const std::string& default_label,
                            model::Ask& ask);

}  // namespace fairlead::rm

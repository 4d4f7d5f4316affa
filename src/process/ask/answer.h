#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/v1/ask.h"
#include "process/ask/carry.h"
#include "process/ask/change.h"
#include "process/ask/future.h"
#include "process/ask/present.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::ask {

/// Makes a scheduler of another profile, with the queues in use. Called on the thread that answers.
using MakeOther = std::function<base::Result<OtherProfile>(const std::string& name)>;

/// Error::code of WhatIf: Bounds::ended or ::events came first.
inline constexpr int kOutOfTime = 1;

/// What-if: the changed future beside the unchanged one, both with the medians of the learned run times. Error: a
/// change that cannot be. Cost: two Futures within the bounds, on the calling thread.
base::Result<endpoints::v1::WhatIf> WhatIf(const Present& present,
                                           const std::shared_ptr<const scheduler::RunTimes>& learned,
                                           const std::vector<Change>& changes, Bounds bounds,
                                           const MakeOther& other = {}, base::Duration heartbeat = {});

}  // namespace fairlead::process::ask

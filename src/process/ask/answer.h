#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/rest/document.h"
#include "process/ask/change.h"
#include "process/ask/future.h"
#include "process/ask/present.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::ask {

/// What-if: the changed future beside the unchanged one, both with the medians of the learned run times. Error: a
/// change that cannot be. Cost: two Futures within the bounds, on the calling thread.
base::Result<endpoints::rest::Document> WhatIf(const Present& present,
                                               const std::shared_ptr<const scheduler::RunTimes>& learned,
                                               const std::vector<Change>& changes, Bounds bounds);

}  // namespace fairlead::process::ask

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "process/ask/present.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::ask {

/// Masters are a kind of their own, whatever they were asked for with.
inline constexpr int32_t kMasterPriority = INT32_MIN;
scheduler::Kind KindOf(const Present::App& app, int32_t priority, bool master, const model::Resources& size);

/// Which of the learned run times a container gets.
struct Draw {
  /// 0: the median, else one that is drawn for each container by this number.
  uint64_t sample = 0;
};

/// Run times as they were learned by kind. `present` outlives the function, which is one thread's.
RunTimeOf FromLearned(const Present& present, std::shared_ptr<const scheduler::RunTimes> learned, Draw draw);

}  // namespace fairlead::process::ask

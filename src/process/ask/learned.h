#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "process/ask/present.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::ask {

/// Masters are a kind of their own, whatever they were asked for with.
inline constexpr int32_t kMasterPriority = INT32_MIN;
/// The kinds that a container is of, the narrowest first: its own, all of that application's name, all of that user,
/// and all. `name`: of the application, without digits.
using Kinds = std::array<scheduler::Kind, 4>;
Kinds KindsOf(const std::string& user, const std::string& name, int32_t priority, bool master,
              const model::Resources& size);

/// Which of the learned run times a container gets.
struct Draw {
  /// 0: the median of its own kind, else one that is drawn for each container by this number: of the narrowest kind in
  /// which enough ran longer than that one, else as if it ran on by LearnedRunTimes::Beyond.
  uint64_t sample = 0;
};

/// Run times as they were learned by kind; nothing of a container of a user whose containers nobody has seen end.
/// `present` outlives the function, which is one thread's.
RunTimeOf FromLearned(const Present& present, std::shared_ptr<const scheduler::RunTimes> learned, Draw draw);

}  // namespace fairlead::process::ask

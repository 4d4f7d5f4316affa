#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "model/resources.h"

namespace fairlead::scheduler::native {

/// The longest run, and the run of a container whose end nobody knows.
inline constexpr base::Duration kForever{INT64_MAX};
/// `at` + `run`, and never for a run that nobody knows the end of.
inline base::Instant Later(base::Instant at, base::Duration run) {
  return run == kForever || run.ns > INT64_MAX - at.ns ? base::Instant::Max() : at + run;
}

/// What will be free from now on, as far as it is known when what runs ends: a row of amounts, each from its moment to
/// the next one's.
class Outlook {
 public:
  using End = std::pair<base::Instant, model::Resources>;

  /// `free` now, and the sizes of `ends` more from each end on; those at Instant::Max() never. O(ends log ends).
  Outlook(base::Instant now, const model::Resources& free, std::vector<End> ends);
  /// The first moment, not before `from`, from which on `size` is free for all of `run`; Instant::Max(): none. O(rows).
  base::Instant Fit(const model::Resources& size, base::Duration run, base::Instant from = {}) const;
  /// `size` is taken from `start`, which is not before now, for as long as `run`. O(rows).
  void Take(base::Instant start, base::Duration run, const model::Resources& size);

 private:
  struct Row {
    base::Instant from;
    model::Resources free;
  };
  /// A row begins there.
  void Cut(base::Instant at);

  std::vector<Row> rows_;  // by `from`, which differ
};

}  // namespace fairlead::scheduler::native

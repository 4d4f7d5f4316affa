#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/learned_use.h"
#include "scheduler/books/kinds.h"

namespace fairlead::scheduler {

using native::Kind;

/// How long containers of a kind ran, as the last kKept of them did: older ones are forgotten as others come. In
/// milliseconds, at most 24 days. A kind has at most 0.6 KiB, all of them together 3 MiB.
class LearnedRunTimes {
 public:
  static constexpr size_t kKept = 64;
  /// So many must have run longer than one has by now before anything is said of its end.
  static constexpr size_t kEnough = 3;

  /// O(kKept).
  void Learn(base::Duration ran);
  /// How long one that runs for `age` will have run in all: in `per_mille` of 1000 cases it is no longer. Nothing: too
  /// few ran for longer. O(log kKept).
  std::optional<base::Duration> Quantile(base::Duration age, int32_t per_mille) const;
  /// The same for one that ran for longer than all but a few: as if the longest quarter of the times followed Pareto's
  /// law (its exponent after Hill), by which whatever has run for long will run for long. Nothing: fewer than kForTail
  /// are known. O(kKept).
  static constexpr size_t kForTail = 8;
  std::optional<base::Duration> Beyond(base::Duration age, int32_t per_mille) const;
  size_t count() const { return sorted_.size(); }
  /// The times themselves, the oldest first.
  std::vector<int64_t> InOrder() const;
  FL_STATE(next_, latest_, sorted_)

 private:
  size_t next_ = 0;  // of latest_: the oldest one's place
  std::vector<uint32_t> latest_;
  std::vector<uint32_t> sorted_;
};

/// Learns how long containers run, by kind: user, application's name without digits, priority and size. Pure; a copy
/// may be read by any thread.
class RunTimes {
 public:
  /// A container of that kind ran to its end. O(log kinds), O(kinds) where one is given up. A kind with names that are
  /// too long is passed over.
  void Learn(const Kind& kind, base::Duration ran, base::Instant now);
  /// Null: nothing is known of the kind. Lives until the next Learn. O(log kinds).
  const LearnedRunTimes* Find(const Kind& kind) const;
  size_t kinds() const { return rows_.size(); }
  /// All that is known; what Recall takes. O(kinds).
  std::vector<model::LearnedRuns> Rows() const;
  /// The kind's row, as Rows has it; nothing: it is not known. O(log kinds).
  std::optional<model::LearnedRuns> RowOf(const Kind& kind) const;
  /// Each row at its number, as far as that and the kind are free. Rows that make no sense are passed over.
  void Recall(const std::vector<model::LearnedRuns>& rows, base::Instant now);
  FL_STATE(rows_)

 private:
  native::KindRows<LearnedRunTimes> rows_;
};

}  // namespace fairlead::scheduler

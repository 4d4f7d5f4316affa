#include "scheduler/books/run_times.h"

#include <algorithm>
#include <cmath>

namespace fairlead::scheduler {

namespace {

uint32_t Clamped(base::Duration time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.millis(), 0, INT32_MAX));
}

}  // namespace

void LearnedRunTimes::Learn(base::Duration ran) {
  const uint32_t ms = Clamped(ran);
  if (latest_.size() < kKept) {
    latest_.push_back(ms);
  } else {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), latest_[next_]));
    latest_[next_] = ms;
    next_ = (next_ + 1) % kKept;
  }
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), ms), ms);
}

std::optional<base::Duration> LearnedRunTimes::Quantile(base::Duration age, int32_t per_mille) const {
  const auto longer = age.ns <= 0 ? sorted_.begin() : std::upper_bound(sorted_.begin(), sorted_.end(), Clamped(age));
  const auto count = static_cast<size_t>(sorted_.end() - longer);
  if (count < kEnough) return {};
  // The least of them that so many are not above.
  const size_t rank = (count * static_cast<size_t>(std::clamp(per_mille, 1, 1000)) + 999) / 1000;
  return base::Duration::Millis(longer[static_cast<ptrdiff_t>(rank - 1)]);
}

std::optional<base::Duration> LearnedRunTimes::Beyond(base::Duration age, int32_t per_mille) const {
  if (sorted_.size() < kForTail) return {};
  const size_t tail = sorted_.size() / 4;
  const double least = std::max(sorted_[sorted_.size() - tail - 1], 1U);
  double logs = 0;
  for (size_t i = sorted_.size() - tail; i < sorted_.size(); ++i) logs += std::log(std::max(sorted_[i], 1U) / least);
  constexpr double kLightest = 4;  // times that are all alike say nothing of those that are not
  constexpr double kHeaviest = 0.5;
  const double exponent = std::clamp(static_cast<double>(tail) / std::max(logs, 1e-9), kHeaviest, kLightest);
  const double left = 1 - std::clamp(per_mille, 1, 999) / 1000.0;
  const double ms = std::max(static_cast<double>(age.millis()), least) * std::pow(left, -1 / exponent);
  return base::Duration::Millis(static_cast<int64_t>(std::min(ms, static_cast<double>(INT32_MAX))));
}

std::vector<int64_t> LearnedRunTimes::InOrder() const {
  std::vector<int64_t> runs;
  for (size_t i = 0; i < latest_.size(); ++i) runs.push_back(latest_[(next_ + i) % latest_.size()]);
  return runs;
}

std::vector<model::LearnedRuns> RunTimes::Rows() const {
  std::vector<model::LearnedRuns> rows;
  for (const auto& entry : rows_.entries()) {
    if (entry.known) rows.push_back(*RowOf(entry.kind));
  }
  return rows;
}

std::optional<model::LearnedRuns> RunTimes::RowOf(const Kind& kind) const {
  const auto* found = rows_.Find(kind);
  if (!found) return {};
  model::LearnedRuns row;
  row.row = static_cast<uint32_t>(found - rows_.entries().data());
  row.user = kind.user;
  row.name = kind.name;
  row.priority = kind.priority;
  row.size.amount = kind.size;
  row.runs_ms = found->row.InOrder();
  return row;
}

void RunTimes::Recall(const std::vector<model::LearnedRuns>& rows, base::Instant now) {
  for (const model::LearnedRuns& row : rows) {
    const Kind kind{row.user, row.name, row.priority, row.size.amount};
    if (kind.TooLong() || row.size.AnyNegative() || row.runs_ms.size() > LearnedRunTimes::kKept) continue;
    LearnedRunTimes times;
    for (const int64_t ms : row.runs_ms) {
      times.Learn(base::Duration::Millis(std::clamp<int64_t>(ms, 0, INT32_MAX)));
    }
    rows_.PutBack(row.row, kind, now, std::move(times));
  }
}

void RunTimes::Learn(const Kind& kind, base::Duration ran, base::Instant now) {
  if (kind.TooLong()) return;
  rows_[rows_.Hear(kind, now).first].Learn(ran);
}

const LearnedRunTimes* RunTimes::Find(const Kind& kind) const {
  const auto* found = rows_.Find(kind);
  return found ? &found->row : nullptr;
}

}  // namespace fairlead::scheduler

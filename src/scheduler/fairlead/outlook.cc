#include "scheduler/fairlead/outlook.h"

#include <algorithm>

namespace fairlead::scheduler::native {

using base::Duration;
using base::Instant;
using model::Resources;

Outlook::Outlook(Instant now, const Resources& free, std::vector<End> ends) {
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.first < b.first; });
  rows_.push_back({now, free});
  for (const auto& [at, size] : ends) {
    if (at == Instant::Max()) break;
    if (rows_.back().from < at) rows_.push_back({at, rows_.back().free});
    rows_.back().free += size;
  }
}

Instant Outlook::Fit(const Resources& size, Duration run, Instant from) const {
  Instant start = Instant::Max();
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Instant until = i + 1 < rows_.size() ? rows_[i + 1].from : Instant::Max();
    if (until <= from) continue;
    if (!size.FitsIn(rows_[i].free)) {
      start = Instant::Max();
      continue;
    }
    start = std::min(start, std::max(rows_[i].from, from));
    if (until == Instant::Max() || until >= Later(start, run)) return start;
  }
  return Instant::Max();
}

void Outlook::Cut(Instant at) {
  const auto next =
      std::upper_bound(rows_.begin(), rows_.end(), at, [](Instant a, const Row& row) { return a < row.from; });
  const Row before = *(next - 1);
  if (before.from < at) rows_.insert(next, {at, before.free});
}

void Outlook::Take(Instant start, Duration run, const Resources& size) {
  const Instant until = Later(start, run);
  Cut(start);
  if (until != Instant::Max()) Cut(until);
  for (Row& row : rows_) {
    if (row.from >= start && row.from < until) row.free -= size;
  }
}

}  // namespace fairlead::scheduler::native

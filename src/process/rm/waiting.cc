#include "process/rm/waiting.h"

#include <utility>

namespace fairlead::process::rm {

void Waiting::Survey(const AppRows& rows, const Why& why) {
  size_t asked = 0;
  size_t seen = 0;
  const std::optional<model::AppIndex> stopped_at = rows.VisitFrom(next_, [&](const AppRow& row) {
    if (asked == kAppsATime || seen == kRowsATime) return false;
    ++seen;
    if (row.pending == 0) return true;
    ++asked;
    Told& told = told_[row.app.index];
    Count(std::exchange(told.counts, {}), -1);
    told.round = round_;
    for (const model::scheduler::Pending& pending : why(row)) told.counts[pending.reason] += pending.ask.count;
    Count(told.counts, 1);
    return true;
  });
  next_ = stopped_at.value_or(model::AppIndex{0});
  if (!stopped_at) EndRound();
}

void Waiting::Count(const Counts& of, int64_t sign) {
  for (const auto& [reason, count] : of) {
    if ((counts_[reason] += sign * count) == 0) counts_.erase(reason);
  }
}

/// Who was not asked in this round waits no more.
void Waiting::EndRound() {
  std::erase_if(told_, [this](const auto& one) {
    if (one.second.round == round_) return false;
    Count(one.second.counts, -1);
    return true;
  });
  ++round_;
}

}  // namespace fairlead::process::rm

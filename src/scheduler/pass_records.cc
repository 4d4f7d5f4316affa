#include "scheduler/pass_records.h"

#include <algorithm>
#include <utility>

namespace fairlead::scheduler {

static size_t ActivitiesOf(const NodePass& pass) {
  size_t count = 0;
  for (const PassAttempt& attempt : pass.attempts) count += attempt.activities.size();
  return count;
}

std::string_view EnumName(ActivityState state) {
  switch (state) {
    case ActivityState::kAccepted:
      return "ACCEPTED";
    case ActivityState::kSkipped:
      return "SKIPPED";
    case ActivityState::kRejected:
      return "REJECTED";
    case ActivityState::kAllocated:
      return "ALLOCATED";
    case ActivityState::kReserved:
      return "RESERVED";
    case ActivityState::kReReserved:
      return "RE_RESERVED";
  }
  return "?";
}

std::string_view EnumName(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kDefault:
      return "DEFAULT";
    case AttemptOutcome::kSkipped:
      return "SKIPPED";
    case AttemptOutcome::kAllocated:
      return "ALLOCATED";
    case AttemptOutcome::kAllocatedFromReserved:
      return "ALLOCATED_FROM_RESERVED";
    case AttemptOutcome::kReserved:
      return "RESERVED";
  }
  return "?";
}

void PassRecords::Watch(model::NodeIndex node) {
  if (watched_.size() < kMostWatched) watched_.insert(node);
}

const NodePass* PassRecords::Find(model::NodeIndex node, base::Instant now) const {
  const auto found =
      std::find_if(kept_.rbegin(), kept_.rend(), [node](const NodePass& pass) { return pass.node == node; });
  return found == kept_.rend() || now - found->when > kKeptFor ? nullptr : &*found;
}

std::vector<const NodePass*> PassRecords::After(uint64_t number) const {
  std::vector<const NodePass*> passes;
  for (const NodePass& pass : kept_) {
    if (pass.number > number) passes.push_back(&pass);
  }
  return passes;
}

bool PassRecords::Begin(model::NodeIndex node) {
  if (any_ == 0 && watched_.empty()) return false;
  const bool asked = watched_.erase(node) > 0;
  if (any_ == 0 && !asked) return false;
  open_.emplace().node = node;
  activities_ = 0;
  return true;
}

PassAttempt& PassRecords::Current() {
  std::vector<PassAttempt>& attempts = open_->attempts;
  if (attempts.empty() || attempts.back().outcome != AttemptOutcome::kDefault) attempts.emplace_back();
  return attempts.back();
}

void PassRecords::Add(Activity activity) {
  if (!open_ || ++activities_ > kMostActivities) return;
  Current().activities.push_back(std::move(activity));
}

void PassRecords::Finish(AttemptOutcome outcome, std::string container) {
  if (!open_ || activities_ > kMostActivities) return;
  PassAttempt& attempt = Current();
  attempt.outcome = outcome;
  attempt.container = std::move(container);
}

void PassRecords::End(base::Instant now, std::string partition) {
  if (!open_) return;
  open_->when = now;
  open_->partition = std::move(partition);
  if (!open_->attempts.empty()) {
    if (any_ > 0) --any_;
    open_->number = ++written_;
    last_ = *open_;
  }
  kept_activities_ += ActivitiesOf(*open_);
  kept_.push_back(*std::exchange(open_, std::nullopt));
  while (kept_.size() > kMostKept || kept_activities_ > kMostInAll) {
    kept_activities_ -= ActivitiesOf(kept_.front());
    kept_.pop_front();
  }
}

}  // namespace fairlead::scheduler

#include "process/rm/waiting_text.h"

#include <ctime>

namespace fairlead::process::rm {

using model::rm::AttemptState;
using model::scheduler::Pending;
using model::scheduler::PendingReason;

namespace {

constexpr base::Duration kKeptFor = base::Duration::Seconds(1);

/// "[Sat Nov 28 15:05:48 +0000 2026] "
std::string Stamp(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "[%a %b %d %H:%M:%S +0000 %Y] ", &parts));
}

constexpr char kInactive[] = "Application is added to the scheduler and is not yet activated. ";
constexpr char kActive[] = "Application is Activated, waiting for resources to be assigned for AM. ";

/// What CapacityScheduler says.
std::string CapacityText(PendingReason reason) {
  switch (reason) {
    case PendingReason::kMaxRunningApps:
      return kInactive;
    case PendingReason::kMasterShare:
      return std::string(kInactive) + "Queue's AM resource limit exceeded. ";
    case PendingReason::kNoNodes:
      return std::string(kInactive) + "Skipping AM assignment as cluster resource is empty. ";
    default:
      return kActive;
  }
}

/// What FairScheduler says.
std::string FairText(const fairlead::rm::App& app, const Pending& pending) {
  const auto limit = [](const std::string& whose) {
    return kInactive + whose + " has reached the maximum limit of runnable applications. ";
  };
  const auto request = [&pending](const char* what) {
    return std::string(kInactive) + " (Resource request: " + ToString(pending.ask.capability) + what;
  };
  switch (pending.reason) {
    case PendingReason::kUserLimit:
      return limit("The user \"" + app.submission.user + "\"");
    case PendingReason::kMaxRunningApps:
      return limit("The queue \"" + app.submission.queue + "\"");
    case PendingReason::kQueueMaximum:
      return request(" exceeds current queue or its parents maximum resource allowed). ");
    case PendingReason::kMasterShare:
      return request(" exceeds maximum AM resource allowed). ");
    case PendingReason::kClusterFull:
      return request(" exceeds the available resources of the node and the request cannot be reserved) ");
    default:
      return kInactive;
  }
}

}  // namespace

std::string WaitingText(const fairlead::rm::App& app, const std::vector<Pending>& why, const std::string& launch,
                        std::string_view scheduler, base::WallTime now) {
  const fairlead::rm::Attempt* attempt = app.current();
  if (attempt == nullptr) return "";
  if (attempt->state == AttemptState::kAllocatedSaving || attempt->state == AttemptState::kAllocated) {
    return Stamp(now) + "Scheduler has assigned a container for AM, waiting for AM container to be launched" +
           (launch.empty() ? "" : "; " + launch);
  }
  if (attempt->state != AttemptState::kSubmitted && attempt->state != AttemptState::kScheduled) return "";
  if (why.empty()) return Stamp(now) + kInactive;
  const Pending& first = why.front();
  std::string text =
      Stamp(now) + (scheduler == "CapacityScheduler" ? CapacityText(first.reason) : FairText(app, first));
  if (!first.detail.empty()) text += "Details : " + first.detail;
  if (!first.remedy.empty()) text += "; " + first.remedy;
  return text;
}

std::string WaitingTexts::Of(model::AppIndex app, base::Instant now, const Make& make) {
  if (now >= second_ + kKeptFor) {
    second_ = now;
    asked_ = 0;
  }
  const auto kept = told_.find(app);
  if (kept != told_.end() && (now < kept->second.at + kKeptFor || asked_ == kAsked)) return kept->second.text;
  if (asked_ == kAsked) return "";
  ++asked_;
  if (told_.size() == kKept) told_.clear();
  return (told_[app] = {now, make()}).text;
}

}  // namespace fairlead::process::rm

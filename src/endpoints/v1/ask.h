#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

/// Absent: nobody knows, or later than was looked.
struct Moment {
  std::optional<int64_t> p50_ms{}, p90_ms{};
  FL_DESCRIBED("Moment", (p50_ms, "after the moment that age_ms tells: in half of all cases it is by then"),
               (p90_ms, "in nine of ten cases"))
};
struct AskWhen {
  int32_t priority = 0;
  int64_t count = 0;
  Amount capability{};
  Moment first{}, all{};
  std::string reason{};

  FL_DESCRIBED("AskWhen", (priority, ""), (count, "containers"), (capability, "of each"), (first, "the first starts"),
               (all, "all have started"), (reason, "after whose container, and who comes first; or why nobody knows"))
};
/// How well estimates held since the manager began.
struct EstimatesHeld {
  int64_t estimates = 0, within_p90 = 0, close = 0;
  std::optional<double> median_error{};
  FL_DESCRIBED("EstimatesHeld", (estimates, "asks whose estimated start has come, or is overdue"),
               (within_p90, "of these, served by their p90"),
               (close, "served within a minute or a tenth of the wait of their p50"),
               (median_error,
                "half of the latest that were served were off their p50 by that part of the wait at most"))
};
/// When what an application waits for will start.
struct When {
  std::string id{};
  int64_t age_ms = 0, ahead_ms = 0;
  std::vector<AskWhen> asks{};
  EstimatesHeld held{};

  FL_DESCRIBED("When", (id, ""), (age_ms, "so long ago the cluster was looked at"), (ahead_ms, "so far was looked"),
               (asks, ""), (held, "how well the manager's estimates held"))
};

/// Of an application in one future. Times are from now on, and absent where that does not come.
struct Fate {
  std::optional<int64_t> first_ms{}, last_ms{}, end_ms{};
  int64_t taken = 0, lost = 0;

  FL_DESCRIBED("Fate", (first_ms, "it gets its first container"), (last_ms, "it gets its last container"),
               (end_ms, "it ends"), (taken, "containers that are preempted"), (lost, "containers that end before time"))
};
struct AppFates {
  std::string id{}, name{}, user{}, queue{};
  Fate before{}, after{};
  FL_DESCRIBED("AppFates", (id, ""), (name, ""), (user, ""), (queue, ""), (before, "without the change"),
               (after, "with it"))
};
struct QueueFates {
  std::string name{};
  int64_t apps_later = 0, apps_sooner = 0, apps_no_more = 0, mean_ms = 0, apps = 0;

  FL_DESCRIBED("QueueFates", (name, "of the queue, or of the user"), (apps_later, ""), (apps_sooner, ""),
               (apps_no_more, "of apps_later: those that do not end, or start, any more"),
               (mean_ms, "later; below 0: sooner; of those that differ by a second or more"), (apps, "all of it"))
};
/// A limit that somebody waits for.
struct BindingLimit {
  std::string queue{}, reason{};
  int64_t first_ms = 0;
  FL_DESCRIBED("BindingLimit", (queue, ""), (reason, "as a word"), (first_ms, "from now"))
};
/// The changed future beside the unchanged one.
struct WhatIf {
  int64_t for_s = 0;
  std::vector<std::string> sentences{};
  std::vector<AppFates> apps{};
  std::vector<QueueFates> queues{}, users{};
  std::vector<BindingLimit> limits{}, limits_no_more{};
  double used_before = 0, used_after = 0;
  int64_t containers = 0, unknown_run_times = 0, undecided = 0;

  FL_DESCRIBED("WhatIf",
               (for_s, "so far was looked; less than was wanted where more happens than a question may follow"),
               (sentences, "the answer"), (apps, "those that the caller may see and for which it makes a difference"),
               (queues, "with such applications"), (users, "likewise, of the applications that the caller may see"),
               (limits, "that bind with the change alone"), (limits_no_more, "that bind without the change alone"),
               (used_before, "of the cluster's memory, in the mean"),
               (used_after, "of the memory that it has with the change"),
               (containers, "that run now or start within the time, with the change"),
               (unknown_run_times, "of these: run on, as nobody knows how long they run"),
               (undecided, "applications that still wait at the end, with the change, while such containers run on"))
};

}  // namespace fairlead::endpoints::v1

#include "process/rm/queue_counters.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "model/exit_status.h"
#include "process/rm/reports.h"

namespace fairlead::process::rm {

namespace ms = model::scheduler;

bool CountsUsers(const fairlead::rm::Core& core) {
  const auto& capacity = core.config().queues.capacity;
  return !capacity || capacity->user_metrics;
}

std::map<QueueUser, QueueCounts> QueueCounters::by_user() const {
  std::map<QueueUser, QueueCounts> all;
  for (const auto& [user, counted] : by_user_) all.emplace_hint(all.end(), user, counted.counts);
  return all;
}

QueueCounts& QueueCounters::OfUser(const std::string& queue, const std::string& user) {
  const auto [place, fresh] = by_user_.try_emplace({queue, user});
  place->second.touched = ++touches_;
  if (!fresh || by_user_.size() <= kMostUsers) return place->second.counts;
  std::vector<uint64_t> touched;
  for (const auto& [name, counted] : by_user_) touched.push_back(counted.touched);
  const auto middle = touched.begin() + static_cast<std::ptrdiff_t>(touched.size() / 2);
  std::nth_element(touched.begin(), middle, touched.end());
  std::erase_if(by_user_, [&](const auto& entry) { return entry.second.touched < *middle; });
  return place->second.counts;
}

template <class Change>
void QueueCounters::Count(const fairlead::rm::Core& core, const fairlead::rm::App* app, Change change) {
  if (!app) return;
  const bool of_users = CountsUsers(core);
  std::string queue = FullQueueName(app->submission.queue);
  while (true) {
    change(by_queue_[queue]);
    if (of_users) change(OfUser(queue, app->submission.user));
    const size_t dot = queue.rfind('.');
    if (dot == std::string::npos) return;
    queue.resize(dot);
  }
}

void QueueCounters::Take(base::WallTime now, const fairlead::rm::Core& core, std::span<const ms::Effect> effects) {
  for (const ms::Effect& effect : effects) {
    if (const auto* grant = std::get_if<ms::Granted>(&effect)) {
      Count(core, core.AppAt(grant->app), [&](QueueCounts& sums) {
        ++sums.allocated;
        ++sums.by_locality[static_cast<size_t>(grant->locality)];
      });
    } else if (const auto* end = std::get_if<ms::Finished>(&effect)) {
      const fairlead::rm::Container* container = core.FindContainer(end->container);
      const bool taken = end->exit_status == model::kExitPreempted;
      Count(core, core.AppAt(end->app), [&](QueueCounts& sums) {
        ++sums.released;
        if (!taken) return;
        ++sums.preempted;
        if (!container) return;
        const int64_t seconds = std::max<int64_t>(now.ms - container->created.ms, 0) / 1000;
        sums.preempted_size += container->resources;
        sums.preempted_mib_seconds += container->resources.memory_mib() * seconds;
        sums.preempted_core_seconds += container->resources.vcores() * seconds;
      });
    }
  }
}

void QueueCounters::Take(const fairlead::rm::Core& core, const model::rm::StateChanged& change) {
  using enum model::rm::AppState;
  if (change.app.number == 0 || change.subject != ToString(change.app)) return;
  for (const auto& [state, count] :
       {std::pair(kFinished, &QueueCounts::completed), std::pair(kFailed, &QueueCounts::failed),
        std::pair(kKilled, &QueueCounts::killed)}) {
    if (change.to == EnumName(state))
      Count(core, core.FindApp(change.app), [&](QueueCounts& sums) { ++(sums.*count); });
  }
}

}  // namespace fairlead::process::rm

#include "process/rm/queue_counters.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "model/exit_status.h"
#include "process/rm/reports.h"

namespace fairlead::process::rm {

namespace ms = model::scheduler;

template <class Change>
void QueueCounters::Count(const fairlead::rm::App* app, Change change) {
  if (!app) return;
  std::string queue = FullQueueName(app->submission.queue);
  while (true) {
    change(by_queue_[queue]);
    const size_t dot = queue.rfind('.');
    if (dot == std::string::npos) return;
    queue.resize(dot);
  }
}

void QueueCounters::Take(base::WallTime now, const fairlead::rm::Core& core, std::span<const ms::Effect> effects) {
  for (const ms::Effect& effect : effects) {
    if (const auto* grant = std::get_if<ms::Granted>(&effect)) {
      Count(core.AppAt(grant->app), [&](QueueCounts& sums) {
        ++sums.allocated;
        if (!grant->is_master) ++sums.by_locality[static_cast<size_t>(grant->locality)];
      });
    } else if (const auto* end = std::get_if<ms::Finished>(&effect)) {
      const fairlead::rm::Container* container = core.FindContainer(end->container);
      const bool taken = end->exit_status == model::kExitPreempted;
      Count(core.AppAt(end->app), [&](QueueCounts& sums) {
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
    if (change.to == EnumName(state)) Count(core.FindApp(change.app), [&](QueueCounts& sums) { ++(sums.*count); });
  }
}

}  // namespace fairlead::process::rm

#include "process/rm/learning.h"

#include "process/ask/learned.h"
#include "rm/session_tags.h"

namespace fairlead::process::rm {

namespace {

/// Its master said so: what still runs then has done its work, as Spark's executors have.
bool Succeeded(const fairlead::rm::App& app) {
  return app.latest && app.latest->final_status == model::rm::FinalStatus::kSucceeded;
}

}  // namespace

void Learning::Take(base::Instant now, base::WallTime wall, const fairlead::rm::Core& core,
                    std::span<const model::scheduler::Effect> effects) {
  for (const model::scheduler::Effect& effect : effects) {
    const auto* finished = std::get_if<model::scheduler::Finished>(&effect);
    if (!finished) continue;
    const fairlead::rm::App* app = core.AppAt(finished->app);
    if (!app || (finished->exit_status != 0 && !Succeeded(*app))) continue;
    const fairlead::rm::Container* container = app->containers.Find(finished->container);
    if (!container || !container->launched) continue;
    // Whoever has it reads on what it was.
    if (times_.use_count() > 1) times_ = std::make_shared<scheduler::RunTimes>(*times_);
    const int32_t priority = container->is_master ? ask::kMasterPriority : container->priority;
    times_->Learn(
        {app->submission.user, fairlead::rm::KindOf(app->submission.name), priority, container->resources.amount},
        base::Duration::Millis(wall.ms - container->created.ms), now);
  }
}

}  // namespace fairlead::process::rm

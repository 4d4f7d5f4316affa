#include "process/rm/learning.h"

#include "base/stored.h"
#include "process/ask/learned.h"
#include "rm/session_tags.h"

namespace fairlead::process::rm {

namespace {

constexpr base::Duration kBetweenWrites = base::Duration::Seconds(60);
constexpr base::Duration kBetweenParts = base::Duration::Seconds(1);
constexpr size_t kRowsAtOnce = 64;

/// Its master said so: what still runs then has done its work, as Spark's executors have.
bool Succeeded(const fairlead::rm::App& app) {
  return app.current() && app.current()->final_status == model::rm::FinalStatus::kSucceeded;
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
    for (scheduler::Kind& kind : ask::KindsOf(app->submission.user, fairlead::rm::KindOf(app->submission.name),
                                              container->priority, container->is_master, container->resources)) {
      times_->Learn(kind, base::Duration::Millis(wall.ms - container->created.ms), now);
      changed_.insert(std::move(kind));
    }
    if (!timer_.waits()) timer_.After(kBetweenWrites, [this] { Keep(); });
  }
}

void Learning::Keep() {
  std::vector<env::Row> rows;
  while (!changed_.empty() && rows.size() < kRowsAtOnce) {
    const auto kind = changed_.extract(changed_.begin());
    const auto row = times_->RowOf(kind.value());  // nothing: it was given up for others
    if (row) rows.push_back({kTable, std::to_string(row->row), base::EncodeStored(*row)});
  }
  if (!rows.empty()) store_(std::move(rows), [] {});
  if (!changed_.empty()) timer_.After(kBetweenParts, [this] { Keep(); });
}

}  // namespace fairlead::process::rm

#include "engine/driver/progress.h"

#include <algorithm>

namespace fairlead::engine {

namespace mt = model::tasks;

Progress::Progress(env::Loop& loop, const process::driver::JobDriver& driver, std::FILE* out, bool terminal)
    : loop_(loop), driver_(driver), out_(out), terminal_(terminal) {
  Tick();
}

Progress::~Progress() = default;

void Progress::Tick() {
  timer_.After(terminal_ ? base::Duration::Millis(200) : base::Duration::Seconds(1), [this] { Tick(); });
  if (changed_) Print();
}

void Progress::OnEffect(const mt::Effect& effect) {
  if (const auto* submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    Stage& stage = stages_[submitted->stage];
    const int64_t done = stage.done;
    stage = Stage();
    stage.attempt = submitted->attempt;
    stage.tasks = static_cast<int64_t>(submitted->partitions.size());
    // A repeated attempt computes only what was lost.
    if (submitted->attempt > 0) stage.tasks = std::max(stage.tasks, done);
  } else if (const auto* launched = std::get_if<mt::LaunchTask>(&effect)) {
    ++stages_[launched->stage].running;
  } else if (const auto* ended = std::get_if<mt::TaskEnded>(&effect)) {
    Stage& stage = stages_[ended->stage];
    if (ended->kind == mt::EndKind::kResubmitted) {
      --stage.done;
    } else {
      --stage.running;
      ++(ended->kind == mt::EndKind::kSuccess ? stage.done : stage.failed);
    }
  } else if (const auto* completed = std::get_if<mt::StageCompleted>(&effect)) {
    stages_[completed->stage].ended = true;
    changed_ = true;
    if (stages_.size() > 1000) std::erase_if(stages_, [](const auto& entry) { return entry.second.ended; });
    return;
  } else {
    return;
  }
  changed_ = true;
}

float Progress::fraction() const {
  int64_t tasks = 0, done = 0;
  for (const auto& [id, stage] : stages_) {
    tasks += stage.tasks;
    done += std::min(stage.done, stage.tasks);
  }
  return tasks == 0 ? 0.0f : static_cast<float>(done) / static_cast<float>(tasks);
}

void Progress::Print() {
  changed_ = false;
  std::string line;
  const tasks::View view = driver_.core().GetView();
  for (const tasks::StageView& of : view.stages) {
    const auto found = stages_.find(of.stage);
    if (found == stages_.end() || of.state != tasks::StageView::State::kRunning) continue;
    const Stage& stage = found->second;
    if (!line.empty()) line += "   ";
    line += "stage " + std::to_string(of.stage) + " " + of.dataset_name.substr(0, 40) + ": " +
            std::to_string(stage.done) + "/" + std::to_string(stage.tasks);
    if (stage.running > 0) line += ", " + std::to_string(stage.running) + " running";
    if (stage.failed > 0) line += ", " + std::to_string(stage.failed) + " failed";
  }
  if (line.empty() || line == last_) return;
  last_ = line;
  std::fprintf(out_, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
  std::fflush(out_);
}

void Progress::Last() {
  timer_.Stop();
  Print();
  if (terminal_ && !last_.empty()) {
    std::fprintf(out_, "\r\x1b[K");
    std::fflush(out_);
  }
}

}  // namespace fairlead::engine

#include "engine/history/event_log.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/codec.h"
#include "engine/history/history_format.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace mt = model::tasks;

namespace {

/// Of one task, as an executor of the job counts it.
constexpr base::BudgetKind kMetricsKind = base::DecodedKind("a task's metrics", 1 << 20, 64);

constexpr size_t kFlushBytes = 256 << 10;

std::string WaitsText(const tasks::Config& config) {
  const auto text = [](base::Duration wait) { return history::DurationText(wait.ns / 1'000'000); };
  const tasks::LocalityConfig& locality = config.locality;
  std::string waits = "process " + text(locality.wait_process) + ", node " + text(locality.wait_node) + ", rack " +
                      text(locality.wait_rack);
  if (config.beyond.adaptive_delay) waits += ", at most what reading from afar takes";
  if (config.beyond.load_weight_milli > 0) {
    char weight[80];
    std::snprintf(weight, sizeof weight, "; not for a host that is busier by %.2f slots",
                  config.beyond.load_weight_milli / 1000.0);
    waits += weight;
  }
  return waits;
}

/// The best that a place can be.
mt::Level LevelOf(const mt::TaskLocation& place) {
  return place.kind == mt::TaskLocation::Kind::kHost ? mt::Level::kNodeLocal : mt::Level::kProcessLocal;
}

std::string PlaceText(const mt::TaskLocation& place) {
  switch (place.kind) {
    case mt::TaskLocation::Kind::kHost:
      return place.host;
    case mt::TaskLocation::Kind::kExecutor:
      return "executor " + place.executor + " on " + place.host;
    case mt::TaskLocation::Kind::kHdfsCache:
      return "HDFS's cache on " + place.host;
  }
  return {};
}
}  // namespace

EventLog::EventLog(env::Loop& loop, const process::driver::JobDriver& driver, const std::string& path,
                   const std::string& application, const std::string& program)
    : loop_(loop), driver_(driver), path_(path) {
  if (!path_.empty()) {
    try {
      file_ = CreateFile(path_);
    } catch (const TaskError& error) {
      std::fprintf(stderr, "no event log: %s\n", error.what());
    }
  }
  Say(history::ApplicationStarted{Now(), 1, application, program, WaitsText(driver_.core().config())});
  Flush();
  Tick();
}

EventLog::~EventLog() { Flush(); }

void EventLog::Tick() {
  timer_.After(base::Duration::Seconds(1), [this] { Tick(); });
  SaySums(false);
  Flush();
}

void EventLog::FlushSoon() {
  if (soon_timer_.waits()) return;
  soon_timer_.After(kFlushSoon, [this] {
    SaySums(false);
    Flush();
  });
}

void EventLog::Say(const history::Event& event) {
  history_.Apply(event);
  if (!file_.valid() || std::holds_alternative<history::TaskLaunched>(event)) return;
  if (const auto* task = std::get_if<history::TaskFinished>(&event); task && written_ + buffer_.size() > kBytesMax) {
    if (std::exchange(full_, true)) return;
    return Say(history::TasksOmitted{Now()});
  }
  buffer_ += history::ToLine(event);
  if (buffer_.size() >= kFlushBytes) Flush();
}

void EventLog::SaySums(bool all) {
  for (auto at = unsummed_.begin(); at != unsummed_.end();) {
    const auto stage = history_.stages().find(*at);
    if (stage == history_.stages().end() || (!all && stage->second.ended_ms == 0)) {
      ++at;
      continue;
    }
    at = unsummed_.erase(at);
    Say(Sum(history_, stage->second));
  }
}

void EventLog::Flush() {
  if (buffer_.empty() || !file_.valid()) return;
  try {
    WriteAll(file_.get(), path_, buffer_);
    written_ += buffer_.size();
  } catch (const TaskError& error) {
    std::fprintf(stderr, "the event log ends here: %s\n", error.what());
    file_ = FileDescriptor();
  }
  buffer_.clear();
}

std::string EventLog::End(const std::string& error, bool killed) {
  SaySums(true);
  Say(history::ApplicationEnded{Now(), error, killed});
  Flush();
  std::string text;
  for (const auto& [key, stage] : history_.stages()) {
    const int64_t bad = history_.Summarize(stage).bad_records;
    if (bad == 0) continue;
    text += "stage " + std::to_string(key.first) + " (" + stage.started.name + ") left out " + std::to_string(bad) +
            " bad records\n";
  }
  return text;
}

void EventLog::OnEvent(const mt::Event& event) {
  if (const auto* job = std::get_if<mt::SubmitJob>(&event)) {
    for (const mt::Dataset& dataset : job->datasets) dataset_names_[dataset.id] = dataset.name;
    Say(history::JobStarted{Now(), job->job, job->description, job->pool});
  } else if (const auto* added = std::get_if<mt::ExecutorAdded>(&event)) {
    executors_[added->executor.value] = {added->id, added->host};
    alive_[added->host].insert(added->id);
    Say(history::ExecutorJoined{Now(), added->id, added->host, added->slots, added->serves_own_files});
  } else if (const auto* lost = std::get_if<mt::ExecutorLost>(&event)) {
    loss_[lost->executor.value] = lost->message;
    const KnownExecutor& gone = executors_[lost->executor.value];
    alive_[gone.host].erase(gone.id);
    Say(history::ExecutorLeft{Now(), gone.id, lost->message});
  } else if (const auto* forgotten = std::get_if<mt::ForgetDatasets>(&event)) {
    for (const mt::DatasetId dataset : forgotten->datasets) dataset_names_.erase(dataset);
    for (const mt::ShuffleId shuffle : forgotten->shuffles) writers_.erase(shuffle);
  }
}

void EventLog::OnTaskDone(const wire::engine::TaskDone& done) {
  base::Budget budget(kMetricsKind, done.metrics.size());
  base::ByteReader in(done.metrics, budget);
  base::Decode(in, outcomes_[done.task].metrics);
}

void EventLog::OnTaskBroke(const wire::engine::TaskBroke& broke) { outcomes_[broke.task].reason = broke.message; }

void EventLog::OnMerged(const process::driver::MergeResult& result) {
  const auto writer = writers_.find(result.shuffle);
  if (writer == writers_.end()) return;
  unsummed_.insert(writer->second);
  Say(history::ShuffleMerged{Now(), writer->second.first, writer->second.second, result.blocks, result.merged,
                             result.bytes, static_cast<int32_t>(result.services.size())});
}

void EventLog::On(const mt::StageSubmitted& stage) {
  if (stage.shuffle >= 0) writers_[stage.shuffle] = {stage.stage, stage.attempt};
  Say(history::StageStarted{Now(), stage.stage, stage.attempt, stage.job, dataset_names_[stage.dataset],
                            static_cast<int32_t>(stage.partitions.size()), stage.shuffle >= 0, stage.parents});
}

void EventLog::On(const mt::LaunchTask& launch) {
  history::TaskLaunched& task = tasks_[launch.task] = {Now(),
                                                       launch.task,
                                                       launch.stage,
                                                       launch.stage_attempt,
                                                       launch.partition,
                                                       launch.attempt,
                                                       executors_[launch.executor.value].id,
                                                       std::string(EnumName(launch.level)),
                                                       launch.speculative,
                                                       {},
                                                       {}};
  SayWhyNotCloser(launch, task);
  Say(task);
}

bool EventLog::HasExecutor(const mt::TaskLocation& place) const {
  const auto found = alive_.find(place.host);
  if (found == alive_.end() || found->second.empty()) return false;
  return place.kind != mt::TaskLocation::Kind::kExecutor || found->second.contains(place.executor);
}

void EventLog::SayWhyNotCloser(const mt::LaunchTask& launch, history::TaskLaunched& task) const {
  if (launch.level == mt::Level::kProcessLocal) return;
  bool there = false;
  for (const mt::TaskLocation& place : driver_.core().PlacesOf(launch.stage, launch.stage_attempt, launch.index)) {
    if (LevelOf(place) >= launch.level) continue;
    task.wanted += (task.wanted.empty() ? "" : ", ") + PlaceText(place);
    there = there || HasExecutor(place);
  }
  if (task.wanted.empty()) return;
  task.why = launch.speculative         ? "a copy of a slow task"
             : launch.for_load && there ? "there, but its host is busier"
             : there                    ? "busy there, and the wait was over"
                                        : "no executor there";
}

void EventLog::On(const mt::TaskEnded& end) {
  unsummed_.emplace(end.stage, end.stage_attempt);
  if (end.kind == mt::EndKind::kResubmitted) return Say(history::OutputLost{Now(), end.stage, end.stage_attempt});
  const auto task = tasks_.find(end.task);
  if (task == tasks_.end()) return;
  history::TaskFinished finished;
  finished.launch = std::move(task->second);
  tasks_.erase(task);
  finished.at_ms = Now();
  finished.end = EnumName(end.kind);
  if (const auto outcome = outcomes_.find(end.task); outcome != outcomes_.end()) {
    finished.reason = std::move(outcome->second.reason);
    finished.metrics = outcome->second.metrics;
    outcomes_.erase(outcome);
  } else if (end.kind != mt::EndKind::kSuccess) {
    finished.reason = loss_[end.executor.value];
  }
  Say(finished);
}

void EventLog::OnEffect(const mt::Effect& effect) {
  if (const auto* submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    On(*submitted);
  } else if (const auto* launch = std::get_if<mt::LaunchTask>(&effect)) {
    On(*launch);
  } else if (const auto* batch = std::get_if<mt::LaunchBatch>(&effect)) {
    for (const mt::LaunchTask& task : batch->tasks) On(task);
  } else if (const auto* ended = std::get_if<mt::TaskEnded>(&effect)) {
    On(*ended);
  } else if (const auto* completed = std::get_if<mt::StageCompleted>(&effect)) {
    unsummed_.emplace(completed->stage, completed->attempt);
    Say(history::StageFinished{Now(), completed->stage, completed->attempt, completed->failure});
    FlushSoon();
  } else if (const auto* end = std::get_if<mt::JobEnded>(&effect)) {
    Say(history::JobFinished{Now(), end->job, end->succeeded ? "" : end->error.empty() ? "cancelled" : end->error});
    FlushSoon();
  } else if (const auto* rejected = std::get_if<mt::JobRejected>(&effect)) {
    Say(history::JobFinished{Now(), rejected->job, rejected->error});
    FlushSoon();
  }
}

}  // namespace fairlead::engine

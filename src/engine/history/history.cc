#include "engine/history/history.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <utility>

#include "base/codec.h"

namespace fairlead::engine::history {

namespace {

constexpr int64_t kSkewTimes = 3;
constexpr int64_t kSlowExecutorTimes = 2;
constexpr size_t kSlowExecutorTasks = 3;
constexpr int64_t kSlowMs = 100;
constexpr int64_t kLargeBytes = 1 << 20;

Quantiles QuantilesOf(const std::vector<const TaskRow*>& tasks, const std::function<int64_t(const TaskRow&)>& value) {
  std::vector<int64_t> values;
  values.reserve(tasks.size());
  for (const TaskRow* task : tasks) values.push_back(value(*task));
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](size_t percent) { return values[std::min(values.size() * percent / 100, values.size() - 1)]; };
  return {at(0), at(25), at(50), at(75), at(100)};
}

int64_t SkewPercent(const Quantiles& of) { return of.median <= 0 ? 0 : of.max * 100 / of.median; }

int64_t ReadBy(const TaskRow& task) {
  return task.metrics.bytes_read + task.metrics.shuffle_bytes_local + task.metrics.shuffle_bytes_remote;
}

/// A median of 0 is far below anything that counts.
bool Stands(int64_t value, int64_t median, int64_t counts) { return value >= counts && value >= kSkewTimes * median; }

/// Positions of executors that were slow with all their tasks.
std::vector<uint32_t> SlowExecutors(const std::vector<const TaskRow*>& tasks, int64_t median_ms) {
  std::map<uint32_t, std::vector<const TaskRow*>> by_executor;
  for (const TaskRow* task : tasks) by_executor[task->executor].push_back(task);
  std::vector<uint32_t> slow;
  for (const auto& [executor, own] : by_executor) {
    const int64_t own_ms = QuantilesOf(own, [](const TaskRow& task) { return task.duration_ms(); }).median;
    if (own.size() >= kSlowExecutorTasks && own_ms >= kSlowMs && own_ms >= kSlowExecutorTimes * median_ms)
      slow.push_back(executor);
  }
  return slow;
}

}  // namespace

StageSummary History::Summarize(const StageRow& stage) const {
  if (stage.dropped) return *stage.dropped;
  StageSummary sum;
  AddMerged(stage.merged, sum);
  std::vector<const TaskRow*> good;
  for (const TaskRow& task : stage.tasks) {
    ++sum.levels[task.level];
    if (!task.why.empty()) ++sum.away[task.why];
    sum.speculative += task.speculative ? 1 : 0;
    if (task.ended_ms == 0) continue;
    if (!task.succeeded()) {
      ++(task.taken_back() ? sum.taken_back : sum.failed);
      continue;
    }
    good.push_back(&task);
    const TaskMetrics& of = task.metrics;
    sum.input_bytes += of.bytes_read;
    sum.output_bytes += of.bytes_written;
    sum.shuffle_read_bytes += of.shuffle_bytes_local + of.shuffle_bytes_remote;
    sum.shuffle_written_bytes += of.shuffle_bytes_written;
    sum.spilled_bytes += of.spilled_bytes;
    sum.records_read += of.records_read + of.shuffle_records_read;
    sum.bad_records += of.bad_records;
    sum.cached_read += of.cached_read;
    sum.cached_fetched += of.cached_fetched;
    sum.cached_bytes_fetched += of.cached_bytes_fetched;
    sum.cached_made += of.cached_made;
    sum.blocks_read_merged += of.blocks_read_merged;
    sum.blocks_read_single += of.blocks_read_single;
    sum.merged_fallbacks += of.merged_fallbacks;
    sum.peak_memory = std::max(sum.peak_memory, of.peak_memory);
  }
  sum.succeeded = static_cast<int64_t>(good.size());
  sum.duration_ms = QuantilesOf(good, [](const TaskRow& task) { return task.duration_ms(); });
  sum.fetch_wait_ms = QuantilesOf(good, [](const TaskRow& task) { return task.metrics.fetch_wait_ns / 1'000'000; });
  sum.read_bytes = QuantilesOf(good, ReadBy);
  sum.written_bytes = QuantilesOf(
      good, [](const TaskRow& task) { return task.metrics.bytes_written + task.metrics.shuffle_bytes_written; });
  sum.spill_bytes = QuantilesOf(good, [](const TaskRow& task) { return task.metrics.spilled_bytes; });
  sum.duration_skew_percent = SkewPercent(sum.duration_ms);
  sum.input_skew_percent = SkewPercent(sum.read_bytes);
  for (const TaskRow* task : good) {
    if (Stands(task->duration_ms(), sum.duration_ms.median, kSlowMs)) ++sum.slow_tasks;
    if (Stands(ReadBy(*task), sum.read_bytes.median, kLargeBytes)) ++sum.large_reads;
    if (task->metrics.spilled_bytes > 0) ++sum.spilling_tasks;
  }
  for (const uint32_t executor : SlowExecutors(good, sum.duration_ms.median))
    sum.slow_executors.push_back(executors_[executor].joined.executor);
  return sum;
}

void History::Apply(const Event& event) {
  std::visit(
      [this](const auto& one) {
        now_ms_ = std::max(now_ms_, one.at_ms);
        On(one);
      },
      event);
}

std::string History::state() const {
  if (!ended_) return "running";
  return ended_->killed ? "killed" : ended_->error.empty() ? "done" : "failed";
}

std::string History::StateOf(int64_t ended_ms, const std::string& error) const {
  if (ended_ms == 0) return ended_ ? "not ended" : "running";
  return error.empty() ? "done" : "failed";
}

uint32_t History::ExecutorAt(const std::string& id) {
  const auto [found, fresh] = executor_at_.emplace(id, static_cast<uint32_t>(executors_.size()));
  if (fresh) {
    executors_.emplace_back();
    executors_.back().joined.executor = id;
  }
  return found->second;
}

void History::On(const ExecutorJoined& event) { executors_[ExecutorAt(event.executor)].joined = event; }

void History::On(const ExecutorLeft& event) {
  ExecutorRow& executor = executors_[ExecutorAt(event.executor)];
  executor.left_ms = event.at_ms;
  executor.reason = event.reason;
}

void History::On(const JobFinished& event) {
  JobRow& job = jobs_[event.job];
  job.ended_ms = event.at_ms;
  job.error = event.error;
}

StageRow* History::Find(int32_t stage, int32_t attempt) {
  const auto found = stages_.find({stage, attempt});
  return found == stages_.end() ? nullptr : &found->second;
}

void History::On(const StageStarted& event) { stages_[{event.stage, event.attempt}].started = event; }

void History::On(const StageFinished& event) {
  StageRow* const stage = Find(event.stage, event.attempt);
  if (stage == nullptr) return;
  stage->ended_ms = event.at_ms;
  stage->failure = event.failure;
  finished_.emplace_back(event.stage, event.attempt);
  DropOldTasks();
}

void History::On(const TaskLaunched& event) {
  StageRow* const stage = Find(event.stage, event.stage_attempt);
  if (stage == nullptr || stage->dropped) return;
  ++stage->running;
  stage->at[event.task] = stage->tasks.size();
  TaskRow row;
  row.task = event.task;
  row.partition = event.partition;
  row.attempt = event.attempt;
  row.executor = ExecutorAt(event.executor);
  row.launched_ms = event.at_ms;
  row.level = event.level;
  row.speculative = event.speculative;
  row.wanted = event.wanted;
  row.why = event.why;
  stage->tasks.push_back(std::move(row));
  ++rows_;
}

void History::On(const TaskFinished& event) {
  StageRow* const stage = Find(event.launch.stage, event.launch.stage_attempt);
  if (stage == nullptr) return;
  ++(event.end == "success" ? stage->done : stage->failed);
  if (stage->dropped) return;
  auto known = stage->at.find(event.launch.task);
  if (known == stage->at.end()) {  // from a log, which has no launches
    On(event.launch);
    known = stage->at.find(event.launch.task);
  }
  TaskRow& row = stage->tasks[known->second];
  stage->at.erase(known);
  --stage->running;
  row.ended_ms = event.at_ms;
  row.end = event.end;
  row.reason = event.reason;
  row.metrics = event.metrics;
}

void History::AddMerged(const ShuffleMerged& merged, StageSummary& sum) {
  sum.blocks_written = merged.blocks;
  sum.blocks_merged = merged.merged;
  sum.bytes_merged = merged.bytes;
  sum.merging_services = merged.services;
}

/// Comes after the stage's end, whose rows may be gone by then.
void History::On(const ShuffleMerged& event) {
  StageRow* const stage = Find(event.stage, event.attempt);
  if (stage == nullptr) return;
  stage->merged = event;
  if (stage->dropped) AddMerged(event, *stage->dropped);
}

void History::On(const OutputLost& event) {
  if (StageRow* const stage = Find(event.stage, event.stage_attempt)) --stage->done;
}

void History::DropOldTasks() {
  while (rows_ > kTasksMax && finished_.size() > 1) {
    StageRow& stage = stages_.at(finished_.front());
    finished_.pop_front();
    if (!stage.dropped) Drop(stage, Summarize(stage));
  }
}

void History::Drop(StageRow& stage, StageSummary summary) {
  stage.dropped = std::move(summary);
  rows_ -= stage.tasks.size();
  stage.tasks = {};
  stage.at.clear();
  stage.running = 0;  // their ends are not looked for any more
}

void History::On(const StageSummed& event) {
  StageRow* const stage = Find(event.stage, event.attempt);
  if (stage == nullptr || !tasks_omitted_) return;  // the rows tell it
  stage->done = event.done;
  stage->failed = event.failed;
  Drop(*stage, event.summary);
}

std::string_view WholeLines(std::string_view text) {
  const size_t last = text.rfind('\n') + 1;
  return last < text.size() && ParseLine(text.substr(last)).ok() ? text : text.substr(0, last);
}

base::Result<History> ReadLog(std::string_view text) {
  History history;
  text = WholeLines(text);
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const base::Result<std::optional<Event>> event = ParseLine(text.substr(0, end));
    if (!event) return base::Error{"line " + std::to_string(number) + ": " + event.error().message};
    if (number == 1 && !(*event && std::holds_alternative<ApplicationStarted>(**event))) {
      return base::Error{"line 1 does not start an application: no event log"};
    }
    if (*event) history.Apply(**event);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (history.application().id.empty()) return base::Error{"no whole line: no event log"};
  return history;
}

}  // namespace fairlead::engine::history

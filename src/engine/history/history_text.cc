#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/text.h"
#include "engine/history/history.h"
#include "engine/history/history_format.h"

namespace fairlead::engine::history {

std::string DurationText(int64_t ms) {
  char text[48];
  if (ms < 1000) {
    std::snprintf(text, sizeof text, "%lld ms", static_cast<long long>(ms));
  } else if (ms < 60'000) {
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ms) / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%lld min %02lld s", static_cast<long long>(ms / 60'000),
                  static_cast<long long>(ms / 1000 % 60));
  }
  return text;
}

std::string BytesText(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes == 0) return "0";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string TimeText(int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[48];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

namespace {

// What --json and the page's history.json print.
struct ExecutorJson {
  std::string id;
  std::string host;
  int32_t slots = 0;
  int64_t joined_ms = 0;
  int64_t left_ms = 0;
  std::string reason;
  FL_FIELDS(id, host, slots, joined_ms, left_ms, reason)
};
struct StageJson {
  int32_t stage = 0;
  int32_t attempt = 0;
  int32_t job = 0;
  std::string name;
  std::string state;
  int32_t tasks = 0;
  int64_t done = 0;
  int64_t running = 0;
  int64_t failed = 0;
  std::vector<int32_t> parents;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  std::string failure;
  bool skewed = false;
  StageSummary summary;
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  FL_FIELDS(stage, attempt, job, name, state, tasks, done, running, failed, parents, started_ms, ended_ms, failure,
            skewed, summary, findings, notes)
};
struct JobJson {
  int32_t job = 0;
  std::string description;
  std::string state;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  std::string error;
  std::string pool;
  FL_FIELDS(job, description, state, started_ms, ended_ms, error, pool)
};
struct HistoryJson {
  std::string id;
  std::string program;
  std::string state;
  std::string error;
  std::string locality_waits;
  int64_t started_ms = 0;
  int64_t now_ms = 0;
  bool tasks_omitted = false;
  std::vector<ExecutorJson> executors;
  std::vector<JobJson> jobs;
  std::vector<StageJson> stages;
  FL_FIELDS(id, program, state, error, locality_waits, started_ms, now_ms, tasks_omitted, executors, jobs, stages)
};

struct RunningTask {
  int32_t stage = 0;
  int32_t stage_attempt = 0;
  int64_t task = 0;
  int32_t partition = 0;
  int32_t attempt = 0;
  std::string executor;
  int64_t at_ms = 0;
  std::string level;
  bool speculative = false;
  std::string wanted;
  std::string why;
  FL_FIELDS(stage, stage_attempt, task, partition, attempt, executor, at_ms, level, speculative, wanted, why)
};
struct RunningJson {
  int64_t total = 0;
  std::vector<RunningTask> tasks;
  std::vector<StageSummed> stages;
  FL_FIELDS(total, tasks, stages)
};

HistoryJson Collect(const History& history) {
  HistoryJson out;
  out.id = history.application().id;
  out.program = history.application().program;
  out.locality_waits = history.application().locality_waits;
  out.started_ms = history.application().at_ms;
  out.now_ms = history.now_ms();
  out.error = history.ended() ? history.ended()->error : "";
  out.state = history.state();
  out.tasks_omitted = history.tasks_omitted();
  for (const ExecutorRow& row : history.executors()) {
    out.executors.push_back(
        {row.joined.executor, row.joined.host, row.joined.slots, row.joined.at_ms, row.left_ms, row.reason});
  }
  for (const auto& [id, row] : history.jobs()) {
    out.jobs.push_back({id, row.started.description, history.StateOf(row.ended_ms, row.error), row.started.at_ms,
                        row.ended_ms, row.error, row.started.pool});
  }
  for (const auto& [key, row] : history.stages()) {
    StageSummed sum = Sum(history, row);
    const bool skewed = sum.summary.skewed();
    out.stages.push_back({key.first, key.second, row.started.job, row.started.name,
                          history.StateOf(row.ended_ms, row.failure), row.started.tasks, row.done, row.running,
                          sum.summary.failed, row.started.parents, row.started.at_ms, row.ended_ms, row.failure, skewed,
                          std::move(sum.summary), std::move(sum.findings), std::move(sum.notes)});
  }
  return out;
}

/// At least one space stands behind it.
std::string Pad(std::string text, size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

std::string StageLine(const StageJson& stage) {
  const StageSummary& sum = stage.summary;
  std::string line = "  stage " + std::to_string(stage.stage);
  if (stage.attempt > 0) line += "." + std::to_string(stage.attempt);
  line =
      Pad(line, 12) + Pad(stage.name.substr(0, 34), 36) + Pad(stage.state, 10) +
      Pad(std::to_string(stage.done) + "/" + std::to_string(stage.tasks) +
              (stage.running > 0 ? " +" + std::to_string(stage.running) + " run" : ""),
          14) +
      Pad(stage.done == 0 ? "-" : DurationText(sum.duration_ms.median) + " / " + DurationText(sum.duration_ms.max), 20);
  line += "read " + BytesText(sum.input_bytes + sum.shuffle_read_bytes) + ", wrote " +
          BytesText(sum.output_bytes + sum.shuffle_written_bytes);
  if (sum.levels.size() > 1 || !sum.levels.contains("NO_PREF")) {
    for (const auto& [level, count] : sum.levels) line += ", " + std::to_string(count) + " " + level;
  }
  for (const Finding& finding : stage.findings) line += "\n      " + finding.text;
  for (const std::string& note : stage.notes) line += "\n      " + note;
  return line + "\n";
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Errors with the diagnostics of a container have many lines: whole once, then by their first line.
class Errors {
 public:
  std::string Line(const std::string& indent, const std::string& error) {
    if (error.empty()) return "";
    const bool told =
        std::ranges::any_of(told_, [&](const std::string& one) { return one.find(error) != std::string::npos; });
    if (!told) told_.push_back(error);
    return indent + (told ? FirstLine(error) : error) + "\n";
  }

 private:
  std::vector<std::string> told_;
};

std::string CachedText(const StageSummary& sum) {
  std::string text;
  const auto add = [&text](int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "cached partitions: " : ", ") + std::to_string(count) + " " + what;
  };
  add(sum.cached_read, "read where they are kept");
  add(sum.cached_fetched, "fetched from other executors (" + BytesText(sum.cached_bytes_fetched) + ")");
  add(sum.cached_made, "made");
  return text;
}

std::string MergedText(const StageSummary& sum) {
  std::string text;
  if (sum.blocks_written > 0) {
    text = "merged: " + std::to_string(sum.blocks_merged) + " of " + std::to_string(sum.blocks_written) +
           " blocks written, " + BytesText(sum.bytes_merged) + ", by " + base::Counted(sum.merging_services, "service");
  }
  if (sum.blocks_read_merged + sum.blocks_read_single > 0) {
    text += (text.empty() ? "merged: " : "; ") + std::to_string(sum.blocks_read_merged) + " of " +
            std::to_string(sum.blocks_read_merged + sum.blocks_read_single) + " blocks read";
  }
  if (sum.merged_fallbacks > 0) {
    text += ", " + std::to_string(sum.merged_fallbacks) + " of the others because merged ones could not be had";
  }
  return text;
}

}  // namespace

std::vector<std::string> NotesOf(const StageSummary& sum) {
  std::vector<std::string> notes;
  for (std::string text : {CachedText(sum), MergedText(sum)}) {
    if (!text.empty()) notes.push_back(std::move(text));
  }
  return notes;
}

StageSummed Sum(const History& history, const StageRow& stage) {
  StageSummary summary = history.Summarize(stage);
  std::vector<Finding> findings = FindingsOf(summary);
  std::vector<std::string> notes = NotesOf(summary);
  return {history.now_ms(), stage.started.stage, stage.started.attempt, stage.done,
          stage.failed,     std::move(summary),  std::move(findings),   std::move(notes)};
}

std::string SumLines(const History& history) {
  std::string lines;
  for (const auto& [key, stage] : history.stages()) lines += ToLine(Sum(history, stage));
  return lines;
}

std::vector<Finding> FindingsOf(const StageSummary& sum) {
  std::vector<Finding> found;
  const auto add = [&found](const char* kind, int64_t count, const std::string& text) {
    if (count > 0) found.push_back({kind, count, text});
  };
  const auto tasks = [](int64_t count) { return base::Counted(count, "task"); };
  const auto beyond = [](const std::string& largest, const std::string& median) {
    return "up to " + largest + ", the median is " + median;
  };
  add("slow tasks", sum.slow_tasks,
      tasks(sum.slow_tasks) + " took " +
          beyond(DurationText(sum.duration_ms.max), DurationText(sum.duration_ms.median)));
  add("large reads", sum.large_reads,
      tasks(sum.large_reads) + " read " + beyond(BytesText(sum.read_bytes.max), BytesText(sum.read_bytes.median)) +
          ": keys that are far more frequent, or files that cannot be split");
  add("spilling tasks", sum.spilling_tasks,
      tasks(sum.spilling_tasks) + " spilled " + BytesText(sum.spilled_bytes) + ": more partitions or memory");
  for (const std::string& executor : sum.slow_executors)
    add("slow executor", 1, "executor " + executor + " took twice the median or more: its node may be busy");
  add("failed attempts", sum.failed, base::Counted(sum.failed, "attempt") + " failed");
  add("attempts taken back", sum.taken_back, base::Counted(sum.taken_back, "attempt") + " taken back");
  add("bad records", sum.bad_records, base::Counted(sum.bad_records, "bad record") + " left out");
  add("second tries", sum.speculative, tasks(sum.speculative) + " run a second time beside the first");
  for (const auto& [why, count] : sum.away)
    add("away from data", count, tasks(count) + " away from their data: " + why);
  return found;
}

std::string ToJson(const History& history) {
  std::string out;
  base::ToJson(out, Collect(history));
  return out;
}

std::string JsonSchema(base::JsonSchemas& schemas) { return schemas.Of<HistoryJson>(); }

std::string RunningToJson(const History& history) {
  RunningJson out;
  for (const auto& [key, row] : history.stages()) {
    if (row.ended_ms == 0) out.stages.push_back(Sum(history, row));
    for (const auto& [id, at] : row.at) {
      const TaskRow& task = row.tasks[at];
      out.tasks.push_back({key.first, key.second, id, task.partition, task.attempt,
                           history.executors()[task.executor].joined.executor, task.launched_ms, task.level,
                           task.speculative, task.wanted, task.why});
    }
  }
  out.total = static_cast<int64_t>(out.tasks.size());
  std::sort(out.tasks.begin(), out.tasks.end(), [](const RunningTask& a, const RunningTask& b) {
    return std::pair(a.at_ms, a.task) < std::pair(b.at_ms, b.task);
  });
  if (out.tasks.size() > kRunningShown) out.tasks.resize(kRunningShown);
  std::string text;
  base::ToJson(text, out);
  return text;
}

std::string ToText(const History& history) {
  const HistoryJson all = Collect(history);
  std::string out = all.id + " (" + all.program + "): " + all.state + ", began " + TimeText(all.started_ms) + " UTC, " +
                    (history.ended() ? "took " : "last heard of after ") + DurationText(all.now_ms - all.started_ms) +
                    "\n";
  Errors errors;
  out += errors.Line("  ", all.error);
  if (!all.locality_waits.empty()) out += "  waits for places near the data: " + all.locality_waits + "\n";
  if (all.tasks_omitted)
    out +=
        "  the log reached its bound: the last tasks are not in it one by one; sums of stages that ended are of all\n";
  for (const ExecutorJson& executor : all.executors) {
    out += "  executor " + executor.id + " on " + executor.host + ", " + base::Counted(executor.slots, "slot");
    if (executor.left_ms != 0) out += ", left: " + FirstLine(executor.reason);
    out += "\n";
  }
  for (const JobJson& job : all.jobs) {
    out += "job " + std::to_string(job.job) + " " + job.description;
    if (!job.pool.empty()) out += " (pool " + job.pool + ")";
    out += ": " + job.state;
    if (job.ended_ms != 0) out += " after " + DurationText(job.ended_ms - job.started_ms);
    out += "\n";
    out += errors.Line("      ", job.error);
    bool head = true;
    for (const StageJson& stage : all.stages) {
      if (stage.job != job.job) continue;
      if (head) out += Pad("", 12) + Pad("", 36) + Pad("", 10) + Pad("tasks", 14) + "median / slowest\n";
      head = false;
      out += StageLine(stage) + errors.Line("      ", stage.failure);
    }
  }
  return out;
}

}  // namespace fairlead::engine::history

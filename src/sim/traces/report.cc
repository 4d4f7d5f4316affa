#include "sim/traces/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "report/words.h"
#include "sim/traces/page.h"

namespace fairlead::sim {

using report::NumberText;
using report::PercentText;

namespace {

/// What is the mean of nothing, and the like, is not a number: "-" in its row, and never best.
double OfAny(int64_t count, double value) { return count > 0 ? value : std::numeric_limits<double>::quiet_NaN(); }

/// A row of numbers; the smallest (or largest) is best, but none of a run in which no job ended.
report::Table::Row Row(const std::string& name, const std::vector<RunResult>& runs, bool small_is_best,
                       const std::function<double(const RunResult&)>& value,
                       const std::function<std::string(double)>& text) {
  report::Table::Row row{{name}};
  double best = 0;
  bool differ = false;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double one = value(runs[i]);
    row.cells.push_back(std::isnan(one) ? "-" : text(one));
    differ |= row.cells.back() != row.cells[1];
    if (runs[i].jobs == 0 || std::isnan(one)) continue;
    if (row.best > 0 && (small_is_best ? one >= best : one <= best)) continue;
    best = one;
    row.best = static_cast<int>(i) + 1;
  }
  if (!differ) row.best = -1;
  return row;
}

nlohmann::ordered_json SizesOf(const RunResult& run) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const SizeClass& size : run.sizes) {
    sizes.push_back({{"tasks", size.name},
                     {"jobs", size.jobs},
                     {"meanSlowdown", size.mean_slowdown},
                     {"medianSlowdown", size.median_slowdown},
                     {"p99Slowdown", size.p99_slowdown},
                     {"longestWaitSeconds", static_cast<double>(size.longest_wait_ms) / 1000}});
  }
  return sizes;
}

nlohmann::ordered_json JsonOf(const RunResult& run, const std::vector<std::string>& sentences) {
  nlohmann::ordered_json queues = nlohmann::ordered_json::array();
  for (size_t q = 0; q < run.queues.size(); ++q) {
    const QueueResult& queue = run.queue_results[q];
    queues.push_back({{"queue", run.queues[q]},
                      {"jobs", queue.jobs},
                      {"meanSlowdown", queue.mean_slowdown},
                      {"p99Slowdown", queue.p99_slowdown},
                      {"meanShare", queue.mean_share},
                      {"longestShortSeconds", static_cast<double>(queue.longest_short_ms) / 1000}});
  }
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const Sample& sample : run.samples) {
    samples.push_back({{"seconds", static_cast<double>(sample.at_ms) / 1000},
                       {"cpu", sample.cpu},
                       {"memory", sample.memory},
                       {"jain", sample.jain},
                       {"share", sample.share},
                       {"entitled", sample.wanted}});
  }
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(run.decisions));
  return {{"profile", run.profile},
          {"wishes", run.wishes},
          {"trace", run.trace},
          {"seed", run.seed},
          {"nodes", run.nodes},
          {"clusterMemoryMib", run.cluster.memory_mib()},
          {"clusterVcores", run.cluster.vcores()},
          {"jobs", run.jobs},
          {"rejected", run.rejected},
          {"unfinished", run.unfinished},
          {"problem", run.first_problem},
          {"tasks", run.tasks},
          {"grants", run.grants},
          {"makespanSeconds", static_cast<double>(run.makespan_ms) / 1000},
          {"meanSlowdown", run.mean_slowdown},
          {"p99Slowdown", run.p99_slowdown},
          {"sizes", SizesOf(run)},
          {"nodeLocal", run.node_local},
          {"rackLocal", run.rack_local},
          {"offSwitch", run.off_switch},
          {"jain", run.jain},
          {"cpuUsed", run.cpu},
          {"memoryUsed", run.memory},
          {"lostContainers", run.lost_containers},
          {"preempted", run.preempted},
          {"outOfMemory", run.out_of_memory},
          {"lostContainerSeconds", run.lost_seconds},
          {"doneContainerSeconds", run.work_seconds},
          {"steps", run.steps},
          {"decisions", hash},
          {"realSeconds", run.real_seconds},
          {"queueResults", queues},
          {"queues", run.queues},
          {"samples", samples},
          {"sentences", sentences}};
}

/// Quoted when a spreadsheet would take it apart or for a formula.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos &&
      (text.empty() || std::string("=+-@").find(text[0]) == std::string::npos)) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string SlowdownFigure(const std::vector<RunResult>& runs) {
  std::vector<Distribution> lines;
  for (const RunResult& run : runs) {
    lines.push_back({run.profile, {}});
    for (const JobResult& job : run.job_results) lines.back().values.push_back(job.slowdown);
  }
  const std::string plot =
      DistributionPlot("Distribution of slowdown", "slowdown of a job (1 = as if alone)", 1, std::move(lines));
  return report::Figure("Slowdown", plot);
}

report::Table MetricTable(const std::vector<RunResult>& runs) {
  report::Table table;
  table.header = {""};
  for (const RunResult& run : runs) table.header.push_back(run.profile);
  table.note =
      "Slowdown: time from submission to end by time alone in an empty cluster, both at least 10 s. Jain: over queues, "
      "part of the entitlement that each one has, mean over time. Lost work: container time that ended before its "
      "task.";
  const auto whole = [](double value) { return NumberText("%.0f", value); };
  const auto two = [](double value) { return NumberText("%.2f", value); };
  const auto three = [](double value) { return NumberText("%.3f", value); };
  const auto span = [](double value) { return report::SpanText(static_cast<int64_t>(value)); };
  std::vector<report::Table::Row>& rows = table.rows;
  rows.push_back(Row(
      "jobs ended", runs, false, [](const RunResult& r) { return static_cast<double>(r.jobs); }, whole));
  const bool all_ended =
      std::all_of(runs.begin(), runs.end(), [](const RunResult& r) { return r.unfinished + r.rejected == 0; });
  if (!all_ended) {
    rows.push_back(Row(
        "jobs refused or not ended", runs, true,
        [](const RunResult& r) { return static_cast<double>(r.unfinished + r.rejected); }, whole));
  }
  rows.push_back(Row(
      "makespan", runs, true, [](const RunResult& r) { return OfAny(r.jobs, static_cast<double>(r.makespan_ms)); },
      span));
  rows.push_back(Row(
      "slowdown, mean", runs, true, [](const RunResult& r) { return OfAny(r.jobs, r.mean_slowdown); }, two));
  rows.push_back(Row(
      "slowdown, p99", runs, true, [](const RunResult& r) { return OfAny(r.jobs, r.p99_slowdown); }, two));
  for (size_t i = 0; !runs.empty() && i < runs[0].sizes.size(); ++i) {
    if (runs[0].sizes[i].jobs == 0) continue;
    const std::string name = "  " + runs[0].sizes[i].name + " tasks";
    rows.push_back(Row(
        name + ", mean", runs, true,
        [i](const RunResult& r) { return OfAny(r.sizes[i].jobs, r.sizes[i].mean_slowdown); }, two));
    rows.push_back(Row(
        name + ", p99", runs, true, [i](const RunResult& r) { return OfAny(r.sizes[i].jobs, r.sizes[i].p99_slowdown); },
        two));
  }
  rows.push_back(Row(
      "node-local", runs, false, [](const RunResult& r) { return r.local_part(); }, PercentText));
  rows.push_back(Row(
      "fairness (Jain)", runs, false, [](const RunResult& r) { return r.jain; }, three));
  rows.push_back(Row(
      "lost work", runs, true, [](const RunResult& r) { return r.lost_part(); }, PercentText));
  rows.push_back(Row(
      "cores used", runs, false, [](const RunResult& r) { return r.cpu; }, PercentText));
  rows.push_back(Row(
      "memory used", runs, false, [](const RunResult& r) { return r.memory; }, PercentText));
  return table;
}

report::Table QueueTable(const std::vector<RunResult>& runs) {
  report::Table table{"Queues: slowdown, mean and p99, and mean share", {"queue", "jobs"}, {}};
  std::map<std::string, std::pair<double, report::Table::Row>> rows;  // with the share in the first run
  for (size_t i = 0; i < runs.size(); ++i) {
    table.header.push_back(runs[i].profile);
    for (size_t q = 0; q < runs[i].queues.size(); ++q) {
      const QueueResult& queue = runs[i].queue_results[q];
      auto& [share, row] = rows[runs[i].queues[q]];
      if (row.cells.empty()) {
        row.cells.assign(2 + runs.size(), "-");
        row.cells[0] = runs[i].queues[q];
        row.cells[1] = std::to_string(queue.jobs);
        share = queue.mean_share;
      }
      row.cells[2 + i] = NumberText("%.2f", queue.mean_slowdown) + ", " + NumberText("%.2f", queue.p99_slowdown) +
                         ", " + PercentText(queue.mean_share);
    }
  }
  std::vector<std::pair<double, report::Table::Row>> order;
  for (auto& [name, row] : rows) order.push_back(std::move(row));
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [share, row] : order) table.rows.push_back(std::move(row));
  return table;
}

std::string ResultsJson(const std::vector<RunResult>& runs, const std::vector<report::Report::Part>& parts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RunResult& run : runs)
    all.push_back(JsonOf(run, all.empty() ? std::vector<std::string>() : parts.at(all.size() - 1).sentences));
  const nlohmann::ordered_json document = {{"version", kResultsVersion}, {"runs", all}};
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string SamplesCsv(const std::vector<RunResult>& runs) {
  std::string out = "profile,queue,seconds,share,entitled,cpu,memory,jain\n";
  char line[160];
  for (const RunResult& run : runs) {
    for (const Sample& sample : run.samples) {
      for (size_t q = 0; q < run.queues.size(); ++q) {
        std::snprintf(line, sizeof line, ",%.3f,%.5f,%.5f,%.5f,%.5f,%.4f\n", static_cast<double>(sample.at_ms) / 1000,
                      static_cast<double>(sample.share[q]), static_cast<double>(sample.wanted[q]), sample.cpu,
                      sample.memory, sample.jain);
        out += run.profile + "," + Cell(run.queues[q]) + line;
      }
    }
  }
  return out;
}

std::string JobsCsv(const std::vector<RunResult>& runs) {
  std::string out = "profile,job,queue,tasks,submit_s,first_start_s,end_s,ideal_s,slowdown\n";
  char line[200];
  for (const RunResult& run : runs) {
    for (const JobResult& job : run.job_results) {
      std::snprintf(line, sizeof line, ",%lld,%.3f,%.3f,%.3f,%.3f,%.4f\n", static_cast<long long>(job.tasks),
                    static_cast<double>(job.submit_ms) / 1000, static_cast<double>(job.first_start_ms) / 1000,
                    static_cast<double>(job.end_ms) / 1000, static_cast<double>(job.ideal_ms) / 1000, job.slowdown);
      out += run.profile + "," + Cell(job.name) + "," + Cell(job.queue) + line;
    }
  }
  return out;
}

}  // namespace fairlead::sim

#include "sim/traces/report.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "process/http/http.h"
#include "sim/traces/page.h"

namespace fairlead::sim {

using process::http::HtmlEscape;
namespace {

/// A row of numbers; the smallest (or largest) is best.
MetricRow Row(const std::string& name, const std::vector<RunResult>& runs, bool small_is_best,
              const std::function<double(const RunResult&)>& value, const std::function<std::string(double)>& text) {
  MetricRow row{name, {}, -1};
  double best = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double one = value(runs[i]);
    row.cells.push_back(text(one));
    if (row.best < 0 || (small_is_best ? one < best : one > best)) {
      best = one;
      row.best = static_cast<int>(i);
    }
  }
  const std::string first = row.cells.empty() ? "" : row.cells.front();
  if (std::all_of(row.cells.begin(), row.cells.end(), [&](const std::string& cell) { return cell == first; })) {
    row.best = -1;
  }
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

nlohmann::ordered_json JsonOf(const RunResult& run) {
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
          {"samples", samples}};
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

std::vector<Distribution> Slowdowns(const std::vector<RunResult>& runs) {
  std::vector<Distribution> lines;
  for (const RunResult& run : runs) {
    lines.push_back({run.profile, {}});
    for (const JobResult& job : run.job_results) lines.back().values.push_back(job.slowdown);
  }
  return lines;
}

}  // namespace

std::vector<MetricRow> Compare(const std::vector<RunResult>& runs) {
  const auto whole = [](double value) { return NumberText("%.0f", value); };
  const auto two = [](double value) { return NumberText("%.2f", value); };
  const auto three = [](double value) { return NumberText("%.3f", value); };
  const auto span = [](double value) { return SpanText(static_cast<int64_t>(value)); };
  std::vector<MetricRow> rows;
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
      "makespan", runs, true, [](const RunResult& r) { return static_cast<double>(r.makespan_ms); }, span));
  rows.push_back(Row(
      "slowdown, mean", runs, true, [](const RunResult& r) { return r.mean_slowdown; }, two));
  rows.push_back(Row(
      "slowdown, p99", runs, true, [](const RunResult& r) { return r.p99_slowdown; }, two));
  for (size_t i = 0; !runs.empty() && i < runs[0].sizes.size(); ++i) {
    if (runs[0].sizes[i].jobs == 0) continue;
    const std::string name = "  " + runs[0].sizes[i].name + " tasks";
    rows.push_back(Row(
        name + ", mean", runs, true, [i](const RunResult& r) { return r.sizes[i].mean_slowdown; }, two));
    rows.push_back(Row(
        name + ", p99", runs, true, [i](const RunResult& r) { return r.sizes[i].p99_slowdown; }, two));
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
  return rows;
}

std::vector<std::vector<std::string>> QueueRows(const RunResult& run) {
  std::vector<size_t> order(run.queues.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return run.queue_results[a].mean_share > run.queue_results[b].mean_share;
  });
  std::vector<std::vector<std::string>> rows;
  for (const size_t q : order) {
    const QueueResult& queue = run.queue_results[q];
    rows.push_back({run.queues[q], std::to_string(queue.jobs), NumberText("%.2f", queue.mean_slowdown),
                    NumberText("%.2f", queue.p99_slowdown), PercentText(queue.mean_share)});
  }
  return rows;
}

std::string ResultsJson(const std::vector<RunResult>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RunResult& run : runs) all.push_back(JsonOf(run));
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

std::string MetricsHtml(const std::vector<RunResult>& runs) {
  std::vector<std::string> header = {""};
  for (const RunResult& run : runs) header.push_back(run.profile);
  std::vector<TableRow> rows;
  for (MetricRow& row : Compare(runs)) {
    row.cells.insert(row.cells.begin(), row.name);
    rows.push_back({std::move(row.cells), row.best < 0 ? -1 : row.best + 1});
  }
  return TableHtml(header, rows) +
         "<p class=\"soft\">Slowdown: time from submission to end by time alone in an empty cluster, both at least "
         "10 s. Jain: over queues, part of the entitlement that each one has, mean over time. Lost work: container "
         "time that ended before its task. The best of a row is bold.</p>";
}

std::string ReportHtml(const std::vector<RunResult>& runs) {
  const RunResult none;
  const RunResult& first = runs.empty() ? none : runs[0];
  std::string out = "<p class=\"soft\">" + std::to_string(first.jobs) + " jobs with " + std::to_string(first.tasks) +
                    " tasks on " + std::to_string(first.nodes) + " nodes (" + std::to_string(first.cluster.vcores()) +
                    " cores, " + std::to_string(first.cluster.memory_mib() / 1024) + " GiB), seed " +
                    std::to_string(first.seed) + "</p>";
  for (const RunResult& run : runs) {
    if (!run.first_problem.empty()) out += "<p>" + HtmlEscape(run.profile + ": " + run.first_problem) + "</p>";
  }
  out += MetricsHtml(runs);
  out += "<h2>Cluster and jobs</h2><div class=\"plots\">" + UseFigures(runs) +
         Figure("Slowdown", DistributionPlot("Distribution of slowdown", "slowdown of a job (1 = as if alone)", 1,
                                             Slowdowns(runs))) +
         "</div><h2>Queue shares over time</h2><div class=\"plots\">" + ShareFigures(runs) + "</div>";
  for (const RunResult& run : runs) {
    std::vector<TableRow> rows;
    for (std::vector<std::string>& cells : QueueRows(run)) rows.push_back({std::move(cells)});
    out += "<h2>Queues under " + HtmlEscape(run.profile) + "</h2>" +
           TableHtml({"", "jobs", "slowdown, mean", "slowdown, p99", "share, mean"}, rows);
  }
  return PageHtml(first.trace, out);
}

}  // namespace fairlead::sim

#include "sim/traces/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "process/http/http.h"
#include "sim/traces/plot.h"

namespace fairlead::sim {

using process::http::HtmlEscape;
namespace {

std::string Text(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string Percent(double part) { return Text("%.1f %%", part * 100); }

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

nlohmann::ordered_json JsonOf(const RunResult& run) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const SizeClass& size : run.sizes) {
    sizes.push_back({{"tasks", size.name},
                     {"jobs", size.jobs},
                     {"meanSlowdown", size.mean_slowdown},
                     {"medianSlowdown", size.median_slowdown},
                     {"p99Slowdown", size.p99_slowdown}});
  }
  nlohmann::ordered_json queues = nlohmann::ordered_json::array();
  for (size_t q = 0; q < run.queues.size(); ++q) {
    const QueueResult& queue = run.queue_results[q];
    queues.push_back({{"queue", run.queues[q]},
                      {"jobs", queue.jobs},
                      {"meanSlowdown", queue.mean_slowdown},
                      {"p99Slowdown", queue.p99_slowdown},
                      {"meanShare", queue.mean_share}});
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
          {"sizes", sizes},
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

/// Queues that get a colour of their own.
constexpr size_t kColours = 7;
/// Points of one line.
constexpr size_t kPoints = 240;

/// The unit in which a span reads best: "hours", "minutes" or "seconds", and its milliseconds.
std::pair<std::string, double> UnitFor(int64_t span_ms) {
  if (span_ms > 2 * 3'600'000) return {"hours", 3.6e6};
  if (span_ms > 5 * 60'000) return {"minutes", 60e3};
  return {"seconds", 1000};
}

int64_t SpanOf(const std::vector<RunResult>& runs) {
  int64_t span = 1;
  for (const RunResult& run : runs) {
    if (!run.samples.empty()) span = std::max(span, run.samples.back().at_ms);
  }
  return span;
}

PlotFrame TimeFrame(const std::string& title, int64_t span_ms) {
  const auto [unit, ms] = UnitFor(span_ms);
  PlotFrame frame;
  frame.title = title;
  frame.x_label = unit;
  frame.x_max = static_cast<double>(span_ms) / ms;
  frame.percent_y = true;
  return frame;
}

/// A mean of neighbouring samples for each of at most kPoints points.
template <class Value>
std::vector<std::pair<double, double>> Points(const RunResult& run, double unit_ms, Value value) {
  const size_t group = std::max<size_t>(1, (run.samples.size() + kPoints - 1) / kPoints);
  std::vector<std::pair<double, double>> points;
  for (size_t i = 0; i < run.samples.size(); i += group) {
    const size_t end = std::min(i + group, run.samples.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += value(run.samples[k]);
    points.emplace_back(static_cast<double>(run.samples[i].at_ms) / unit_ms, sum / static_cast<double>(end - i));
  }
  return points;
}

std::string SharesPlot(const RunResult& run, int64_t span_ms) {
  const PlotFrame frame = TimeFrame("Queue shares under " + run.profile, span_ms);
  const double unit = UnitFor(span_ms).second;
  std::vector<double> totals(run.queues.size(), 0);
  for (const Sample& sample : run.samples) {
    for (size_t q = 0; q < totals.size(); ++q) totals[q] += static_cast<double>(sample.share[q]);
  }
  std::vector<size_t> order(run.queues.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return totals[a] > totals[b]; });
  const size_t own = order.size() <= kColours + 1 ? order.size() : kColours;
  std::sort(order.begin(), order.begin() + static_cast<int64_t>(own),
            [&](size_t a, size_t b) { return run.queues[a] < run.queues[b]; });
  std::vector<PlotLine> layers;
  for (size_t i = 0; i < own; ++i) {
    layers.push_back({run.queues[order[i]], Points(run, unit, [&](const Sample& sample) {
                        return static_cast<double>(sample.share[order[i]]);
                      })});
  }
  if (own < order.size()) {
    layers.push_back(
        {std::to_string(order.size() - own) + " other queues", Points(run, unit, [&](const Sample& sample) {
           double sum = 0;
           for (size_t i = own; i < order.size(); ++i) sum += static_cast<double>(sample.share[order[i]]);
           return sum;
         })});
  }
  PlotFrame with_label = frame;
  with_label.y_label = "part of the cluster";
  return StackedPlot(with_label, layers);
}

std::string UsePlot(const std::vector<RunResult>& runs, int64_t span_ms, bool cpu) {
  PlotFrame frame = TimeFrame(cpu ? "Cores in use" : "Memory in use", span_ms);
  frame.y_label = cpu ? "cores in use" : "memory in use";
  std::vector<PlotLine> lines;
  for (const RunResult& run : runs) {
    lines.push_back({run.profile, Points(run, UnitFor(span_ms).second,
                                         [&](const Sample& sample) { return cpu ? sample.cpu : sample.memory; })});
  }
  return LinePlot(frame, lines);
}

std::string SlowdownPlot(const std::vector<RunResult>& runs) {
  PlotFrame frame;
  frame.title = "Distribution of slowdown";
  frame.x_label = "slowdown of a job (1 = as if alone)";
  frame.y_label = "jobs up to it";
  frame.percent_y = true;
  frame.log_x = true;
  frame.x_min = 1;
  frame.x_max = 10;
  std::vector<PlotLine> lines;
  for (const RunResult& run : runs) {
    std::vector<double> sorted;
    for (const JobResult& job : run.job_results) sorted.push_back(job.slowdown);
    std::sort(sorted.begin(), sorted.end());
    PlotLine line{run.profile, {}};
    for (size_t i = 0; i <= kPoints && !sorted.empty(); ++i) {
      const size_t at = i * (sorted.size() - 1) / kPoints;
      line.points.emplace_back(sorted[at], static_cast<double>(at + 1) / static_cast<double>(sorted.size()));
    }
    while (!sorted.empty() && frame.x_max < sorted.back()) frame.x_max *= 10;
    lines.push_back(std::move(line));
  }
  return LinePlot(frame, lines);
}

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#59636e;--rule:#d5dae0;--card:#f5f7f9;
--s0:#0067b1;--s1:#c65102;--s2:#12805c;--s3:#a8237c;--s4:#8a6d00;--s5:#5b4bc4;--s6:#00838f;--s7:#8b949e}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e7eaee;--soft:#a2abb5;--rule:#343b44;--card:#1e232a;
--s0:#5fb2f2;--s1:#ff9352;--s2:#4fcf9f;--s3:#ef86c8;--s4:#e3c341;--s5:#a99cff;--s6:#4fd0dc;--s7:#7d8590}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{max-width:44rem;margin:.4rem 0}.soft{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
td.best{font-weight:700;color:var(--s2)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.75rem}
figcaption{font-weight:600;margin-bottom:.25rem}
svg{display:block;width:100%;height:auto}
svg text{font:14px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--rule);stroke-width:1}
.line{fill:none;stroke-width:2.5;stroke-linejoin:round}
.layer{stroke:var(--card);stroke-width:.5}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.5rem 0 0;padding:0;font-size:.9rem}
.swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.4rem}
@media(max-width:34rem){svg text{font-size:20px}.y-name{display:none}main{padding:.75rem}}
)";

std::string ColourRules() {
  std::string out;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    out += ".line.s" + n + "{stroke:var(--s" + n + ")}.layer.s" + n + "{fill:var(--s" + n + ")}.swatch.s" + n +
           "{background:var(--s" + n + ")}";
  }
  return out;
}

std::string Figure(const std::string& caption, const std::string& plot) {
  return "<figure><figcaption>" + HtmlEscape(caption) + "</figcaption>" + plot + "</figure>";
}

std::string QueuesHtml(const RunResult& run) {
  std::string out = "<div class=\"wide\"><table><thead><tr><th></th>";
  const std::vector<std::vector<std::string>> rows = QueueRows(run);
  for (const char* name : {"jobs", "slowdown, mean", "slowdown, p99", "share, mean"}) {
    out += "<th>" + std::string(name) + "</th>";
  }
  out += "</tr></thead><tbody>";
  for (const std::vector<std::string>& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + HtmlEscape(cell) + "</td>";
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string TableHtml(const std::vector<RunResult>& runs) {
  std::string out = "<div class=\"wide\"><table><thead><tr><th></th>";
  for (const RunResult& run : runs) out += "<th>" + HtmlEscape(run.profile) + "</th>";
  out += "</tr></thead><tbody>";
  for (const MetricRow& row : Compare(runs)) {
    out += "<tr><td>" + HtmlEscape(row.name) + "</td>";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      out += static_cast<int>(i) == row.best ? "<td class=\"best\">" : "<td>";
      out += HtmlEscape(row.cells[i]) + "</td>";
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

}  // namespace

std::string SpanText(int64_t ms) {
  if (ms < 60'000) return Text("%.1f s", static_cast<double>(ms) / 1000);
  const int64_t seconds = (ms + 500) / 1000;
  if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

std::vector<MetricRow> Compare(const std::vector<RunResult>& runs) {
  const auto whole = [](double value) { return Text("%.0f", value); };
  const auto two = [](double value) { return Text("%.2f", value); };
  const auto three = [](double value) { return Text("%.3f", value); };
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
      "node-local", runs, false, [](const RunResult& r) { return r.local_part(); }, Percent));
  rows.push_back(Row(
      "fairness (Jain)", runs, false, [](const RunResult& r) { return r.jain; }, three));
  rows.push_back(Row(
      "lost work", runs, true, [](const RunResult& r) { return r.lost_part(); }, Percent));
  rows.push_back(Row(
      "cores used", runs, false, [](const RunResult& r) { return r.cpu; }, Percent));
  rows.push_back(Row(
      "memory used", runs, false, [](const RunResult& r) { return r.memory; }, Percent));
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
    rows.push_back({run.queues[q], std::to_string(queue.jobs), Text("%.2f", queue.mean_slowdown),
                    Text("%.2f", queue.p99_slowdown), Percent(queue.mean_share)});
  }
  return rows;
}

std::string ResultsJson(const std::vector<RunResult>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RunResult& run : runs) all.push_back(JsonOf(run));
  const nlohmann::ordered_json document = {{"runs", all}};
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

std::string ReportHtml(const std::vector<RunResult>& runs) {
  const RunResult none;
  const RunResult& first = runs.empty() ? none : runs[0];
  const int64_t span = SpanOf(runs);
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>Fairlead: " +
      HtmlEscape(first.trace) + "</title><style>" + kStyle + ColourRules() + "</style></head><body><main>";
  out += "<h1>" + HtmlEscape(first.trace) + "</h1><p class=\"soft\">" + std::to_string(first.jobs) + " jobs with " +
         std::to_string(first.tasks) + " tasks on " + std::to_string(first.nodes) + " nodes (" +
         std::to_string(first.cluster.vcores()) + " cores, " + std::to_string(first.cluster.memory_mib() / 1024) +
         " GiB), seed " + std::to_string(first.seed) + "</p>";
  for (const RunResult& run : runs) {
    if (!run.first_problem.empty()) out += "<p>" + HtmlEscape(run.profile + ": " + run.first_problem) + "</p>";
  }
  out += TableHtml(runs);
  out +=
      "<p class=\"soft\">Slowdown: time from submission to end by time alone in an empty cluster, both at least 10 s. "
      "Jain: over queues, part of the entitlement that each one has, mean over time. Lost work: container time that "
      "ended before its task. The best of a row is bold.</p>";
  out += "<h2>Cluster and jobs</h2><div class=\"plots\">" + Figure("Cores in use", UsePlot(runs, span, true)) +
         Figure("Memory in use", UsePlot(runs, span, false)) + Figure("Slowdown", SlowdownPlot(runs)) + "</div>";
  out += "<h2>Queue shares over time</h2><div class=\"plots\">";
  for (const RunResult& run : runs) out += Figure(run.profile, SharesPlot(run, span));
  out += "</div>";
  for (const RunResult& run : runs) out += "<h2>Queues under " + HtmlEscape(run.profile) + "</h2>" + QueuesHtml(run);
  return out + "</main></body></html>\n";
}

}  // namespace fairlead::sim

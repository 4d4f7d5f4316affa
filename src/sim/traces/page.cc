#include "sim/traces/page.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "process/http/http.h"
#include "sim/traces/plot.h"

namespace fairlead::sim {

using process::http::HtmlEscape;

namespace {

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
  PlotFrame frame = TimeFrame("Queue shares under " + run.profile, span_ms);
  frame.y_label = "part of the cluster";
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
  return StackedPlot(frame, layers);
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

}  // namespace

std::string SpanText(int64_t ms) {
  if (ms < 60'000) return NumberText("%.1f s", static_cast<double>(ms) / 1000);
  const int64_t seconds = (ms + 500) / 1000;
  if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

std::string NumberText(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string PercentText(double part) { return NumberText("%.1f %%", part * 100); }

std::string PageHtml(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>Fairlead: " +
         HtmlEscape(title) + "</title><style>" + kStyle + ColourRules() + "</style></head><body><main><h1>" +
         HtmlEscape(title) + "</h1>" + body + "</main></body></html>\n";
}

std::string Figure(const std::string& caption, const std::string& plot) {
  return "<figure><figcaption>" + HtmlEscape(caption) + "</figcaption>" + plot + "</figure>";
}

std::string TableHtml(const std::vector<std::string>& header, const std::vector<TableRow>& rows) {
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (const std::string& name : header) out += "<th>" + HtmlEscape(name) + "</th>";
  out += "</tr></thead><tbody>";
  for (const TableRow& row : rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      out += static_cast<int>(i) == row.best ? "<td class=\"best\">" : "<td>";
      out += HtmlEscape(row.cells[i]) + "</td>";
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string UseFigures(const std::vector<RunResult>& runs) {
  const int64_t span = SpanOf(runs);
  return Figure("Cores in use", UsePlot(runs, span, true)) + Figure("Memory in use", UsePlot(runs, span, false));
}

std::string ShareFigures(const std::vector<RunResult>& runs) {
  std::string out;
  for (const RunResult& run : runs) out += Figure(run.profile, SharesPlot(run, SpanOf(runs)));
  return out;
}

std::string DistributionPlot(const std::string& title, const std::string& x_label, double least,
                             std::vector<Distribution> lines) {
  PlotFrame frame;
  frame.title = title;
  frame.x_label = x_label;
  frame.y_label = "jobs up to it";
  frame.percent_y = true;
  frame.log_x = true;
  frame.x_min = least;
  frame.x_max = least * 10;
  std::vector<PlotLine> plotted;
  for (Distribution& line : lines) {
    std::vector<double>& sorted = line.values;
    std::sort(sorted.begin(), sorted.end());
    PlotLine points{line.name, {}};
    for (size_t i = 0; i <= kPoints && !sorted.empty(); ++i) {
      const size_t at = i * (sorted.size() - 1) / kPoints;
      points.points.emplace_back(std::max(sorted[at], least),
                                 static_cast<double>(at + 1) / static_cast<double>(sorted.size()));
    }
    while (!sorted.empty() && frame.x_max < sorted.back()) frame.x_max *= 10;
    plotted.push_back(std::move(points));
  }
  return LinePlot(frame, plotted);
}

}  // namespace fairlead::sim

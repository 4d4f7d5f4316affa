#include "sim/traces/page.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "report/report.h"
#include "sim/traces/plot.h"

namespace fairlead::sim {

using report::Figure;

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

}  // namespace

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

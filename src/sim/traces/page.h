#pragma once

#include <string>
#include <vector>

#include "sim/traces/result.h"

// Parts of the pages about runs: one file without anything from outside, light and dark, plots as inline SVG.

namespace fairlead::sim {

/// "2 h 5 min", "3 min 10 s", "4.5 s".
std::string SpanText(int64_t ms);
/// By printf's `format`.
std::string NumberText(const char* format, double value);
/// "12.5 %" of 0.125.
std::string PercentText(double part);

/// The whole page; `body` is HTML.
std::string PageHtml(const std::string& title, const std::string& body);
std::string Figure(const std::string& caption, const std::string& plot);

struct TableRow {
  std::vector<std::string> cells;
  int best = -1;  // the cell that stands out
};
std::string TableHtml(const std::vector<std::string>& header, const std::vector<TableRow>& rows);

/// Cores and memory in use, a line per run.
std::string UseFigures(const std::vector<RunResult>& runs);
/// A figure per run: the queues' shares over time.
std::string ShareFigures(const std::vector<RunResult>& runs);

/// A line of DistributionPlot.
struct Distribution {
  std::string name;
  std::vector<double> values;
};
/// The part of the values up to each one, over a logarithmic axis from `least` on, on which smaller ones stand.
std::string DistributionPlot(const std::string& title, const std::string& x_label, double least,
                             std::vector<Distribution> lines);

}  // namespace fairlead::sim

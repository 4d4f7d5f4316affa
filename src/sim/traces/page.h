#pragma once

#include <string>
#include <vector>

#include "sim/traces/result.h"

// Pictures for reports about runs, as <svg>.

namespace fairlead::sim {

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

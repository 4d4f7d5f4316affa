#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::sim {

/// A line of a plot: points by rising x.
struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct PlotFrame {
  std::string title;  // for readers who do not see it
  std::string x_label;
  std::string y_label;
  double x_min = 0;
  double x_max = 1;
  double y_max = 1;
  bool log_x = false;      // x_min > 0 then
  bool percent_y = false;  // y is a part: ticks read "50 %"
};

/// Lines over a grid, as <svg>; line i has the class "s<i>", and a list of the names stands below.
std::string LinePlot(const PlotFrame& frame, const std::vector<PlotLine>& lines);
/// The same with the lines' values stacked; all lines have the same x.
std::string StackedPlot(const PlotFrame& frame, const std::vector<PlotLine>& layers);

}  // namespace fairlead::sim

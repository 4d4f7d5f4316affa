#include "sim/traces/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "process/http/http.h"

namespace fairlead::sim {

using process::http::HtmlEscape;

namespace {

// In units of the view box; the page scales it to the width there is.
constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 84;
constexpr double kRight = 26;
constexpr double kTop = 12;
constexpr double kBottom = 52;
constexpr int kTicks = 4;

std::string Rounded(double value, int digits = 1) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// 3, 0.25, 1500 as short as they can be read.
std::string TickText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// A round number near `raw`: 1, 2, 2.5 or 5 times a power of ten.
double RoundStep(double raw) {
  if (!(raw > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (raw <= factor * power * 1.001) return factor * power;
  }
  return 10 * power;
}

class Canvas {
 public:
  explicit Canvas(const PlotFrame& frame) : frame_(frame) {
    svg_ = "<svg viewBox=\"0 0 " + Rounded(kWidth, 0) + " " + Rounded(kHeight, 0) + "\" role=\"img\" aria-label=\"" +
           HtmlEscape(frame.title) + "\">";
    Grid();
  }

  double X(double x) const {
    const double part = frame_.log_x ? std::log(x / frame_.x_min) / std::log(frame_.x_max / frame_.x_min)
                                     : (x - frame_.x_min) / (frame_.x_max - frame_.x_min);
    return kLeft + std::clamp(part, 0.0, 1.0) * (kWidth - kLeft - kRight);
  }
  double Y(double y) const {
    return kHeight - kBottom - std::clamp(y / frame_.y_max, 0.0, 1.0) * (kHeight - kTop - kBottom);
  }
  std::string Point(double x, double y) const { return Rounded(X(x)) + "," + Rounded(Y(y)); }
  void Add(const std::string& element) { svg_ += element; }

  std::string Finish(const std::vector<PlotLine>& lines) {
    svg_ += "</svg><ul class=\"legend\">";
    for (size_t i = 0; i < lines.size(); ++i) {
      svg_ += "<li><span class=\"swatch s" + std::to_string(i) + "\"></span>" + HtmlEscape(lines[i].name) + "</li>";
    }
    return svg_ + "</ul>";
  }

 private:
  void Text(double x, double y, const char* anchor, const std::string& text) {
    svg_ += "<text x=\"" + Rounded(x) + "\" y=\"" + Rounded(y) + "\" text-anchor=\"" + anchor + "\">" +
            HtmlEscape(text) + "</text>";
  }
  void Line(double x1, double y1, double x2, double y2) {
    svg_ += "<line class=\"grid\" x1=\"" + Rounded(x1) + "\" y1=\"" + Rounded(y1) + "\" x2=\"" + Rounded(x2) +
            "\" y2=\"" + Rounded(y2) + "\"/>";
  }

  void Grid() {
    const double y_step = RoundStep(frame_.y_max / kTicks);
    for (double y = 0; y <= frame_.y_max * 1.001; y += y_step) {
      Line(kLeft, Y(y), kWidth - kRight, Y(y));
      Text(kLeft - 6, Y(y) + 5, "end", frame_.percent_y ? TickText(y * 100) + " %" : TickText(y));
    }
    if (frame_.log_x) {
      for (double x = frame_.x_min; x <= frame_.x_max * 1.001; x *= 10) XTick(x);
    } else {
      const double x_step = RoundStep((frame_.x_max - frame_.x_min) / kTicks);
      for (double x = frame_.x_min; x <= frame_.x_max * 1.001; x += x_step) XTick(x);
    }
    Text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", frame_.x_label);
    svg_ += "<text class=\"y-name\" transform=\"translate(14," + Rounded((kTop + kHeight - kBottom) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">" + HtmlEscape(frame_.y_label) + "</text>";
  }
  void XTick(double x) {
    Line(X(x), kTop, X(x), kHeight - kBottom);
    Text(X(x), kHeight - kBottom + 18, "middle", TickText(x));
  }

  const PlotFrame& frame_;
  std::string svg_;
};

}  // namespace

std::string LinePlot(const PlotFrame& frame, const std::vector<PlotLine>& lines) {
  Canvas canvas(frame);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string points;
    for (const auto& [x, y] : lines[i].points) points += canvas.Point(x, y) + " ";
    canvas.Add("<polyline class=\"line s" + std::to_string(i) + "\" points=\"" + points + "\"/>");
  }
  return canvas.Finish(lines);
}

std::string StackedPlot(const PlotFrame& frame, const std::vector<PlotLine>& layers) {
  Canvas canvas(frame);
  std::vector<double> below(layers.empty() ? 0 : layers[0].points.size(), 0);
  for (size_t i = 0; i < layers.size(); ++i) {
    std::string there;
    std::string back;
    for (size_t k = 0; k < below.size(); ++k) {
      const auto& [x, y] = layers[i].points[k];
      back.insert(0, canvas.Point(x, below[k]) + " ");
      below[k] += y;
      there += canvas.Point(x, below[k]) + " ";
    }
    canvas.Add("<polygon class=\"layer s" + std::to_string(i) + "\" points=\"" + there + back + "\"/>");
  }
  return canvas.Finish(layers);
}

}  // namespace fairlead::sim

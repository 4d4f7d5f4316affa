#include "process/http/metrics.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/version.h"
#include "process/http/json_text.h"
#include "process/http/own_process.h"

namespace fairlead::process::http {

namespace {

/// A label's value, which may be a queue that a stranger named.
std::string LabelText(std::string_view value) {
  std::string out;
  for (const char c : base::VisibleText(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void Histogram::Add(base::Duration took) {
  ++count_;
  sum_ns_ += took.ns;
  for (size_t i = 0; i < kBoundsNs.size(); ++i) {
    if (took.ns > kBoundsNs[i]) continue;
    ++buckets_[i];
    return;
  }
}

std::string MetricsText::Begin(std::string_view name, std::string_view help, std::string_view type) {
  const std::string own = prefix_ + std::string(name);
  text_ += "# HELP " + own + " " + std::string(help) + "\n# TYPE " + own + " " + std::string(type) + "\n";
  return own;
}

void MetricsText::Counter(std::string_view name, std::string_view help, uint64_t value) {
  text_ += Begin(name, help, "counter") + " " + std::to_string(value) + "\n";
}

void MetricsText::Gauge(std::string_view name, std::string_view help, int64_t value) {
  text_ += Begin(name, help, "gauge") + " " + std::to_string(value) + "\n";
}

void MetricsText::Gauges(std::string_view name, std::string_view help, std::string_view label,
                         const std::vector<std::pair<std::string, int64_t>>& values) {
  Labelled(Begin(name, help, "gauge"), label, values);
}

void MetricsText::Counters(std::string_view name, std::string_view help, std::string_view label,
                           const std::vector<std::pair<std::string, int64_t>>& values) {
  Labelled(Begin(name, help, "counter"), label, values);
}

void MetricsText::Labelled(const std::string& own, std::string_view label,
                           const std::vector<std::pair<std::string, int64_t>>& values) {
  for (const auto& [value, number] : values) {
    text_ += own + "{" + std::string(label) + "=\"" + LabelText(value) + "\"} " + std::to_string(number) + "\n";
  }
}

void MetricsText::Seconds(std::string_view name, std::string_view help, const Histogram& histogram) {
  const std::string own = Begin(name, help, "histogram");
  char number[32];
  uint64_t below = 0;
  for (size_t i = 0; i < Histogram::kBoundsNs.size(); ++i) {
    below += histogram.buckets_[i];
    std::snprintf(number, sizeof number, "%g", static_cast<double>(Histogram::kBoundsNs[i]) / 1e9);
    text_ += own + "_bucket{le=\"" + number + "\"} " + std::to_string(below) + "\n";
  }
  const std::string count = std::to_string(histogram.count_);
  std::snprintf(number, sizeof number, "%.9g", static_cast<double>(histogram.sum_ns_) / 1e9);
  text_ +=
      own + "_bucket{le=\"+Inf\"} " + count + "\n" + own + "_sum " + number + "\n" + own + "_count " + count + "\n";
}

Response MetricsText::ToResponse() const {
  MetricsText build("fairlead_");
  build.Gauges("build_info", "1; the label says which Fairlead this is.", "version", {{base::Version(), 1}});
  Response response = TextResponse(200, text_ + build.text() + OwnProcessMetrics());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

std::string GaugesJson(const std::vector<std::pair<std::string, int64_t>>& gauges) {
  using nlohmann::ordered_json;
  const ordered_json none = ordered_json::object();
  ordered_json values = none;
  for (const auto& [name, value] : gauges) values[name] = {{"value", value}};
  return JsonText(ordered_json({{"version", "4.0.0"},
                                {"gauges", values},
                                {"counters", none},
                                {"histograms", none},
                                {"meters", none},
                                {"timers", none}}));
}

}  // namespace fairlead::process::http

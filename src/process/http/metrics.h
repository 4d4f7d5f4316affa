#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "process/http/http.h"

namespace fairlead::process::http {

/// How long something took, counted in buckets. Adding costs some comparisons.
class Histogram {
 public:
  /// Upper bounds, each at most.
  static constexpr std::array<int64_t, 12> kBoundsNs = {10'000,      30'000,        100'000,       300'000,
                                                        1'000'000,   3'000'000,     10'000'000,    100'000'000,
                                                        300'000'000, 1'000'000'000, 3'000'000'000, 10'000'000'000};

  void Add(base::Duration took);

 private:
  friend class MetricsText;
  std::array<uint64_t, kBoundsNs.size()> buckets_{};  // those above the last bound are in count_ alone
  uint64_t count_ = 0;
  int64_t sum_ns_ = 0;
};

/// Requests that the handlers of a daemon's web ports have not seen; for /metrics.
struct WebRefusals {
  uint64_t requests = 0;  // for their name, site or form (Server::refused)
  uint64_t logins = 0;    // for their token
};
inline constexpr std::string_view kWebRefusedHelp =
    "HTTP requests refused for the name, the site or the target that they give, their form or their length";

/// /metrics in Prometheus' text format (version 0.0.4). Names carry their unit, counters end in _total; every one has a
/// sentence that says what it is.
class MetricsText {
 public:
  /// `name` is put behind it: "fairlead_rm_".
  explicit MetricsText(std::string prefix) : prefix_(std::move(prefix)) {}

  void Counter(std::string_view name, std::string_view help, uint64_t value);
  void Gauge(std::string_view name, std::string_view help, int64_t value);
  /// One gauge with a label; the label's values may be anybody's words.
  void Gauges(std::string_view name, std::string_view help, std::string_view label,
              const std::vector<std::pair<std::string, int64_t>>& values);
  /// One counter with a label.
  void Counters(std::string_view name, std::string_view help, std::string_view label,
                const std::vector<std::pair<std::string, int64_t>>& values);
  /// In seconds.
  void Seconds(std::string_view name, std::string_view help, const Histogram& histogram);

  Response ToResponse() const;
  const std::string& text() const { return text_; }

 private:
  std::string Begin(std::string_view name, std::string_view help, std::string_view type);
  void Labelled(const std::string& own, std::string_view label,
                const std::vector<std::pair<std::string, int64_t>>& values);

  std::string prefix_;
  std::string text_;
};

/// Spark's /metrics/.../json of a daemon that has gauges alone (org.apache.spark.metrics.sink.MetricsServlet).
std::string GaugesJson(const std::vector<std::pair<std::string, int64_t>>& gauges);

}  // namespace fairlead::process::http

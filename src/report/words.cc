#include "report/words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace fairlead::report {

std::string TimeText(base::Duration time) {
  const int64_t seconds = time.ns / 1'000'000'000;
  if (seconds < 90) return std::to_string(seconds) + " s";
  const int64_t minutes = (seconds + 30) / 60;
  if (minutes < 90) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h" + (minutes % 60 == 0 ? "" : " " + std::to_string(minutes % 60) + " min");
}

std::string SpanText(int64_t ms) {
  if (ms < 60'000) return NumberText("%.1f s", static_cast<double>(ms) / 1000);
  const int64_t seconds = (ms + 500) / 1000;
  if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

std::string FromTo(std::optional<int64_t> from_ms, std::optional<int64_t> to_ms) {
  const auto text = [](std::optional<int64_t> ms) { return ms ? SpanText(*ms) : "-"; };
  return !from_ms && !to_ms ? "-" : text(from_ms) + " -> " + text(to_ms);
}

std::string NumberText(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string PercentText(double part) { return NumberText("%.1f %%", part * 100); }

std::string WholePercent(double part) { return std::to_string(std::lround(part * 100)) + " %"; }

bool IsLimit(model::scheduler::PendingReason reason) {
  using enum model::scheduler::PendingReason;
  return reason == kQueueMaximum || reason == kMasterShare || reason == kMaxRunningApps || reason == kUserLimit ||
         reason == kUserMaximum;
}

std::string ReasonText(model::scheduler::PendingReason reason) {
  std::string text = base::Lowered(EnumName(reason));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace fairlead::report

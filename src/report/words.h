#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/scheduler.h"

namespace fairlead::report {

/// For sentences: "2 h 5 min", "10 min", "45 s".
std::string TimeText(base::Duration time);
/// For tables: "2 h 5 min", "3 min 10 s", "4.5 s".
std::string SpanText(int64_t ms);
/// "4.5 s -> 10.0 s"; what is not there is "-".
std::string FromTo(std::optional<int64_t> from_ms, std::optional<int64_t> to_ms);
/// By printf's `format`.
std::string NumberText(const char* format, double value);
/// "12.5 %" of 0.125.
std::string PercentText(double part);
/// "13 %".
std::string WholePercent(double part);
/// It is one that somebody has set.
bool IsLimit(model::scheduler::PendingReason reason);
/// "user limit" of USER_LIMIT.
std::string ReasonText(model::scheduler::PendingReason reason);

}  // namespace fairlead::report

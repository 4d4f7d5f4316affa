#pragma once

#include <string>

#include "engine/history/history.h"

namespace fairlead::engine::history {

/// The history as one HTML page that needs nothing else: jobs, stages with quantiles and marks, a timeline of the
/// executors, the tasks of each stage. While the application runs the page renews itself every two seconds.
std::string ToHtml(const History& history);

}  // namespace fairlead::engine::history

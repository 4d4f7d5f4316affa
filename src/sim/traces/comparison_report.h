#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "sim/traces/comparison.h"

// What came of runs of one trace, for people and for programs.

namespace fairlead::sim {

/// Two that are held against each other; fills Comparison::sentences.
report::Report ReportOf(Comparison& comparison, const std::vector<RunResult>& runs);
/// Any number: each after the first against it.
report::Report ReportOf(const std::vector<RunResult>& runs);

/// Every field by its name.
std::string ComparisonJson(const Comparison& comparison);

}  // namespace fairlead::sim

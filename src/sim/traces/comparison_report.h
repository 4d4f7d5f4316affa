#pragma once

#include <string>
#include <vector>

#include "sim/traces/comparison.h"

// A comparison for people and for programs.

namespace fairlead::sim {

/// What changes, in sentences, the largest first: `most` queues and as many users.
std::vector<std::string> SentencesOf(const Comparison& comparison, size_t most);

struct ReportTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  size_t left_out = 0;  // rows
};
/// Queues, users, queues that jobs did not get, and differences of the configurations, each with at most so many rows;
/// one without rows is left out.
std::vector<ReportTable> TablesOf(const Comparison& comparison, size_t most);

/// Every field by its name.
std::string ComparisonJson(const Comparison& comparison);
/// One page; `runs` are the two that were compared.
std::string ComparisonHtml(const Comparison& comparison, const std::vector<RunResult>& runs);

}  // namespace fairlead::sim

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/report.h"

// A report (report/report.h) as commands print and keep it: what-if, replay --diff, sim run, compare and migrate.

namespace fairlead::apps {

/// Sentences, then tables with at most so many rows each.
std::string TextOf(const report::Report& report, size_t most_rows = 20);

/// Makes the directory `out`, which may be empty, before minutes of work, not after.
base::Status MakeOut(const std::string& out);
/// Writes report.html, report.txt (`text`) and the other files, by name, into the directory `out`, and gives the line
/// that says so. Nothing where it is empty.
base::Result<std::string> WriteOut(const std::string& out, const report::Report& report, const std::string& text,
                                   std::vector<std::pair<std::string, std::string>> others);

}  // namespace fairlead::apps

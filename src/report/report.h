#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fairlead::report {

struct Table {
  std::string title{};
  std::vector<std::string> header{};
  struct Row {
    std::vector<std::string> cells{};
    int best = -1;  // the cell that stands out
  };
  std::vector<Row> rows{};
  size_t left_out = 0;  // rows
  std::string note{};   // what its words mean, for the page
};

/// What came of runs: sentences first, tables after. The one that what-if, replay --diff, sim compare and sim migrate
/// print, and write as text and as a page.
struct Report {
  std::string title{};
  std::vector<std::string> about{};  // what was run, a line each
  /// What one run has otherwise than the first.
  struct Part {
    std::string title{};  // empty: it is the only one
    std::vector<std::string> sentences{};
  };
  std::vector<Part> parts{};
  std::vector<Table> tables{};
  std::vector<std::string> figures{};  // for the page, as HTML
};

/// The first `most` rows stay.
void Cut(Table& table, size_t most);

/// A picture, as <svg>, for Report::figures.
std::string Figure(const std::string& caption, const std::string& plot);
/// One page without anything from outside, light and dark.
std::string Html(const Report& report);

}  // namespace fairlead::report

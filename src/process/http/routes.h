#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Tables of routes. A row has a method and a path, such as "apps/{id}/when": words as they are, and {NAME}
// for any one word.

namespace fairlead::process::http {

/// The words that stand for {NAME}s; nothing: the path is of another form. O(words).
std::optional<std::vector<std::string>> MatchPath(std::string_view pattern, const std::vector<std::string>& path);

template <class Row>
struct FoundRoute {
  const Row* row = nullptr;        // null: no row has this path with this method
  std::vector<std::string> words;  // for its {NAME}s
  std::string methods = {};        // that rows have for this path, as header Allow lists them; empty: none has the path
};

/// The first row for a request; HEAD is answered as GET. O(rows).
template <class Row>
FoundRoute<Row> FindRoute(std::span<const Row> rows, std::string_view method, const std::vector<std::string>& path) {
  FoundRoute<Row> found;
  for (const Row& row : rows) {
    auto words = MatchPath(row.path, path);
    if (!words) continue;
    if (row.method == (method == "HEAD" ? "GET" : method)) return {&row, *std::move(words)};
    found.methods += (found.methods.empty() ? "" : ", ") + std::string(row.method);
  }
  return found;
}

}  // namespace fairlead::process::http

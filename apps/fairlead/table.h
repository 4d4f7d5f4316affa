#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace fairlead::apps {

using base::Counted;

/// The first `columns` characters; the last one is … where there were more.
std::string Shortened(std::string_view text, size_t columns);

/// Rows of text in columns as wide as their widest cell, as `kubectl get` prints them. Cells may hold what strangers
/// wrote: their control characters are seen, and all but a row's last are cut at a bound.
class Table {
 public:
  /// `widths`: of columns at least, where rows come after the header was printed.
  explicit Table(std::vector<std::string> header, std::vector<size_t> widths = {})
      : rows_{std::move(header)}, widths_(std::move(widths)) {}
  void Add(std::vector<std::string> row);
  size_t size() const { return rows_.size() - 1; }
  std::vector<std::string> Lines();
  /// Prints to stdout; rows that are added later go on in the same columns.
  void Print();

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

/// "3.14" with two digits.
std::string Fixed(double value, int digits);
/// "1.5 GiB", "512 MiB".
std::string MemoryText(int64_t mib);
/// "1.5 GiB, 2 vc".
std::string SizeText(int64_t mib, int64_t vcores);
/// "2m 5s" of milliseconds.
std::string DurationText(int64_t ms);
/// "2026-01-31 12:00:05" in local time.
std::string TimeText(int64_t ms_since_epoch);

}  // namespace fairlead::apps

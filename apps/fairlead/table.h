#pragma once

#include <string>
#include <vector>

#include "base/text.h"

namespace fairlead::apps {

using base::Counted;

/// Rows of text in columns as wide as their widest cell, as `kubectl get` prints them. Cells may hold what strangers
/// wrote: their control characters are seen.
class Table {
 public:
  /// Without a header: rows that go on.
  Table() = default;
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void Add(std::vector<std::string> row);
  size_t size() const { return rows_.size() - 1; }
  std::vector<std::string> Lines() const;
  /// Prints to stdout.
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "1.5 GiB", "512 MiB".
std::string MemoryText(int64_t mib);
/// "1.5 GiB, 2 vc".
std::string SizeText(int64_t mib, int64_t vcores);
/// "2m 5s" of milliseconds.
std::string DurationText(int64_t ms);
/// "2026-01-31 12:00:05" in local time.
std::string TimeText(int64_t ms_since_epoch);

}  // namespace fairlead::apps

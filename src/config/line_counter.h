#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "config/hadoop_conf.h"

namespace fairlead::config {

/// Lines and columns of many places of one text, asked for about in their order. Cost: the bytes between a place and
/// the one before; for a place that lies before the last one, all bytes up to it.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  /// Line and column (from 1) of a byte offset.
  std::pair<int, int> At(size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < counted_) *this = LineCounter(text_);
    const auto [lines, column] = LineAndColumn(text_.substr(counted_, offset - counted_), offset - counted_);
    line_ += lines - 1;
    column_ = lines == 1 ? column_ + column - 1 : column;
    counted_ = offset;
    return {line_, column_};
  }

 private:
  std::string_view text_;
  size_t counted_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace fairlead::config

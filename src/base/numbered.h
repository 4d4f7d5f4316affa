#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"

namespace fairlead::base {

/// Values by number. Numbers are given in order, each once: what is dropped is gone, and its number stays used.
/// A reference holds until something is added or dropped. Access O(log size), dropping O(size).
template <class T>
class Numbered {
 public:
  /// The number of the next value.
  uint32_t next() const { return next_; }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  bool contains(uint32_t number) const { return Find(number) != values_.size(); }

  T& Add(T value = {}) { return values_.emplace_back(next_++, std::move(value)).second; }
  void Drop(const std::set<uint32_t>& numbers) {
    std::erase_if(values_, [&](const auto& one) { return numbers.contains(one.first); });
  }

  const T& operator[](uint32_t number) const {
    const size_t at = Find(number);
    FL_CHECK(at < values_.size(), "a number of what was dropped, or never was");
    return values_[at].second;
  }
  T& operator[](uint32_t number) { return const_cast<T&>(std::as_const(*this)[number]); }

  /// (number, value) in the order of the numbers.
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  auto rbegin() { return values_.rbegin(); }
  auto rend() { return values_.rend(); }

 private:
  /// values_.size() when there is none.
  size_t Find(uint32_t number) const {
    // While nothing was dropped before it, it lies where its number says.
    if (number < values_.size() && values_[number].first == number) return number;
    const auto found = std::ranges::lower_bound(values_, number, {}, [](const auto& one) { return one.first; });
    const bool there = found != values_.end() && found->first == number;
    return there ? static_cast<size_t>(found - values_.begin()) : values_.size();
  }

  std::vector<std::pair<uint32_t, T>> values_;
  uint32_t next_ = 0;
};

}  // namespace fairlead::base

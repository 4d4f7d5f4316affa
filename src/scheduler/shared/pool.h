#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/ids.h"
#include "base/state.h"

namespace fairlead::scheduler {

/// Numbers from 0 on. A number that was given back is the next one taken.
class FreeList {
 public:
  uint32_t Take() {
    if (spare_.empty()) return size_++;
    const uint32_t number = spare_.back();
    spare_.pop_back();
    return number;
  }
  void Give(uint32_t number) { spare_.push_back(number); }
  /// One past the largest number ever taken.
  uint32_t size() const { return size_; }
  /// How many are taken now.
  size_t taken() const { return size_ - spare_.size(); }
  /// Those that were given back, the next one last.
  const std::vector<uint32_t>& spare() const { return spare_; }
  FL_STATE(size_, spare_)

 private:
  uint32_t size_ = 0;
  std::vector<uint32_t> spare_;
};

/// Values by number. A value that was removed leaves its number to the next one that is added. T has a field `bool
/// in_use = false`, which the pool keeps. A loop over the pool gives the numbers in use, in ascending order, without
/// those that are added meanwhile.
template <class T, class Tag>
class Pool {
 public:
  using Id = base::Index<Tag>;

  /// A new value, T{} but for in_use. References to others may move.
  Id Add() {
    const Id id{free_.Take()};
    if (id.value == values_.size()) values_.emplace_back();
    values_[id.value].in_use = true;
    return id;
  }
  /// The value is in use.
  void Remove(Id id) {
    values_[id.value] = T{};
    free_.Give(id.value);
  }

  T& operator[](Id id) { return values_[id.value]; }
  const T& operator[](Id id) const { return values_[id.value]; }
  bool Has(Id id) const { return id.value < values_.size() && values_[id.value].in_use; }
  /// One past the largest number ever used: tables beside the pool are that long.
  size_t size() const { return values_.size(); }
  /// How many are in use.
  size_t count() const { return free_.taken(); }
  const FreeList& numbers() const { return free_; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;

    Iterator(const std::vector<T>& values, uint32_t at)
        : values_(&values), size_(static_cast<uint32_t>(values.size())), at_(at) {
      SkipUnused();
    }
    Id operator*() const { return Id{at_}; }
    Iterator& operator++() {
      ++at_;
      SkipUnused();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void SkipUnused() {
      while (at_ < size_ && !(*values_)[at_].in_use) ++at_;
    }
    const std::vector<T>* values_;
    uint32_t size_;
    uint32_t at_;
  };
  Iterator begin() const { return Iterator(values_, 0); }
  Iterator end() const { return Iterator(values_, static_cast<uint32_t>(values_.size())); }
  FL_STATE(values_, free_)

 private:
  std::vector<T> values_;
  FreeList free_;
};

}  // namespace fairlead::scheduler

#include "scheduler/shared/free_index.h"

#include <algorithm>

namespace fairlead::scheduler {

uint32_t FreeIndex::Add() {
  const auto position = static_cast<uint32_t>(size_++);
  size_t at = position;
  for (size_t level = 0;; ++level, at /= kFan) {
    if (level == levels_.size()) {
      levels_.emplace_back();
      for (size_t group = 0; group * kFan < Count(level - 1); ++group) {
        for (size_t t = 0; t < columns_; ++t) levels_[level].amounts.push_back(GroupMaximum(level - 1, group, t));
        ++levels_[level].count;
      }
    }
    if (at >= Count(level)) {
      levels_[level].amounts.resize((at + 1) * columns_, kClosed);
      levels_[level].count = at + 1;
    }
    if (Count(level) <= kFan && level + 1 == levels_.size()) break;
  }
  return position;
}

void FreeIndex::Close(uint32_t position) {
  Row closed;
  closed.fill(kClosed);
  Write(position, closed.data());
}

int64_t FreeIndex::GroupMaximum(size_t level, size_t group, size_t type) const {
  const size_t end = std::min((group + 1) * kFan, Count(level));
  int64_t maximum = kClosed;
  for (size_t i = group * kFan; i < end; ++i) maximum = std::max(maximum, levels_[level].amounts[i * columns_ + type]);
  return maximum;
}

void FreeIndex::Write(uint32_t position, const int64_t* amounts) {
  for (size_t t = 0; t < columns_; ++t) {
    int64_t value = amounts[t];
    size_t at = position;
    for (size_t level = 0;; ++level) {
      int64_t& slot = levels_[level].amounts[at * columns_ + t];
      const int64_t old = slot;
      if (old == value) break;
      slot = value;
      if (level + 1 == levels_.size()) break;
      const int64_t above = levels_[level + 1].amounts[at / kFan * columns_ + t];
      if (value < above) {
        if (old != above) break;  // another position holds the group's maximum
        value = GroupMaximum(level, at / kFan, t);
      }
      at /= kFan;
    }
  }
}

uint32_t FreeIndex::Search(uint32_t from, const int64_t* need) const {
  const size_t top = levels_.size() - 1;
  const Level* level = levels_.data();
  size_t at = from;
  for (size_t height = 0; at < level->count;) {
    if (Holds(*level, at, need)) {
      if (height == 0) return static_cast<uint32_t>(at);
      --height;
      --level;
      at *= kFan;
      continue;
    }
    ++at;
    for (; height < top && at % kFan == 0; at /= kFan) {
      ++height;
      ++level;
    }
  }
  // A level may end inside a group: what follows lies further right on the levels above, where nothing is left either.
  return kNone;
}

bool FreeIndex::Consistent() const {
  for (size_t level = 0; level + 1 < levels_.size(); ++level) {
    for (size_t i = 0; i < Count(level + 1); ++i) {
      for (size_t t = 0; t < columns_; ++t) {
        if (levels_[level + 1].amounts[i * columns_ + t] != GroupMaximum(level, i, t)) return false;
      }
    }
  }
  return true;
}

}  // namespace fairlead::scheduler

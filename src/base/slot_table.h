#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prefetch.h"

namespace fairlead::base {

/// Finds numbers ("slots" of the caller's own table) by hash: open addressing, linear probing, half full at most. What
/// the hashes are of, and whether two of them are the same, is the caller's, of whose things a search reads only those
/// with the very hash. Up to 2^31 slots; all operations O(1) while the low bits of the hashes are mixed.
class SlotTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The slot added with that hash for which `same(slot)` holds, or kNone.
  template <class Same>
  uint32_t Find(uint32_t hash, Same same) const {
    if (entries_.empty()) return kNone;
    for (size_t at = Home(hash); entries_[at].slot != kNone; at = Next(at)) {
      if (entries_[at].hash == hash && same(entries_[at].slot)) return entries_[at].slot;
    }
    return kNone;
  }
  /// A slot of that hash, perhaps another than the one that is meant, or kNone.
  uint32_t Likely(uint32_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }
  /// Asks for what Find reads first to be brought near.
  void Prefetch(uint32_t hash) const {
    if (!entries_.empty()) base::Prefetch(&entries_[Home(hash)]);
  }

  /// The slot is not there yet.
  void Add(uint32_t hash, uint32_t slot) {
    if ((size_ + 1) * 2 > entries_.size()) Grow();
    Insert({slot, hash});
    ++size_;
  }
  /// The slot is there, with that hash.
  void Remove(uint32_t hash, uint32_t slot) {
    size_t hole = Home(hash);
    while (entries_[hole].slot != slot) hole = Next(hole);
    // Backward shift: an entry after the hole moves into it unless its home lies between them.
    const size_t mask = entries_.size() - 1;
    for (size_t at = Next(hole); entries_[at].slot != kNone; at = Next(at)) {
      if (((at - Home(entries_[at].hash)) & mask) < ((at - hole) & mask)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = Entry{};
    --size_;
  }

  size_t size() const { return size_; }
  /// Calls `visit(slot)` for all, in no order that means anything.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.slot != kNone) visit(entry.slot);
    }
  }

 private:
  struct Entry {
    uint32_t slot = kNone;
    uint32_t hash = 0;
  };
  size_t Home(uint32_t hash) const { return hash & (entries_.size() - 1); }
  size_t Next(size_t at) const { return (at + 1) & (entries_.size() - 1); }
  void Insert(Entry entry) {
    size_t at = Home(entry.hash);
    while (entries_[at].slot != kNone) at = Next(at);
    entries_[at] = entry;
  }
  void Grow() {
    constexpr size_t kFirst = 16;
    const std::vector<Entry> old =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? kFirst : 2 * entries_.size()));
    for (const Entry& entry : old) {
      if (entry.slot != kNone) Insert(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace fairlead::base

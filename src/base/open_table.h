#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "base/state.h"

namespace fairlead::base {

/// Finds values by hash: open addressing, linear probing, half full at most. What the hashes are of, and whether two of
/// them are the same, is the caller's, of whose values a search reads only those with the very hash. `kEmpty` is the
/// value of a place where nothing stands; room is made for `kFirst` places at first, a power of two. Up to 2^31 values;
/// all operations O(1) while the low bits of the hashes are mixed.
template <class Value, auto kEmpty, size_t kFirst>
class OpenTable {
 public:
  /// The value added with that hash for which `same(value)` holds, or null. It stays there until the next change.
  template <class Same>
  const Value* Find(uint32_t hash, Same same) const {
    if (entries_.empty()) return nullptr;
    const Entry& found = entries_[PlaceOf(hash, same)];
    return found.value == kEmpty ? nullptr : &found.value;
  }
  /// Asks for what Find reads first to be brought near.
  void Prefetch(uint32_t hash) const {
    if (!entries_.empty()) base::Prefetch(&entries_[Home(hash)]);
  }
  /// What stands where Find begins, perhaps kEmpty; null in an empty table.
  const Value* AtHome(uint32_t hash) const { return entries_.empty() ? nullptr : &entries_[Home(hash)].value; }

  /// It is not there yet.
  const Value& Add(uint32_t hash, Value value) {
    if ((size_ + 1) * 2 > entries_.size()) Grow();
    ++size_;
    return Insert({std::move(value), hash});
  }
  /// Takes out the value added with that hash for which `same(value)` holds; kEmpty when there is none.
  template <class Same>
  Value Take(uint32_t hash, Same same) {
    if (entries_.empty()) return Value(kEmpty);
    size_t hole = PlaceOf(hash, same);
    if (entries_[hole].value == kEmpty) return Value(kEmpty);
    Value taken = std::move(entries_[hole].value);
    // Backward shift: an entry after the hole moves into it unless its home lies between them.
    const size_t mask = entries_.size() - 1;
    for (size_t at = Next(hole); entries_[at].value != kEmpty; at = Next(at)) {
      if (((at - Home(entries_[at].hash)) & mask) < ((at - hole) & mask)) continue;
      entries_[hole] = std::move(entries_[at]);
      hole = at;
    }
    entries_[hole] = Entry{};
    --size_;
    return taken;
  }

  size_t size() const { return size_; }
  /// Calls `visit(const Value&)` for all, in no order that means anything.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.value != kEmpty) visit(entry.value);
    }
  }
  FL_STATE(entries_, size_)

 private:
  struct Entry {
    Value value{kEmpty};
    uint32_t hash = 0;
    FL_STATE(value, hash)
  };
  size_t Home(uint32_t hash) const { return hash & (entries_.size() - 1); }
  size_t Next(size_t at) const { return (at + 1) & (entries_.size() - 1); }
  /// Where it stands, else the gap at which the search for it ends. There is a gap: the table is not empty.
  template <class Same>
  size_t PlaceOf(uint32_t hash, Same same) const {
    size_t at = Home(hash);
    while (entries_[at].value != kEmpty && (entries_[at].hash != hash || !same(entries_[at].value))) at = Next(at);
    return at;
  }
  const Value& Insert(Entry entry) {
    size_t at = Home(entry.hash);
    while (entries_[at].value != kEmpty) at = Next(at);
    entries_[at] = std::move(entry);
    return entries_[at].value;
  }
  void Grow() {
    std::vector<Entry> old =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? kFirst : 2 * entries_.size()));
    for (Entry& entry : old) {
      if (entry.value != kEmpty) Insert(std::move(entry));
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace fairlead::base

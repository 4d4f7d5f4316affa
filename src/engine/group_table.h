#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/operators.h"
#include "engine/record.h"

// The reduce side of group_by_key, cogroup and join, over bytes: records stay in the blocks they came in, a hash index
// points into them. What does not fit the task's memory goes through GraceFiles, part by part.

namespace fairlead::engine {

/// Hash index from key bytes to lists of values. Views must outlive it. O(1) amortised.
class HashIndex {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;
  struct Entry {
    const char* value;
    uint32_t size;
    uint32_t next;
    std::string_view view() const { return {value, size}; }
  };
  struct Slot {
    uint64_t hash = 0;
    const char* key = nullptr;
    uint32_t key_size = 0;
    uint32_t head = kEnd;
    uint32_t tail = kEnd;
    uint32_t count = 0;
    std::string_view key_view() const { return {key, key_size}; }
  };

  HashIndex();
  void Add(uint64_t hash, std::string_view key, std::string_view value);
  /// Null when the key is absent.
  const Slot* Find(uint64_t hash, std::string_view key) const;
  const Entry& entry(uint32_t i) const { return entries_[i]; }
  const std::vector<Slot>& slots() const { return slots_; }
  size_t memory_bytes() const { return slots_.size() * sizeof(Slot) + entries_.capacity() * sizeof(Entry); }
  /// With what its next growth will take: the new arrays beside the old ones. Who keeps a budget asks this.
  size_t coming_bytes() const {
    return memory_bytes() + (size_ * 10 >= slots_.size() * 9 / 2 ? 2 * slots_.size() * sizeof(Slot) : 0) +
           (entries_.size() >= entries_.capacity() / 4 * 3 ? 2 * entries_.capacity() * sizeof(Entry) : 0);
  }
  void Clear();

 private:
  void Grow();
  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  size_t size_ = 0;
};

/// One input of a grouping: a shuffle and how its records look.
struct KeyedInput {
  int32_t shuffle = -1;
  RecordShape shape;
};

/// Calls use(key, values of input 0, values of input 1) once for each key of the partition that occurs in any input (at
/// most two). Keys come in no particular order.
using GroupUse = std::function<void(std::string_view key, std::span<const std::string_view> first,
                                    std::span<const std::string_view> second)>;
void GroupInputs(TaskContext& task, std::span<const KeyedInput> inputs, int32_t partition, const GroupUse& use);

/// Hash join: the right input is indexed, the left one streams past it: use(key, left value, index, slot) for every
/// left record; slot is null where the right input lacks the key. Left records come in no particular order.
using ProbeUse = std::function<void(std::string_view key, std::string_view left, const HashIndex& right,
                                    const HashIndex::Slot* slot)>;
void ProbeInputs(TaskContext& task, const KeyedInput& left, const KeyedInput& right, int32_t partition,
                 const ProbeUse& use);

}  // namespace fairlead::engine

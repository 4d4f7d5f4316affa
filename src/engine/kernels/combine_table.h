#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/records/arena.h"
#include "engine/records/hash.h"
#include "engine/records/large_memory.h"

namespace fairlead::engine {

/// A key as tables compare it: short ones as two words, longer ones by hash, size and bytes.
struct TableKey {
  uint64_t hash;
  ShortBytes words;  // of a short key; of a longer one a is its hash
  uint32_t size;
  const char* long_key;  // null for a short key

  explicit TableKey(std::string_view key) : size(static_cast<uint32_t>(key.size())) {
    if (key.size() <= ShortBytes::kMax) [[likely]] {
      words = ShortBytes::Of(key.data(), key.size());
      hash = HashShort(words, key.size());
      long_key = nullptr;
    } else {
      hash = HashBytes(key);
      words = {hash, 0};
      long_key = key.data();
    }
  }
};

/// Key bytes -> value, for aggregation. Entries stand in order of arrival, in chunks that never move; an index of
/// 32-bit words (some bits of the hash as a tag, the others the entry's number) finds them by linear probing. So the
/// index of a hundred thousand keys fits a core's own cache, and keys that come often, which come early, share cache
/// lines. Grows at 60 % load. Keys above 16 bytes are copied into an arena. No removal; iteration in order of arrival.
template <class V>
class CombineTable {
 public:
  struct Entry {
    uint64_t a;  // a short key's words; of a longer one its hash, and b points to its bytes
    uint64_t b;
    uint32_t size;
    V value;

    bool is_short() const { return size <= ShortBytes::kMax; }
    uint64_t hash() const { return is_short() ? HashShort({a, b}, size) : a; }
    const char* long_key() const { return reinterpret_cast<const char*>(b); }
    /// The key's bytes, which for a short one are put into `buffer`.
    std::string_view key(char (&buffer)[ShortBytes::kMax]) const {
      if (!is_short()) return {long_key(), size};
      ShortBytes{a, b}.Restore(buffer, size);
      return {buffer, size};
    }
  };

  CombineTable() { Allocate(kFirstBits); }
  ~CombineTable() { DestroyValues(); }
  CombineTable(const CombineTable&) = delete;
  CombineTable& operator=(const CombineTable&) = delete;

  /// Calls merge(value&) on the key's value, or puts make() there when the key is new. Gives the entry's number, which
  /// counts from 0 in order of arrival. O(1) amortised.
  template <class Merge, class Make>
  uint32_t Upsert(const TableKey& key, Merge&& merge, Make&& make) {
    size_t i = key.hash & mask_;
    for (uint32_t word; (word = index_[i]) != 0; i = (i + 1) & mask_) {
      if (((word ^ Tag(key.hash)) & ~mask_) != 0) continue;
      const uint32_t number = (word & mask_) - 1;
      if (IsOf(At(number), key)) {
        merge(At(number).value);
        return number;
      }
    }
    if (size_ >= grow_at_) [[unlikely]] {
      Grow();
      i = FreePlace(key.hash);
    }
    Entry& entry = NewEntry();
    new (&entry.value) V(make());
    SetKey(entry, key);
    index_[i] = (Tag(key.hash) & ~mask_) | (size_ + 1);
    return size_++;
  }

  /// Null when the key is absent.
  const Entry* Find(const TableKey& key) const {
    uint32_t word;
    for (size_t i = key.hash & mask_; (word = index_[i]) != 0; i = (i + 1) & mask_) {
      if (((word ^ Tag(key.hash)) & ~mask_) != 0) continue;
      if (const Entry& entry = At((word & mask_) - 1); IsOf(entry, key)) return &entry;
    }
    return nullptr;
  }

  /// Ask the memory for what an Upsert of this hash will read: its word of the index; then, when that has come, the
  /// entry which the word names.
  void PrefetchIndex(uint64_t hash) const { __builtin_prefetch(&index_[hash & mask_]); }
  void TouchEntry(uint64_t hash) const {
    if (const uint32_t number = index_[hash & mask_] & mask_; number != 0) Touch(&At(number - 1));
  }

  /// The entry of a number that Upsert gave.
  Entry& At(uint32_t i) { return reinterpret_cast<Entry*>(chunks_[i / kChunkEntries]->bytes)[i % kChunkEntries]; }
  const Entry& At(uint32_t i) const { return const_cast<CombineTable*>(this)->At(i); }

  /// Calls use(entry) for every entry.
  template <class Use>
  void ForEach(Use&& use) {
    for (uint32_t i = 0; i < size_; ++i) use(At(i));
  }

  size_t size() const { return size_; }
  /// Bytes of index, entries and keys; what a value holds by itself is not counted.
  size_t memory_bytes() const { return (size_t{mask_} + 1) * sizeof(uint32_t) + chunk_bytes_ + arena_.bytes(); }
  /// What it will hold at the most while it takes in a little more: near its next growth an index of twice the
  /// size. Who keeps a budget asks this. Beyond any budget when the next growth is the one it cannot make.
  size_t coming_bytes() const {
    const size_t next_chunks = ChunksTogether() * sizeof(Chunk);
    if (size_ < grow_at_ / 4 * 3) return memory_bytes() + next_chunks;
    if (mask_ >= kLastMask) return SIZE_MAX;
    return memory_bytes() + next_chunks + (size_t{mask_} + 1) * sizeof(uint32_t);
  }
  void Clear() {
    DestroyValues();
    chunks_.clear();
    chunk_memory_.clear();
    chunk_bytes_ = 0;
    arena_.Clear();
    size_ = 0;
    Allocate(kFirstBits);
  }

 private:
  static constexpr uint32_t kFirstBits = 10;
  static constexpr uint32_t kLastMask = INT32_MAX;
  static constexpr uint32_t kChunkEntries = 256;
  struct Chunk {
    alignas(Entry) char bytes[kChunkEntries * sizeof(Entry)];
  };

  static bool IsOf(const Entry& entry, const TableKey& key) {
    if (key.long_key == nullptr) [[likely]]
      return ((entry.a ^ key.words.a) | (entry.b ^ key.words.b) | (entry.size ^ key.size)) == 0;
    return entry.size == key.size && entry.a == key.words.a &&
           std::memcmp(entry.long_key(), key.long_key, key.size) == 0;
  }
  /// The upper half of the hash, its low bits where the entry's number leaves room: within one reduce partition the
  /// highest bits are all alike (PartitionOf).
  uint32_t Tag(uint64_t hash) const { return static_cast<uint32_t>(hash >> 32) << tag_shift_; }

  void Allocate(uint32_t bits) {
    index_ = nullptr;  // the old one is not needed for the new one
    index_ = MakeZeroed<uint32_t>(size_t{1} << bits);
    tag_shift_ = bits;
    mask_ = (uint32_t{1} << bits) - 1;
    grow_at_ = static_cast<uint32_t>((size_t{mask_} + 1) * 6 / 10);
  }
  void DestroyValues() {
    if constexpr (!std::is_trivially_destructible_v<V>) {
      ForEach([](Entry& entry) { entry.value.~V(); });
    }
  }
  Entry& NewEntry() {
    if (size_ == chunks_.size() * kChunkEntries) AddChunks();
    return At(size_);
  }
  /// How many chunks are made at a time: one while the table is small, then as many as a huge page holds.
  size_t ChunksTogether() const {
    return chunk_bytes_ < kHugePage ? 1 : std::max<size_t>(1, kHugePage / sizeof(Chunk));
  }
  void AddChunks() {
    const size_t n = ChunksTogether();
    chunk_memory_.push_back(MakeZeroed<Chunk>(n));
    for (size_t i = 0; i < n; ++i) chunks_.push_back(&chunk_memory_.back()[i]);
    chunk_bytes_ += n * sizeof(Chunk);
  }
  void SetKey(Entry& entry, const TableKey& key) {
    entry.size = key.size;
    entry.a = key.words.a;
    entry.b =
        key.long_key == nullptr ? key.words.b : reinterpret_cast<uintptr_t>(arena_.Copy({key.long_key, key.size}));
  }
  size_t FreePlace(uint64_t hash) const {
    size_t i = hash & mask_;
    while (index_[i] != 0) i = (i + 1) & mask_;
    return i;
  }
  void Grow() {
    if (mask_ >= kLastMask) throw std::bad_alloc();
    Allocate(tag_shift_ + 1);
    for (uint32_t i = 0; i < size_; ++i) {
      const uint64_t hash = At(i).hash();
      index_[FreePlace(hash)] = (Tag(hash) & ~mask_) | (i + 1);
    }
  }

  /// 0: free; else the entry's number + 1 in the low tag_shift_ bits and the tag above them.
  ZeroedArray<uint32_t> index_;
  uint32_t tag_shift_ = 0;
  uint32_t mask_ = 0;
  uint32_t size_ = 0;
  uint32_t grow_at_ = 0;
  std::vector<Chunk*> chunks_;
  std::vector<ZeroedArray<Chunk>> chunk_memory_;
  size_t chunk_bytes_ = 0;
  Arena arena_;
};

}  // namespace fairlead::engine

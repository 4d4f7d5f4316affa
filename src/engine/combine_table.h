#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "engine/arena.h"
#include "engine/record.h"

namespace fairlead::engine {

/// Key bytes -> value, for aggregation. Open addressing with linear probing; hash, key reference and value share a
/// slot, so a hit costs one cache line (two for keys above 12 bytes). Grows at 60 % load. Keys are copied into an
/// arena. No removal; iteration in slot order, which depends on keys and their order of arrival only.
template <class V>
class CombineTable {
 public:
  struct SlotKey {
    uint64_t hash;  // 0: free
    uint32_t size;
    char inline_key[12];  // keys of up to 12 bytes; longer ones: a pointer in the last 8 bytes

    const char* key_data() const {
      if (size <= sizeof inline_key) return inline_key;
      const char* p;
      std::memcpy(&p, inline_key + 4, sizeof p);
      return p;
    }
    std::string_view key() const { return {key_data(), size}; }
  };
  struct Slot : SlotKey {
    V value;
  };

  CombineTable() { Allocate(kFirstSlots); }
  ~CombineTable() { Release(); }
  CombineTable(const CombineTable&) = delete;
  CombineTable& operator=(const CombineTable&) = delete;

  /// Calls merge(value&) on the key's value, or puts make() there when the key is new (true then). O(1) amortised.
  template <class Merge, class Make>
  bool Upsert(uint64_t hash, std::string_view key, Merge&& merge, Make&& make) {
    size_t i = hash & mask_;
    while (slots_[i].hash != 0) {
      Slot& slot = slots_[i];
      if (slot.hash == hash && slot.size == key.size() && SameBytes(slot.key_data(), key.data(), key.size())) {
        merge(slot.value);
        return false;
      }
      i = (i + 1) & mask_;
    }
    if (size_ >= grow_at_) [[unlikely]] {
      Grow();
      i = FreeSlot(hash);
    }
    Slot& slot = slots_[i];
    new (&slot.value) V(make());
    SetKey(slot, key);
    slot.hash = hash;
    ++size_;
    return true;
  }

  /// Calls use(slot) for every entry.
  template <class Use>
  void ForEach(Use&& use) {
    for (size_t i = 0; i <= mask_; ++i) {
      if (slots_[i].hash != 0) use(slots_[i]);
    }
  }

  size_t size() const { return size_; }
  /// Bytes of slots and keys; what a value holds by itself is not counted.
  size_t memory_bytes() const { return (mask_ + 1) * sizeof(Slot) + arena_.bytes(); }
  /// What it will hold at the most while it takes in a little more: near its next growth the old slots and twice as
  /// many new ones. Who keeps a budget asks this.
  size_t coming_bytes() const {
    return memory_bytes() + (size_ >= grow_at_ / 4 * 3 ? 2 * (mask_ + 1) * sizeof(Slot) : 0);
  }
  void Clear() {
    Release();
    arena_.Clear();
    Allocate(kFirstSlots);
  }

 private:
  static constexpr size_t kFirstSlots = 1024;

  void Allocate(size_t slots) {
    slots_ = static_cast<Slot*>(std::calloc(slots, sizeof(Slot)));
    if (slots_ == nullptr) throw std::bad_alloc();
    mask_ = slots - 1;
    grow_at_ = slots * 6 / 10;
    size_ = 0;
  }
  void Release() {
    if constexpr (!std::is_trivially_destructible_v<V>) {
      ForEach([](Slot& slot) { slot.value.~V(); });
    }
    std::free(slots_);
    slots_ = nullptr;
  }
  void SetKey(Slot& slot, std::string_view key) {
    slot.size = static_cast<uint32_t>(key.size());
    if (key.size() <= sizeof slot.inline_key) {
      if (!key.empty()) std::memcpy(slot.inline_key, key.data(), key.size());
    } else {
      const char* const p = arena_.Copy(key);
      std::memcpy(slot.inline_key + 4, &p, sizeof p);
    }
  }
  size_t FreeSlot(uint64_t hash) const {
    size_t i = hash & mask_;
    while (slots_[i].hash != 0) i = (i + 1) & mask_;
    return i;
  }
  void Grow() {
    Slot* const old = slots_;
    const size_t old_slots = mask_ + 1, count = size_;
    Allocate(old_slots * 2);
    size_ = count;
    for (size_t i = 0; i < old_slots; ++i) {
      if (old[i].hash == 0) continue;
      Slot& slot = slots_[FreeSlot(old[i].hash)];
      static_cast<SlotKey&>(slot) = old[i];
      new (&slot.value) V(std::move(old[i].value));
      old[i].value.~V();
    }
    std::free(old);
  }

  Slot* slots_ = nullptr;
  size_t mask_ = 0;
  size_t size_ = 0;
  size_t grow_at_ = 0;
  Arena arena_;
};

}  // namespace fairlead::engine

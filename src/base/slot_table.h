#pragma once

#include <cstddef>
#include <cstdint>

#include "base/open_table.h"
#include "base/state.h"

namespace fairlead::base {

/// Finds numbers ("slots" of the caller's own table) by hash.
class SlotTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The slot added with that hash for which `same(slot)` holds, or kNone.
  template <class Same>
  uint32_t Find(uint32_t hash, Same same) const {
    const uint32_t* found = table_.Find(hash, same);
    return found ? *found : kNone;
  }
  /// A slot of that hash, perhaps another than the one that is meant, or kNone.
  uint32_t Likely(uint32_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }
  void Prefetch(uint32_t hash) const { table_.Prefetch(hash); }

  /// The slot is not there yet.
  void Add(uint32_t hash, uint32_t slot) { table_.Add(hash, slot); }
  /// The slot is there, with that hash.
  void Remove(uint32_t hash, uint32_t slot) {
    table_.Take(hash, [slot](uint32_t other) { return other == slot; });
  }

  size_t size() const { return table_.size(); }
  /// Calls `visit(slot)` for all, in no order that means anything.
  template <class Visit>
  void ForEach(Visit visit) const {
    table_.ForEach(visit);
  }
  FL_STATE(table_)

 private:
  OpenTable<uint32_t, kNone, 16> table_;
};

}  // namespace fairlead::base

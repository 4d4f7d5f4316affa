#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/state.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/shared/interner.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::hadoop {

/// Host and rack names and "*", each with its Java hash code. A name is kept while somebody uses it, so that masters
/// who name places fill the memory no further than their pending asks do. All O(1).
class Names {
 public:
  static constexpr NameId kAny{0};  // "*", always there

  Names() { Acquire("*"); }
  /// Adds one use of `name`.
  NameId Acquire(std::string_view name);
  void AddUse(NameId id) { ++entries_[id].uses; }
  /// Drops one use; the last one frees the id.
  void Release(NameId id);
  /// Not valid when nobody uses it.
  NameId Find(std::string_view name) const;
  const std::string& Text(NameId id) const { return entries_[id].text; }
  int32_t Hash(NameId id) const { return entries_[id].hash; }
  size_t count() const { return entries_.count(); }
  FL_STATE(entries_, ids_)

 private:
  struct Entry {
    bool in_use = false;
    uint32_t uses = 0;
    int32_t hash = 0;
    std::string text;
    FL_STATE(in_use, uses, hash, text)
  };
  Pool<Entry, NameTag> entries_;
  NameMap<NameId> ids_;
};

}  // namespace fairlead::scheduler::hadoop

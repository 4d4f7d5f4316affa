#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/hadoop/names.h"

namespace fairlead::scheduler::hadoop {

/// The places an attempt wants no containers on (AppSchedulingInfo): until its master has a container the list is the
/// system's, for the master; then it is the master's own. Owns a use of each name in it.
class Blacklist {
 public:
  /// Whose list a call is about.
  enum class Of : uint8_t { kSystem, kMaster };

  /// SchedulerAppUtils.isPlaceBlacklisted. O(log places).
  bool Has(Of of, NameId host, NameId rack) const {
    const std::vector<NameId>& list = lists_[Which(of)];
    return !list.empty() && (Contains(list, host) || Contains(list, rack));
  }
  /// Adds and takes off names, those unknown passed over.
  void Update(Of of, const std::vector<std::string>& add, const std::vector<std::string>& remove, Names& names);
  /// Whether the master's own list has changed since the last call.
  bool TakeChanged() { return std::exchange(changed_, false); }
  /// The master's own list of the attempt before.
  void TakeOver(Blacklist& from);
  void Clear(Names& names);
  void Mix(base::StateHasher& hash) const;
  FL_STATE(lists_, changed_)

 private:
  static constexpr size_t Which(Of of) { return of == Of::kSystem ? 0 : 1; }
  static bool Contains(const std::vector<NameId>& list, NameId name);

  std::vector<NameId> lists_[2];  // sorted
  bool changed_ = false;
};

}  // namespace fairlead::scheduler::hadoop

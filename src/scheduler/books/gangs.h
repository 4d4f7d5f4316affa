#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/books/ids.h"

namespace fairlead::scheduler::native {

/// Asks of one application that start together or not at all.
struct Gang {
  AppSlot app;
  int64_t number = 0;
  uint64_t serial = 0;
  uint64_t tried = 0;  // the room as of then was not enough
  FL_STATE(app, number, serial, tried)
};

/// The gangs that wait, in order of arrival, and whether it is worth trying them again. O(gangs) each.
class Gangs {
 public:
  const std::vector<Gang>& all() const { return gangs_; }
  bool Has(uint64_t serial) const;
  /// True: the gang is new, with that serial. False: it was there, and its members changed.
  bool Enter(AppSlot app, int64_t number, uint64_t serial);
  void Remove(size_t at) { gangs_.erase(gangs_.begin() + static_cast<ptrdiff_t>(at)); }
  void RemoveOf(AppSlot app);
  /// Something may have got room for a gang that failed before.
  void NoteRoom() { ++room_; }
  bool WorthATry(size_t at) const { return gangs_[at].tried != room_; }
  void NoteFailure(size_t at) { gangs_[at].tried = room_; }
  void Mix(base::StateHasher& hash) const;
  FL_STATE(gangs_, room_)

 private:
  std::vector<Gang> gangs_;
  uint64_t room_ = 1;
};

}  // namespace fairlead::scheduler::native

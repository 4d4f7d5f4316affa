#include "scheduler/books/gangs.h"

#include <algorithm>

namespace fairlead::scheduler::native {

bool Gangs::Has(uint64_t serial) const {
  return std::any_of(gangs_.begin(), gangs_.end(), [&](const Gang& gang) { return gang.serial == serial; });
}

bool Gangs::Enter(AppSlot app, int64_t number, uint64_t serial) {
  for (Gang& gang : gangs_) {
    if (gang.app != app || gang.number != number) continue;
    gang.tried = 0;
    return false;
  }
  gangs_.push_back({app, number, serial, 0});
  return true;
}

void Gangs::RemoveOf(AppSlot app) {
  std::erase_if(gangs_, [&](const Gang& gang) { return gang.app == app; });
}

void Gangs::Mix(base::StateHasher& hash) const {
  hash.Mix(room_);
  for (const Gang& gang : gangs_) {
    hash.Mix(gang.app.value);
    hash.Mix(static_cast<uint64_t>(gang.number));
    hash.Mix(gang.serial);
    hash.Mix(gang.tried);
  }
}

}  // namespace fairlead::scheduler::native

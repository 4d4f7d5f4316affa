#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"

namespace fairlead::scheduler::native {

enum class TimerKind : uint8_t { kLocality, kTakeVictims, kReservationEnds, kGangEnds };

struct Timer {
  base::Instant at;
  TimerKind kind = TimerKind::kLocality;
  uint32_t owner = 0;   // by kind: application slot, or reservation
  uint64_t serial = 0;  // of the ask, the reservation or the gang: a number may have got another owner since
  friend auto operator<=>(const Timer&, const Timer&) = default;
  FL_STATE(at, kind, owner, serial)
};

/// What will have to be done at a time. Timers are not taken back: whoever takes one looks whether it is still wanted.
/// Equal times fire by kind, owner and serial. O(log timers) each.
class Timers {
 public:
  void Push(const Timer& timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  /// The next one; there is one.
  const Timer& first() const { return heap_.front(); }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

  bool Consistent() const { return std::is_heap(heap_.begin(), heap_.end(), std::greater<>()); }
  void Mix(base::StateHasher& hash) const {
    std::vector<Timer> timers = heap_;
    std::sort(timers.begin(), timers.end());
    for (const Timer& timer : timers) {
      hash.Mix(static_cast<uint64_t>(timer.at.ns));
      hash.Mix(static_cast<uint64_t>(timer.kind));
      hash.Mix(timer.owner);
      hash.Mix(timer.serial);
    }
  }
  FL_STATE(heap_)

 private:
  std::vector<Timer> heap_;  // earliest first
};

}  // namespace fairlead::scheduler::native

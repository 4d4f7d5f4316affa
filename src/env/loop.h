#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/time.h"

namespace fairlead::env {

/// Clock, timers and the turn of one thread. Every callback of the ports of one Loop runs on that Loop's thread, never
/// from inside the call that registered it.
class Loop {
 public:
  using Callback = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~Loop() = default;

  /// Monotonic time; constant while one callback runs. Time in which the process did not run (it was stopped, its disk
  /// stalled, the machine was suspended) does not count, so that nobody is given up because this process did not read.
  /// Instants of two loops are not to be compared.
  virtual base::Instant Now() const = 0;
  virtual base::WallTime Wall() const = 0;
  /// The clock behind Now(), read again: to measure how long work takes, never to decide. A simulated one stands still
  /// as Now() does.
  virtual base::Instant ReadClock() const { return Now(); }

  /// Runs `callback` once at `when` or as soon after as can be. Timers of equal time run in order of their ids.
  virtual TimerId At(base::Instant when, Callback callback) = 0;
  TimerId After(base::Duration delay, Callback callback) { return At(Now() + delay, std::move(callback)); }
  /// A timer that has run or was cancelled is ignored.
  virtual void Cancel(TimerId timer) = 0;

  /// Runs `callback` in a later turn; may be called from any thread.
  virtual void Post(Callback callback) = 0;

  /// Runs `work` off the loop's thread (inline in the simulator), then `done` on the loop.
  virtual void Offload(Callback work, Callback done) = 0;

  /// Fills `bytes` with randomness fit for keys (seeded in the simulator).
  virtual void RandomBytes(std::span<uint8_t> bytes) = 0;
};

}  // namespace fairlead::env

#pragma once

#include <utility>

#include "base/time.h"
#include "env/loop.h"

namespace fairlead::env {

/// One timer of an object: it runs at most once for each start, starting it again moves it, and it ends with the
/// object. Costs what the loop's own timer costs.
class Timer {
 public:
  explicit Timer(Loop& loop) : loop_(loop) {}
  ~Timer() { Stop(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Replaces an earlier start. Instant::Max(): it stops.
  void At(base::Instant when, Loop::Callback callback) {
    Stop();
    if (when == base::Instant::Max()) return;
    due_ = when;
    id_ = loop_.At(when, [this, callback = std::move(callback)] {
      due_ = base::Instant::Max();
      callback();
    });
  }
  void After(base::Duration delay, Loop::Callback callback) { At(loop_.Now() + delay, std::move(callback)); }

  void Stop() {
    if (waits()) loop_.Cancel(id_);
    due_ = base::Instant::Max();
  }
  bool waits() const { return due_ != base::Instant::Max(); }
  /// Instant::Max() where it does not wait.
  base::Instant due() const { return due_; }

 private:
  Loop& loop_;
  Loop::TimerId id_ = 0;
  base::Instant due_ = base::Instant::Max();
};

}  // namespace fairlead::env

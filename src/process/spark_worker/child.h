#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/process.h"
#include "env/timer.h"

namespace fairlead::process::spark_worker {

/// One process that a worker has started, with all that it starts itself.
class Child {
 public:
  /// After SIGTERM this long until SIGKILL (spark.worker.executorTerminateTimeout, ExecutorRunner).
  static constexpr base::Duration kGrace = base::Duration::Seconds(10);

  Child(env::Loop& loop, env::Processes& processes) : loop_(loop), processes_(processes) {}
  ~Child();

  /// `on_exit` gets the exit status, 128 and the signal's number where a signal ended it; not called when this is
  /// destroyed before.
  base::Status Start(const env::SpawnRequest& request, std::function<void(int32_t code)> on_exit);
  /// Asks it to end and makes it end; does nothing a second time.
  void End();
  bool running() const { return pid_ != 0; }
  bool ending() const { return ending_; }
  int64_t pid() const { return pid_; }

 private:
  env::Loop& loop_;
  env::Processes& processes_;
  int64_t pid_ = 0;  // 0: none runs
  bool ending_ = false;
  env::Timer kill_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker

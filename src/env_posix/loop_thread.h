#pragma once

#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "env_posix/posix_loop.h"

namespace fairlead::env_posix {

/// A loop on a thread of its own, for tests and benchmarks.
class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() {
    loop->Stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  /// Calls `what` on the loop's thread and waits for its end.
  void Run(const std::function<void()>& what) {
    std::promise<void> done;
    loop->Post([&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }

  const std::unique_ptr<PosixLoop> loop = MakePosixLoop();

 private:
  std::thread thread_{[this] { loop->Run(); }};
};

}  // namespace fairlead::env_posix

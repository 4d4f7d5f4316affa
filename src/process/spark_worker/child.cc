#include "process/spark_worker/child.h"

#include <csignal>

namespace fairlead::process::spark_worker {

Child::~Child() {
  alive_.End();
  if (pid_ != 0) (void)processes_.Signal(-pid_, SIGKILL).ok();
}

base::Status Child::Start(const env::SpawnRequest& request, std::function<void(int32_t code)> on_exit) {
  const auto pid = processes_.Spawn(request, alive_([this, on_exit = std::move(on_exit)](env::ExitStatus end) {
                                      // What it leaves behind in its session goes, too.
                                      (void)processes_.Signal(-pid_, SIGKILL).ok();
                                      kill_timer_.Stop();
                                      pid_ = 0;
                                      constexpr int kSignalled = 128;
                                      on_exit(end.signal != 0 ? kSignalled + end.signal : end.code);
                                    }));
  if (!pid) return pid.error();
  pid_ = *pid;
  return {};
}

void Child::End() {
  if (pid_ == 0 || std::exchange(ending_, true)) return;
  (void)processes_.Signal(pid_, SIGTERM).ok();
  kill_timer_.After(kGrace, [this] { (void)processes_.Signal(-pid_, SIGKILL).ok(); });
}

}  // namespace fairlead::process::spark_worker

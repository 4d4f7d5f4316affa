#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "env/loop.h"

namespace fairlead::env_kerberos {

/// A thread that does one step of a login after the other, by turns of the addresses that want some: who brings
/// thousands waits for his own. It may outlive its owner inside of a call that waits for a KDC; then nobody hears of
/// the result.
class StepThread {
 public:
  static constexpr size_t kWaitingMost = 1000;

  /// `loop` outlives this. The thread begins with the first step.
  explicit StepThread(env::Loop& loop);
  ~StepThread();
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  /// `work` on the thread, then what it gives on the loop. When too many wait, the last one of the address with most of
  /// them is `refused` instead, on the loop.
  using Work = std::function<env::Loop::Callback()>;
  void Do(const std::string& address, Work work, env::Loop::Callback refused);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  bool begun_ = false;
};

}  // namespace fairlead::env_kerberos

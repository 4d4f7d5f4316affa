#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace fairlead::engine {

/// From now on a crash of this process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, on any thread) says its signal and a
/// backtrace on standard error before it ends the process as it would have.
void TellOfCrashes();

/// The name of a signal, "SIGSEGV (Segmentation fault)"; of another number "signal N".
std::string SignalName(int signal);

/// While it lives, SIGTERM and SIGINT do not end the process at once: the first calls `stop` with its name, on a thread
/// of this object; when the process is still there after `patience` seconds, or a second one comes, `last` is called
/// and the process ends with 128 + the signal. Made before other threads, which inherit that they do not take the
/// signals. One at a time.
class Interrupts {
 public:
  Interrupts(std::function<void(const std::string& reason)> stop, std::function<void()> last, int patience = 10);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  void Watch();

  const std::function<void(const std::string& reason)> stop_;
  const std::function<void()> last_;
  const int patience_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace fairlead::engine

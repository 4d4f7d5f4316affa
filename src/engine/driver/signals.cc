#include "engine/driver/signals.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace fairlead::engine {

namespace {

constexpr int kFramesMax = 64;

void Say(const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

/// Only what a signal handler may call: sigabbrev_np reads a table, backtrace was called before (TellOfCrashes).
void OnCrash(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  Say("job crashed: SIG");
  Say(name == nullptr ? "?" : name);
  Say("; where (addr2line -e PROGRAM names the lines of a program built with -g):\n");
  void* frames[kFramesMax];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kFramesMax), STDERR_FILENO);
  ::raise(signal);  // the handler is gone (SA_RESETHAND): as it would have ended
}

sigset_t StopSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void TellOfCrashes() {
  void* frame[1];
  ::backtrace(frame, 1);  // loads its library, which a handler must not
  // A stack of its own: an endless recursion leaves none.
  static char stack[64 << 10];
  const stack_t alternative{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = OnCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

std::string SignalName(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  if (name == nullptr) return "signal " + std::to_string(signal);
  return std::string("SIG") + name + " (" + ::sigdescr_np(signal) + ")";
}

Interrupts::Interrupts(std::function<void(const std::string& reason)> stop, std::function<void()> last, int patience)
    : stop_(std::move(stop)), last_(std::move(last)), patience_(patience) {
  const sigset_t set = StopSignals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { Watch(); });
}

Interrupts::~Interrupts() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
  const sigset_t set = StopSignals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interrupts::Watch() {
  const sigset_t set = StopSignals();
  int first = 0;
  if (::sigwait(&set, &first) != 0 || ending_) return;
  stop_("stopped by " + SignalName(first));
  const timespec patience{.tv_sec = patience_, .tv_nsec = 0};
  int second;
  do {
    second = ::sigtimedwait(&set, nullptr, &patience);
  } while (second < 0 && errno == EINTR);
  if (ending_) return;
  last_();
  std::_Exit(128 + first);
}

}  // namespace fairlead::engine

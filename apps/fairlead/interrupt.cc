#include "interrupt.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace fairlead::apps {
namespace {
volatile std::sig_atomic_t interrupted = 0;
}  // namespace

void NoteInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

bool PauseUnlessInterrupted(Cluster& cluster, int64_t milliseconds) {
  constexpr int64_t kSliceMs = 50;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return false;
  for (; milliseconds > 0 && interrupted == 0; milliseconds -= kSliceMs) {
    cluster.client->Pause(std::min(milliseconds, kSliceMs));
  }
  return interrupted == 0;
}

}  // namespace fairlead::apps

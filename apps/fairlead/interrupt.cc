#include "interrupt.h"

#include <algorithm>
#include <csignal>

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
  for (; milliseconds > 0 && interrupted == 0; milliseconds -= kSliceMs) {
    cluster.client->Pause(std::min(milliseconds, kSliceMs));
  }
  return interrupted == 0;
}

}  // namespace fairlead::apps

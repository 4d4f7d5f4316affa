#pragma once

#include "cluster_options.h"

// Commands that go on until somebody ends them.

namespace fairlead::apps {

/// From now on Ctrl-C and SIGTERM are noted and end nothing.
void NoteInterrupts();
bool Interrupted();
/// Writes what was printed and waits; ends early when interrupted, or when nothing can be written. True: go on.
bool PauseUnlessInterrupted(Cluster& cluster, int64_t milliseconds);

}  // namespace fairlead::apps

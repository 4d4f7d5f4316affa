#pragma once

#include "cluster_options.h"

// Commands that go on until somebody ends them.

namespace fairlead::apps {

/// From now on Ctrl-C and SIGTERM are noted and end nothing.
void NoteInterrupts();
bool Interrupted();
/// Waits, and ends early when interrupted; true: go on.
bool PauseUnlessInterrupted(Cluster& cluster, int64_t milliseconds);

}  // namespace fairlead::apps

#pragma once

#include <string>

#include "base/result.h"
#include "sim/traces/configuration.h"
#include "sim/traces/journal.h"

// A resource manager's journal as a trace, for `sim run`, `sim compare`, `sim migrate` and `replay --diff`.

namespace fairlead::apps {

struct RecordedTrace {
  sim::JournalJobs jobs;
  sim::Configuration configuration;  // under which it was written
};

/// A directory, or a file that begins as a journal.
bool IsJournal(const std::string& path);
/// Goes through all that is kept, with its progress on standard error. Error: it cannot be read or replayed.
base::Result<RecordedTrace> ReadJournal(const std::string& path);

}  // namespace fairlead::apps

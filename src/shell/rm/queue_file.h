#pragma once

#include <string>

#include "base/result.h"
#include "model/queues.h"
#include "process/rm/queue_edit.h"
#include "shell/base/settings.h"

namespace fairlead::shell {

/// The file that holds a manager's queues with other settings of one of them, checked as a refresh checks it; nothing
/// is written. The file is Fairlead's YAML where that gives the queues, else `file`, else the one of the profile.
/// Errors: not there (ENOENT), or what would be refused or be without effect.
base::Result<process::rm::QueueEdit> EditQueueFile(const SettingsSource& source, const std::string& file,
                                                   const process::rm::QueueChange& change);

/// The queues of such a file's text, that somebody asks about, checked as a refresh checks it. An XML file of another
/// of Hadoop's schedulers is read in its own form, and checked by yarn-fair or yarn-capacity. Error: what would be
/// refused, or more than 10,000 queues.
base::Result<model::QueueTree> ParseQueueText(const SettingsSource& source, const std::string& text);

/// Replaces the file as a whole; what it was stays beside it, with ".before" at its end.
base::Status WriteQueueFile(const process::rm::QueueEdit& edit);

}  // namespace fairlead::shell

#pragma once

#include <string>

#include "shell/base/logging.h"
#include "shell/base/settings.h"

namespace fairlead::shell {

struct NmOptions {
  SettingsSource settings;
  LogOptions log;
};

/// `fairlead nm`: the node agent as a daemon, until SIGTERM, SIGINT or the resource manager's order. Gives the exit
/// status: 0 ended on request, 1 could not start or go on, 2 the configuration was refused (the reason, with key and
/// remedy, is on stderr).
int RunNodeManager(const NmOptions& options);

}  // namespace fairlead::shell

#pragma once

#include <string>

#include "shell/base/logging.h"
#include "shell/base/settings.h"

namespace fairlead::shell {

struct RmOptions {
  SettingsSource settings;
  LogOptions log;
};

/// `fairlead rm`: the resource manager as a daemon, until SIGTERM or SIGINT. Gives the exit status: 0 ended on request,
/// 1 could not start or go on, 2 the configuration was refused (the reason, with key and remedy, is on stderr).
int RunResourceManager(const RmOptions& options);

}  // namespace fairlead::shell

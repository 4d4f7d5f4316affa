#pragma once

#include "base/result.h"
#include "shell/nm/helper.h"
#include "shell/nm/settings.h"

namespace fairlead::shell {

/// Sets up who does what (docs/privileges.md) and leaves this process without root's rights: starts the helper, makes
/// the agent's own directories where they are missing, finds the control groups, becomes fairlead.nm.user. Before the
/// agent has a second thread. Fills in settings.run_as.agent and what was copied from it, and the control groups.
base::Result<std::unique_ptr<Helper>> GiveUpPrivileges(NmSettings& settings);

}  // namespace fairlead::shell

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/nm.h"

namespace fairlead::shell {

/// Makes the links to localized resources below a container's working directory, and the directories that their names
/// hold (ContainerLaunch: `ln -sf`; ContainerImpl.ResourceLocalizedWhileRunningTransition leaves alone what is there).
/// The first error is told after all were tried.
base::Status MakeLinks(const std::string& work_dir, const std::vector<model::nm::Link>& links, bool replace);

}  // namespace fairlead::shell

#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "model/nm.h"
#include "shell/nm/errand.h"

namespace fairlead::shell {

/// What a container finds when it starts. Made in its first process, as its user.
struct ContainerSetup {
  std::vector<Place> app_dirs;
  Place work_dir;
  std::vector<Place> log_dirs;
  std::string script;
  std::string tokens;
  std::vector<model::nm::Link> links;
  bool debug_info = false;  // see directory_info.h; into the first log directory
  FL_FIELDS(app_dirs, work_dir, log_dirs, script, tokens, links, debug_info)
};

/// Makes directories, script, tokens and links, and enters the working directory.
base::Status SetUpContainer(const ContainerSetup& setup);

/// Makes the links to localized resources below a container's working directory, and the directories that their names
/// hold (ContainerLaunch: `ln -sf`; ContainerImpl.ResourceLocalizedWhileRunningTransition leaves alone what is there).
/// The first error is told after all were tried.
base::Status MakeLinks(const Place& work_dir, const std::vector<model::nm::Link>& links, bool replace);

}  // namespace fairlead::shell

#pragma once

#include <string>

namespace fairlead::shell {

/// What Hadoop leaves in a container's log directory where yarn.nodemanager.log-container-debug-info.enabled is on
/// (ContainerLaunch's script builder: copyDebugInformation, listDebugInformation): a copy of launch_container.sh, and
/// directory.info with the lists that `ls -l`, `find -L . -maxdepth 5 -ls` and `find -L . -maxdepth 5 -type l -ls` give
/// of the current directory. Lists of more than 10,000 files end with a line that says so. What cannot be read is left
/// out, what cannot be written is not there: no reason to fail a container.
void WriteDirectoryInfo(const std::string& log_dir);

}  // namespace fairlead::shell

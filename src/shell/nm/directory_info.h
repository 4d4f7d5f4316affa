#pragma once

#include <string>

namespace fairlead::shell {

/// The text of directory.info, which Hadoop leaves in a container's log directory where
/// yarn.nodemanager.log-container-debug-info.enabled is on (ContainerLaunch's script builder: listDebugInformation):
/// what `ls -l`, `find -L . -maxdepth 5 -ls` and `find -L . -maxdepth 5 -type l -ls` print in the current directory.
/// Lists of more than 10,000 files end with a line that says so. What cannot be read is left out. For a process that is
/// the container's user: links are followed.
std::string DirectoryInfo();

}  // namespace fairlead::shell

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::env_posix {

/// Makes `path` a directory that only this process' user can enter (0700, whatever the umask is), with its missing
/// parents (0755), and closes what lies in it: files become 0600, directories 0700. Gives a sentence for each thing of
/// our own that was open to readers and is closed now, to be logged as a warning.
/// Refused by name: a directory, or a file in it, that belongs to somebody else, that others may write, or that is a
/// link; and a path below a directory that another user can change (root's and our own are trusted, and so is one with
/// the sticky bit, such as /tmp). Blocks; one look at each entry, no deeper.
base::Result<std::vector<std::string>> MakePrivateDirectory(const std::string& path);

/// Makes `path`, when it is missing, an empty file of mode 0600, whatever the umask is. One that is there is left
/// alone: MakePrivateDirectory has looked at it.
base::Status MakePrivateFile(const std::string& path);

}  // namespace fairlead::env_posix

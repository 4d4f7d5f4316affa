#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace fairlead::shell {

/// What BackUpState or RestoreState has written.
struct StateCopy {
  std::string file;
  uint64_t bytes = 0;
  size_t applications = 0;
  std::string set_aside;  // the database that was there before; empty: none
};

/// Copies the resource manager's state out of its directory into one new file, which only this user can read; also
/// while a manager runs. Nothing of the manager is asked: files are copied until a copy is whole, and a copy shows by
/// its checks that it is (OpenSqliteStore), since rows, their sums and their count change in one transaction. An Error
/// has code ENOENT where there is no state. Blocks; cost: the state is copied and read once, again for each copy that
/// the manager wrote into (20 at most).
base::Result<StateCopy> BackUpState(const std::string& directory, const std::string& file);

/// Puts such a file, checked, in the place of the state, and sets aside what was there. Refused while a manager runs.
/// The epoch goes far ahead: containers of starts since the backup may still run, and have theirs in their ids. What is
/// interrupted, by SIGKILL too, leaves the earlier state or the restored one; over a state that no start takes, maybe
/// one that a start refuses until the restore is run again.
base::Result<StateCopy> RestoreState(const std::string& directory, const std::string& file);

}  // namespace fairlead::shell

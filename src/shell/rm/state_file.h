#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/store.h"
#include "env_posix/posix_loop.h"

// What making a copy of the resource manager's state, and taking one back, have in common. All block.

namespace fairlead::shell {

/// The database in RmSettings::state_directory, and in a Scratch.
inline constexpr char kRmDatabase[] = "fairlead-rm.db";

/// A directory of our own beside `file`, removed with its scope.
class Scratch {
 public:
  explicit Scratch(const std::string& file);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  base::Status made() const;
  std::string database() const { return path_ + "/" + kRmDatabase; }

 private:
  std::string path_;
  int error_ = 0;
};

/// The files of the store at `from` as they are now, which need not belong together.
base::Status CopyStateFiles(const std::string& from, const std::string& to);

/// Opens the database (which is made where there is none), so that all checks are made, lets `act` use it, and closes
/// it as one file. Gives how many applications it has had before.
base::Result<size_t> OpenChecked(const std::string& database, env_posix::PosixLoop& loop,
                                 const std::function<base::Status(env::Store&)>& act = {});

/// What is to be changed so that a store with the rows `now` has those of `wanted`. The mark of a restore is not among
/// it: whoever restores sets it first and removes it last.
std::vector<env::Row> ChangesOf(const std::vector<env::Row>& now, std::vector<env::Row> wanted);

/// All rows or none; runs the loop until that is known. An Error as well where the loop is stopped before: then it is
/// not known.
base::Status CommitRows(env::Store& store, env_posix::PosixLoop& loop, std::vector<env::Row> rows);

/// The epoch far ahead of the stored one: containers of starts since the backup may still run, and have theirs in their
/// ids.
base::Result<env::Row> EpochAhead(env::Store& store);

/// The scratch's database becomes `file`, for its user alone.
base::Status KeepAs(const Scratch& scratch, const std::string& file);

/// Now, as part of a file's name.
std::string TimeForName();

}  // namespace fairlead::shell

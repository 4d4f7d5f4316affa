#include "shell/rm/backup.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "env_posix/posix_loop.h"
#include "env_posix/private_dir.h"
#include "env_posix/sqlite_database.h"
#include "env_posix/sqlite_rows.h"
#include "env_posix/state_mark.h"
#include "shell/rm/state_file.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;

constexpr int kCopiesMax = 20;
constexpr std::chrono::milliseconds kBetweenCopies{50};

std::string Database(const std::string& directory) { return directory + "/" + kRmDatabase; }

/// Copies again while the manager writes into it.
base::Result<size_t> CopyWhole(const std::string& from, const std::string& to, env_posix::PosixLoop& loop) {
  base::Error last;
  for (int copy = 0; copy < kCopiesMax; ++copy) {
    if (copy > 0) std::this_thread::sleep_for(kBetweenCopies);
    if (const base::Status copied = CopyStateFiles(from, to); !copied.ok()) return copied.error();
    base::Result<size_t> applications = OpenChecked(to, loop);
    if (applications.ok()) return applications;
    last = applications.error();
  }
  return base::Error{"of " + std::to_string(kCopiesMax) + " copies of " + from +
                     " none was whole; the last one: " + last.message};
}

/// All rows of `fresh` in the place of those of the whole state `database`, which becomes the file `aside`; in one
/// transaction, so that whatever is interrupted leaves the ones or the others.
base::Status Overwrite(const std::string& fresh, const std::string& directory, const std::string& aside,
                       env_posix::PosixLoop& loop) {
  const std::string database = Database(directory);
  const env_posix::StateMark mark(database + ".mark");
  const auto before = mark.Read();
  if (const auto kept = BackUpState(directory, aside); !kept.ok()) return kept.error();
  // Copied first: a file that this process closes loses its locks.
  const auto done = OpenChecked(database, loop, [&](env::Store& store) -> base::Status {
    const auto after = mark.Read();
    if (!before.ok() || !after.ok() || !*before || !*after || (*before)->transactions != (*after)->transactions)
      return base::Error{"a resource manager has run on " + database + " meanwhile; stop it first"};
    const auto now = env_posix::ReadSqliteRows(aside);
    if (!now.ok()) return now.error();
    auto wanted = env_posix::ReadSqliteRows(fresh);
    return wanted.ok() ? CommitRows(store, loop, ChangesOf(*now, std::move(*wanted))) : wanted.error();
  });
  return done.ok() ? base::Status() : done.error();
}

/// `name`, or with a number behind it: a restore that was killed in this second has left its own.
std::string NewName(const std::string& name) {
  std::string free = name;
  for (int number = 2; fs::exists(free); ++number) free = name + "-" + std::to_string(number);
  return free;
}

/// Held while files are exchanged; a damaged database has no such lock, and no manager that runs on it.
base::Result<std::optional<env_posix::SqliteDatabase>> LockOut(const std::string& database) {
  if (!fs::exists(database)) return std::optional<env_posix::SqliteDatabase>();
  auto opened = env_posix::SqliteDatabase::Open(database);
  if (!opened.ok()) return opened.error();
  if (!opened->Run("BEGIN IMMEDIATE") && !opened->IsDamaged()) {
    return base::Error{database + ": " + opened->Reason() + "; stop the resource manager first"};
  }
  return std::optional(std::move(*opened));
}

/// Of a state that no start takes. The old mark stays until the new one takes its place: a start between finds no
/// database, or one that is behind it.
base::Status Exchange(const std::string& fresh, const std::string& database, const std::string& aside) {
  std::error_code error;
  const auto move = [&error](const std::string& from, const std::string& to) {
    if (!error && fs::exists(from)) fs::rename(from, to, error);
  };
  for (const char* part : {"", "-wal", "-shm"}) move(database + part, aside + part);
  if (!error && fs::exists(database + ".mark")) fs::copy_file(database + ".mark", aside + ".mark", error);
  move(fresh, database);
  move(fresh + ".mark", database + ".mark");
  if (error) return base::Error{"cannot exchange " + database + ": " + error.message(), error.value()};
  return {};
}

}  // namespace

base::Result<StateCopy> BackUpState(const std::string& directory, const std::string& file) {
  const std::string database = Database(directory);
  std::error_code unknown;
  if (!fs::exists(database, unknown)) {
    return base::Error{unknown ? database + ": " + unknown.message() + "; run this as the resource manager's user"
                               : "there is no state in " + directory,
                       unknown ? unknown.value() : ENOENT};
  }
  if (fs::exists(file, unknown)) return base::Error{file + " is there already; name a new file"};
  const Scratch scratch(file);
  if (const base::Status made = scratch.made(); !made.ok()) return made.error();
  const auto loop = env_posix::MakePosixLoop();
  const base::Result<size_t> applications = CopyWhole(database, scratch.database(), *loop);
  if (!applications.ok()) return applications.error();
  if (const base::Status kept = KeepAs(scratch, file); !kept.ok()) return kept.error();
  return StateCopy{file, fs::file_size(file, unknown), *applications, ""};
}

base::Result<StateCopy> RestoreState(const std::string& directory, const std::string& file) {
  if (std::error_code unknown; !fs::exists(file, unknown)) return base::Error{"there is no file " + file, ENOENT};
  if (const auto made = env_posix::MakePrivateDirectory(directory); !made.ok()) return made.error();
  const std::string database = Database(directory);
  const Scratch scratch(directory + "/restoring");
  if (const base::Status made = scratch.made(); !made.ok()) return made.error();
  const auto loop = env_posix::MakePosixLoop();
  if (const base::Status copied = CopyStateFiles(file, scratch.database()); !copied.ok()) return copied.error();
  const base::Result<size_t> applications =
      OpenChecked(scratch.database(), *loop, [&](env::Store& store) -> base::Status {
        auto epoch = EpochAhead(store);
        return epoch.ok() ? CommitRows(store, *loop, {std::move(*epoch)}) : epoch.error();
      });
  if (!applications.ok()) return base::Error{file + " is no whole state: " + applications.error().message};
  const bool replaces = fs::exists(database);
  const std::string aside = replaces ? NewName(database + ".until-" + TimeForName()) : database + ".none";
  base::Status put;
  if (replaces && OpenChecked(database, *loop).ok()) {
    put = Overwrite(scratch.database(), directory, aside, *loop);
  } else {
    const auto lock = LockOut(database);
    if (!lock.ok()) return lock.error();
    put = Exchange(scratch.database(), database, aside);
  }
  if (!put.ok()) return put.error();
  std::error_code error;
  return StateCopy{database, fs::file_size(database, error), *applications, replaces ? aside : ""};
}

}  // namespace fairlead::shell

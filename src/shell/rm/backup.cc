#include "shell/rm/backup.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/stored.h"
#include "env/store.h"
#include "env_posix/posix_loop.h"
#include "env_posix/private_dir.h"
#include "env_posix/sqlite_database.h"
#include "process/rm/stored_state.h"
#include "rm/apps.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;

constexpr int kCopiesMax = 20;
constexpr std::chrono::milliseconds kBetweenCopies{50};
/// Each start takes the next one; so many may have been since the backup.
constexpr int32_t kEpochsAhead = 1000;
constexpr const char* kHolds = "applications that were acknowledged, the keys of their tokens, and the epoch";
/// The mark first: a copy that is behind it has missed transactions.
constexpr const char* kParts[] = {".mark", "", "-wal"};

std::string Database(const std::string& directory) { return directory + "/" + kRmDatabase; }

/// A directory of our own beside `file`, removed with its scope.
class Scratch {
 public:
  explicit Scratch(const std::string& file) : path_(file + ".XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) error_ = errno;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (error_ == 0) fs::remove_all(path_, ignored);
  }
  base::Status made() const {
    if (error_ == 0) return {};
    return base::Error{"cannot write beside " + path_ + ": " + std::generic_category().message(error_), error_};
  }
  std::string database() const { return path_ + "/" + kRmDatabase; }

 private:
  std::string path_;
  int error_ = 0;
};

/// The files of the store at `from` as they are now, which need not belong together.
base::Status CopyFiles(const std::string& from, const std::string& to) {
  for (const std::string part : kParts) {
    std::error_code error;
    fs::remove(to + part, error);
    fs::copy_file(from + part, to + part, fs::copy_options::overwrite_existing, error);
    const bool may_miss = !part.empty() && error == std::errc::no_such_file_or_directory;
    if (error && !may_miss) return base::Error{from + part + ": " + error.message(), error.value()};
  }
  return {};
}

/// Opens it, so that all checks are made, lets `act` use it, and closes it as one file.
base::Result<size_t> OpenChecked(const std::string& database, env_posix::PosixLoop& loop,
                                 const std::function<base::Status(env::Store&)>& act = {}) {
  auto store = env_posix::OpenSqliteStore(database, loop, env_posix::Durability::kMachine, kHolds);
  if (!store.ok()) return store.error();
  const auto applications = (*store)->Load(rm::kAppTable);
  if (!applications.ok()) return applications.error();
  if (act) {
    if (const base::Status acted = act(**store); !acted.ok()) return acted.error();
  }
  return applications->size();
}

/// Copies again while the manager writes into it.
base::Result<size_t> CopyWhole(const std::string& from, const std::string& to, env_posix::PosixLoop& loop) {
  base::Error last;
  for (int copy = 0; copy < kCopiesMax; ++copy) {
    if (copy > 0) std::this_thread::sleep_for(kBetweenCopies);
    if (const base::Status copied = CopyFiles(from, to); !copied.ok()) return copied.error();
    base::Result<size_t> applications = OpenChecked(to, loop);
    if (applications.ok()) return applications;
    last = applications.error();
  }
  return base::Error{"of " + std::to_string(kCopiesMax) + " copies of " + from +
                     " none was whole; the last one: " + last.message};
}

base::Status Commit(env::Store& store, env_posix::PosixLoop& loop, std::vector<env::Row> rows) {
  base::Status done;
  store.Commit(std::move(rows), [&](const env::CommitStatus& status) {
    if (!status.ok()) done = base::Error{status.error().message};
    loop.Stop();
  });
  loop.Run();
  return done;
}

base::Status PutEpochAhead(env::Store& store, env_posix::PosixLoop& loop) {
  const auto epochs = env::LoadRecords<int32_t>(store, process::rm::kEpochTable);
  if (!epochs.ok()) return epochs.error();
  const int32_t epoch = epochs->empty() ? 0 : epochs->front().second;
  return Commit(store, loop, {{process::rm::kEpochTable, "", base::EncodeStored(epoch + kEpochsAhead)}});
}

std::string TimeForName() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
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

/// The old mark stays until the new one takes its place: a start between finds no database, or one that is behind it.
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
  std::error_code error;
  fs::permissions(scratch.database(), fs::perms::owner_read | fs::perms::owner_write, error);
  if (!error) fs::rename(scratch.database(), file, error);
  if (error) return base::Error{file + ": " + error.message(), error.value()};
  return StateCopy{file, fs::file_size(file, error), *applications, ""};
}

base::Result<StateCopy> RestoreState(const std::string& directory, const std::string& file) {
  if (std::error_code unknown; !fs::exists(file, unknown)) return base::Error{"there is no file " + file, ENOENT};
  if (const auto made = env_posix::MakePrivateDirectory(directory); !made.ok()) return made.error();
  const std::string database = Database(directory);
  const Scratch scratch(directory + "/restoring");
  if (const base::Status made = scratch.made(); !made.ok()) return made.error();
  const auto loop = env_posix::MakePosixLoop();
  if (const base::Status copied = CopyFiles(file, scratch.database()); !copied.ok()) return copied.error();
  const base::Result<size_t> applications =
      OpenChecked(scratch.database(), *loop, [&](env::Store& store) { return PutEpochAhead(store, *loop); });
  if (!applications.ok()) return base::Error{file + " is no whole state: " + applications.error().message};
  const auto lock = LockOut(database);
  if (!lock.ok()) return lock.error();
  const bool replaces = lock->has_value();
  const std::string aside = replaces ? database + ".until-" + TimeForName() : database + ".none";
  if (const base::Status put = Exchange(scratch.database(), database, aside); !put.ok()) return put.error();
  std::error_code error;
  return StateCopy{database, fs::file_size(database, error), *applications, replaces ? aside : ""};
}

}  // namespace fairlead::shell

#include "shell/rm/shared_backup.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "env/store.h"
#include "env_posix/posix_loop.h"
#include "env_posix/sqlite_rows.h"
#include "env_zookeeper/snapshot.h"
#include "process/rm/stored_state.h"
#include "rm/apps.h"
#include "shell/rm/state_file.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<env::Row>;

/// And twice a session: so long it takes until a manager that was killed leads no more.
constexpr base::Duration kPatience = base::Duration::Seconds(5);
constexpr base::Duration kLook = base::Duration::Millis(100);
/// Of one commit; a row may be longer.
constexpr size_t kBytesOfCommit = 256 << 10;
constexpr size_t kRowsOfCommit = 500;

base::Result<Rows> RowsInZooKeeper(const env_zookeeper::ElectorOptions& place, env_posix::PosixLoop& loop) {
  std::optional<base::Result<Rows>> read;
  const auto snapshot = env_zookeeper::ReadSnapshot(loop, place, [&](base::Result<Rows> rows) {
    read = std::move(rows);
    loop.Stop();
  });
  loop.Run();
  if (!read) return base::Error{"the place of the managers was lost"};
  return std::move(*read);
}

base::Result<StateCopy> WriteFile(Rows rows, const std::string& file, env_posix::PosixLoop& loop) {
  std::error_code error;
  if (fs::exists(file, error)) return base::Error{file + " is there already; name a new file"};
  const Scratch scratch(file);
  if (const base::Status made = scratch.made(); !made.ok()) return made.error();
  const auto applications =
      static_cast<size_t>(std::ranges::count_if(rows, [](const env::Row& row) { return row.table == rm::kAppTable; }));
  const auto written = OpenChecked(scratch.database(), loop,
                                   [&](env::Store& store) { return CommitRows(store, loop, std::move(rows)); });
  if (!written.ok()) return written.error();
  if (const base::Status kept = KeepAs(scratch, file); !kept.ok()) return kept.error();
  return StateCopy{file, fs::file_size(file, error), applications, ""};
}

/// Leads the managers' place for a while.
class Lead {
 public:
  Lead(const env_zookeeper::ElectorOptions& place, env_posix::PosixLoop& loop)
      : loop_(loop), patience_(place.timeout * 2 + kPatience), elector_(env_zookeeper::MakeElector(loop, place)) {}

  /// The store, once this leads. Error: a manager leads, or nobody can.
  base::Result<env::Store*> Take() {
    elector_->Start({.elected =
                         [this](std::unique_ptr<env::Store> store) {
                           store_ = std::move(store);
                           loop_.Stop();
                         },
                     .deposed = [this](const std::string& why) { Fail("the place of the managers was lost: " + why); },
                     .confirmed = [] {},
                     .refused =
                         [this](const base::Error& why) {
                           Fail("no restore while resource managers run, stop all of them first: " + why.message);
                         },
                     .notice = [](const std::string&) {},
                     .warning = [](const std::string&) {}});
    Look(loop_.Now() + patience_);
    loop_.Run();
    if (store_ == nullptr) return base::Error{failed_};
    return store_.get();
  }

 private:
  void Fail(const std::string& why) {
    if (failed_.empty()) failed_ = why;
    loop_.Stop();
  }
  void Look(base::Instant until) {
    if (store_ != nullptr) return;
    if (loop_.Now() < until) {
      loop_.After(kLook, [this, until] { Look(until); });
      return;
    }
    const auto leader = elector_->Leader();
    Fail(leader ? "the resource manager " + *leader + " runs; stop all of them first"
                : "ZooKeeper has not made this the leader in time; is it there, and do no managers run?");
  }

  env_posix::PosixLoop& loop_;
  const base::Duration patience_;
  std::string failed_;
  std::unique_ptr<env::Store> store_;
  std::unique_ptr<env::Elector> elector_;
};

/// Many transactions: the mark of the first is taken away by the last.
base::Status WriteInPieces(env::Store& store, env_posix::PosixLoop& loop, Rows changes) {
  Rows piece = {{process::rm::kRestoringTable, "", "a restore has begun"}};
  size_t bytes = 0;
  for (env::Row& row : changes) {
    bytes += row.key.size() + (row.value ? row.value->size() : 0);
    piece.push_back(std::move(row));
    if (bytes < kBytesOfCommit && piece.size() < kRowsOfCommit) continue;
    if (const base::Status done = CommitRows(store, loop, std::exchange(piece, {})); !done.ok()) return done;
    bytes = 0;
  }
  if (const base::Status done = CommitRows(store, loop, std::move(piece)); !done.ok()) return done;
  return CommitRows(store, loop, {{process::rm::kRestoringTable, "", std::nullopt}});
}

/// The file's rows, with the epoch far ahead. The file stays as it is.
base::Result<Rows> RowsOfFile(const std::string& file, env_posix::PosixLoop& loop) {
  if (std::error_code unknown; !fs::exists(file, unknown)) return base::Error{"there is no file " + file, ENOENT};
  const Scratch scratch(file);
  if (const base::Status made = scratch.made(); !made.ok()) return made.error();
  if (const base::Status copied = CopyStateFiles(file, scratch.database()); !copied.ok()) return copied.error();
  const auto ahead = OpenChecked(scratch.database(), loop, [&](env::Store& store) -> base::Status {
    auto epoch = EpochAhead(store);
    return epoch.ok() ? CommitRows(store, loop, {std::move(*epoch)}) : epoch.error();
  });
  if (!ahead.ok()) return base::Error{file + " is no whole state: " + ahead.error().message};
  return env_posix::ReadSqliteRows(scratch.database());
}

bool IsInterrupted(const Rows& rows) {
  return std::ranges::any_of(rows, [](const env::Row& row) { return row.table == process::rm::kRestoringTable; });
}

}  // namespace

base::Result<StateCopy> BackUpSharedState(const env_zookeeper::ElectorOptions& place, const std::string& file) {
  const auto loop = env_posix::MakePosixLoop();
  base::Result<Rows> rows = RowsInZooKeeper(place, *loop);
  if (!rows.ok()) return rows.error();
  if (IsInterrupted(*rows)) return base::Error{process::rm::kInterruptedRestore};
  return WriteFile(std::move(*rows), file, *loop);
}

base::Result<StateCopy> RestoreSharedState(const env_zookeeper::ElectorOptions& place, const std::string& file) {
  const auto loop = env_posix::MakePosixLoop();
  base::Result<Rows> wanted = RowsOfFile(file, *loop);
  if (!wanted.ok()) return wanted.error();
  env_zookeeper::ElectorOptions beside = place;
  beside.id = "restore";  // none of the managers, so that one that runs is met as the leader
  Lead lead(beside, *loop);
  const base::Result<env::Store*> store = lead.Take();
  if (!store.ok()) return store.error();
  // Nobody writes any more.
  const base::Result<Rows> now = RowsInZooKeeper(place, *loop);
  if (!now.ok() && now.error().code != ENOENT) return now.error();
  StateCopy copy{place.root + " in ZooKeeper at " + place.servers, 0, 0, ""};
  // What a restore has left in parts is no state; the one before it stands aside already.
  if (now.ok() && !now->empty() && !IsInterrupted(*now)) {
    const auto aside = WriteFile(*now, file + ".until-" + TimeForName(), *loop);
    if (!aside.ok()) return aside.error();
    copy.set_aside = aside->file;
  }
  for (const env::Row& row : *wanted) {
    copy.bytes += row.key.size() + row.value->size();
    if (row.table == rm::kAppTable) ++copy.applications;
  }
  Rows changes = ChangesOf(now.ok() ? *now : Rows(), std::move(*wanted));
  if (const base::Status put = WriteInPieces(**store, *loop, std::move(changes)); !put.ok()) return put.error();
  return copy;
}

}  // namespace fairlead::shell

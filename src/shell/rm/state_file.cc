#include "shell/rm/state_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "base/stored.h"
#include "process/rm/stored_state.h"
#include "rm/apps.h"

namespace fairlead::shell {

namespace fs = std::filesystem;

namespace {

/// Each start takes the next one; so many may have been since the backup.
constexpr int32_t kEpochsAhead = 1000;
constexpr const char* kHolds = "applications that were acknowledged, the keys of their tokens, and the epoch";
/// The mark first: a copy that is behind it has missed transactions.
constexpr const char* kParts[] = {".mark", "", "-wal"};

}  // namespace

Scratch::Scratch(const std::string& file) : path_(file + ".XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) error_ = errno;
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (error_ == 0) fs::remove_all(path_, ignored);
}

base::Status Scratch::made() const {
  if (error_ == 0) return {};
  return base::Error{"cannot write beside " + path_ + ": " + std::generic_category().message(error_), error_};
}

base::Status CopyStateFiles(const std::string& from, const std::string& to) {
  for (const std::string part : kParts) {
    std::error_code error;
    fs::remove(to + part, error);
    fs::copy_file(from + part, to + part, fs::copy_options::overwrite_existing, error);
    const bool may_miss = !part.empty() && error == std::errc::no_such_file_or_directory;
    if (error && !may_miss) return base::Error{from + part + ": " + error.message(), error.value()};
  }
  return {};
}

base::Result<size_t> OpenChecked(const std::string& database, env_posix::PosixLoop& loop,
                                 const std::function<base::Status(env::Store&)>& act) {
  auto store = env_posix::OpenSqliteStore(database, loop, env_posix::Durability::kMachine, kHolds);
  if (!store.ok()) return store.error();
  const auto applications = (*store)->Load(rm::kAppTable);
  if (!applications.ok()) return applications.error();
  if (act) {
    if (const base::Status acted = act(**store); !acted.ok()) return acted.error();
  }
  return applications->size();
}

std::vector<env::Row> ChangesOf(const std::vector<env::Row>& now, std::vector<env::Row> wanted) {
  std::set<std::pair<std::string, std::string>> stay;
  for (const env::Row& row : wanted) stay.emplace(row.table, row.key);
  std::vector<env::Row> changes;
  for (const env::Row& row : now) {
    if (row.table == process::rm::kRestoringTable || stay.contains({row.table, row.key})) continue;
    changes.push_back({row.table, row.key, std::nullopt});
  }
  std::ranges::move(wanted, std::back_inserter(changes));
  return changes;
}

base::Status CommitRows(env::Store& store, env_posix::PosixLoop& loop, std::vector<env::Row> rows) {
  const auto done = std::make_shared<base::Status>(
      base::Error{"the store was lost: it is not known whether what was written last is stored"});
  store.Commit(std::move(rows), [done, &loop](const env::CommitStatus& status) {
    *done = status.ok() ? base::Status() : base::Status(base::Error{status.error().message});
    loop.Stop();
  });
  loop.Run();
  return *done;
}

base::Result<env::Row> EpochAhead(env::Store& store) {
  const auto epochs = env::LoadRecords<int32_t>(store, process::rm::kEpochTable);
  if (!epochs.ok()) return epochs.error();
  const int32_t epoch = epochs->empty() ? 0 : epochs->front().second;
  return env::Row{process::rm::kEpochTable, "", base::EncodeStored(epoch + kEpochsAhead)};
}

base::Status KeepAs(const Scratch& scratch, const std::string& file) {
  std::error_code error;
  fs::permissions(scratch.database(), fs::perms::owner_read | fs::perms::owner_write, error);
  if (!error) fs::rename(scratch.database(), file, error);
  if (error) return base::Error{file + ": " + error.message(), error.value()};
  return {};
}

std::string TimeForName() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

}  // namespace fairlead::shell

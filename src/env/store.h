#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/stored.h"

namespace fairlead::env {

/// One change of a table of key -> value; no value means: remove.
struct Row {
  std::string table;
  std::string key;
  std::optional<std::string> value;
  FL_FIELDS(table, key, value)
};

/// Why a commit did not succeed. Who commits switches on it.
enum class CommitFailure : uint8_t {
  kRefused,  ///< nothing is written; a later try may succeed (a full disk)
  kFenced,   ///< nothing is written, now or later: another process owns the store. Whoever decides must stop deciding
  kGone,     ///< the store cannot be reached any more; whether the rows are stored is not known. No later try succeeds
};

struct CommitError {
  CommitFailure kind = CommitFailure::kRefused;
  std::string message;
};
/// Committed, or why not.
using CommitStatus = base::Result<void, CommitError>;

/// What lies among the rows and no process of ours has written: it is left out, and stays where it is.
struct ForeignRows {
  size_t count = 0;
  std::string first;  // the name of one, kRowNameShown bytes of it as VisibleText
};
inline constexpr size_t kRowNameShown = 100;

/// Durable tables for what cannot be learnt again. A store is opened whole or not at all: one that is damaged, or that
/// misses a row that was committed, is refused at the start.
class Store {
 public:
  virtual ~Store() = default;
  /// Applies all `rows` or none; `done` runs on the loop once they are on stable storage, or with the reason why not.
  /// Commits are applied in the order of the calls; several may share one sync.
  virtual void Commit(std::vector<Row> rows, std::function<void(CommitStatus)> done) = 0;
  /// Every row of a table, by key. Blocks; for the start.
  virtual base::Result<std::vector<Row>> Load(const std::string& table) = 0;
  /// Others could read and change what it holds until now: secrets in it are to be replaced by the first commit, after
  /// which it says so no more.
  virtual bool WasOpen() const { return false; }
  /// As it was when the store was opened.
  virtual ForeignRows Foreign() const { return {}; }
  /// What a person calls it, for messages: a file's path.
  virtual std::string Name() const = 0;
};

/// A row that is whole, and that this release cannot make sense of although it is not a later one's. It stays where it
/// is; whoever starts goes on without it, and tells people of it.
struct UnreadRow {
  std::string table;
  std::string key;
  std::string reason;
};

/// The rows of a table as records (base/stored.h), by key. One that cannot be read is an error that names it; with
/// `unread` only one of a later release, and the others go there.
template <class T>
base::Result<std::vector<std::pair<std::string, T>>> LoadRecords(Store& store, const std::string& table,
                                                                 std::vector<UnreadRow>* unread = nullptr) {
  base::Result<std::vector<Row>> rows = store.Load(table);
  if (!rows.ok()) return rows.error();
  std::vector<std::pair<std::string, T>> out;
  for (const Row& row : *rows) {
    base::Result<T> record = base::DecodeStored<T>(row.value.value_or(""));
    if (!record.ok() && unread != nullptr && !base::IsOfLaterRelease<T>(row.value.value_or(""))) {
      unread->push_back({table, row.key, record.error().message});
      continue;
    }
    if (!record.ok()) {
      return base::Error{"Row " + row.key + " of table " + table + " in the state store " + store.Name() +
                         " cannot be read: " + record.error().message +
                         ". Start the release that wrote it, restore the state from a backup, or remove the state "
                         "directory, which forgets what it holds."};
    }
    out.emplace_back(row.key, std::move(*record));
  }
  return out;
}

}  // namespace fairlead::env

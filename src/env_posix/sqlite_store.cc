#include <sqlite3.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "env_posix/posix_loop.h"
#include "env_posix/private_dir.h"

namespace fairlead::env_posix {
namespace {

/// A prepared statement, finalized with its scope.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) { ::sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { ::sqlite3_finalize(statement_); }
  sqlite3_stmt* get() const { return statement_; }
  void BindText(int place, const std::string& text) {
    ::sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void BindBlob(int place, const std::string& bytes) {
    ::sqlite3_bind_blob64(statement_, place, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  /// Runs a statement without rows.
  bool Run() {
    const int code = ::sqlite3_step(statement_);
    ::sqlite3_reset(statement_);
    return code == SQLITE_DONE;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

struct PendingCommit {
  std::vector<env::Row> rows;
  std::function<void(base::Status)> done;
};

class SqliteStore final : public env::Store {
 public:
  SqliteStore(sqlite3* db, env::Loop& loop) : db_(db), loop_(loop), thread_([this] { Serve(); }) {}

  ~SqliteStore() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
    ::sqlite3_close(db_);
  }

  void Commit(std::vector<env::Row> rows, std::function<void(base::Status)> done) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(rows), std::move(done)});
    }
    wake_.notify_one();
  }

  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    const std::lock_guard lock(database_);
    Statement select(db_, "SELECT key, value FROM rows WHERE tab = ? ORDER BY key");
    if (select.get() == nullptr) return Failure("load " + table);
    select.BindText(1, table);
    std::vector<env::Row> out;
    int code = ::sqlite3_step(select.get());
    for (; code == SQLITE_ROW; code = ::sqlite3_step(select.get())) {
      out.push_back({table, Column(select.get(), 0), Column(select.get(), 1)});
    }
    if (code != SQLITE_DONE) return Failure("load " + table);
    return out;
  }

 private:
  static std::string Column(sqlite3_stmt* row, int column) {
    const auto* data = static_cast<const char*>(::sqlite3_column_blob(row, column));
    return data == nullptr ? std::string()
                           : std::string(data, static_cast<size_t>(::sqlite3_column_bytes(row, column)));
  }

  base::Error Failure(const std::string& what) const {
    return {"state store: " + what + ": " + ::sqlite3_errmsg(db_), ::sqlite3_errcode(db_)};
  }

  void Serve() {
    while (true) {
      std::deque<PendingCommit> batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        batch.swap(queue_);
      }
      const base::Status status = Apply(batch);
      for (PendingCommit& commit : batch) {
        loop_.Post([done = std::move(commit.done), status] { done(status); });
      }
    }
  }

  /// One transaction for the whole batch: one sync.
  base::Status Apply(const std::deque<PendingCommit>& batch) {
    const std::lock_guard lock(database_);
    if (::sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) return Failure("begin");
    for (const PendingCommit& commit : batch) {
      for (const env::Row& row : commit.rows) {
        if (ApplyRow(row)) continue;
        const base::Error error = Failure("write");
        ::sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
        return error;
      }
    }
    if (::sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
      const base::Error error = Failure("commit");
      ::sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
      return error;
    }
    return {};
  }

  bool ApplyRow(const env::Row& row) {
    if (!row.value) {
      Statement remove(db_, "DELETE FROM rows WHERE tab = ? AND key = ?");
      remove.BindText(1, row.table);
      remove.BindText(2, row.key);
      return remove.Run();
    }
    Statement put(db_, "INSERT OR REPLACE INTO rows (tab, key, value) VALUES (?, ?, ?)");
    put.BindText(1, row.table);
    put.BindText(2, row.key);
    put.BindBlob(3, *row.value);
    return put.Run();
  }

  sqlite3* db_;
  env::Loop& loop_;
  std::mutex database_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PendingCommit> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

base::Result<std::unique_ptr<env::Store>> OpenSqliteStore(const std::string& path, env::Loop& loop,
                                                          Durability durability) {
  // SQLite gives its other files (WAL and index) the mode of this one.
  if (base::Status made = MakePrivateFile(path); !made.ok()) return made.error();
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  const auto fail = [&] {
    const base::Error error{"state store " + path + ": " + ::sqlite3_errmsg(db), ::sqlite3_errcode(db)};
    ::sqlite3_close(db);
    return error;
  };
  if (::sqlite3_open_v2(path.c_str(), &db, flags, nullptr) != SQLITE_OK) return fail();
  ::sqlite3_busy_timeout(db, 5000);
  // NORMAL syncs at checkpoints only: the file stays whole through a power cut, which may undo the last commits.
  const char* synchronous =
      durability == Durability::kMachine ? "PRAGMA synchronous=FULL;" : "PRAGMA synchronous=NORMAL;";
  const char* setup =
      "PRAGMA journal_mode=WAL;"
      "CREATE TABLE IF NOT EXISTS rows (tab TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
      " PRIMARY KEY (tab, key)) WITHOUT ROWID;";
  for (const char* statements : {synchronous, setup}) {
    if (::sqlite3_exec(db, statements, nullptr, nullptr, nullptr) != SQLITE_OK) return fail();
  }
  return std::unique_ptr<env::Store>(std::make_unique<SqliteStore>(db, loop));
}

}  // namespace fairlead::env_posix

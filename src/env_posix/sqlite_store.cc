#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/checksum.h"
#include "env_posix/posix_loop.h"
#include "env_posix/private_dir.h"
#include "env_posix/sqlite_database.h"
#include "env_posix/state_mark.h"

namespace fairlead::env_posix {
namespace {

/// "FLST": the database is a store of Fairlead's. Release 0.1.0 wrote none.
constexpr int64_t kApplicationId = 0x464c5354;
/// Of the tables; what is in a row has its own (base/stored.h). Written when there is a large value for the first time:
/// until then an earlier release reads the store.
constexpr int64_t kFormat = 2;
constexpr int64_t kFormatWithoutLarge = 1;
constexpr const char* kSchema =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE rows (tab BLOB NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, sum INTEGER NOT NULL,"
    " PRIMARY KEY (tab, key)) WITHOUT ROWID;"
    "PRAGMA application_id=0x464c5354;"
    "PRAGMA user_version=1;";
/// A table without row ids is a tree of whole rows, and a search reads all of every row that it compares with. So a
/// longer value stands aside, and its row has the number of that place, an integer where others have bytes.
constexpr size_t kLargeValue = 64 << 10;
constexpr const char* kLargeSchema = "CREATE TABLE IF NOT EXISTS large (id INTEGER PRIMARY KEY, value BLOB NOT NULL)";
constexpr const char* kPut = "INSERT OR REPLACE INTO rows (tab, key, value, sum) VALUES (?, ?, ?, ?)";
constexpr const char* kMarkSuffix = ".mark";
/// A process that ends may still hold the file.
constexpr int kBusyMs = 1000;

/// The row that counts the others.
constexpr const char* kHeadTable = "";
constexpr const char* kHeadKey = "head";

/// What all rows together are, changed by every transaction.
struct Head {
  uint64_t transactions = 0;
  uint64_t rows = 0;
  uint64_t digest = 0;  // the sum of their checksums
  FL_FIELDS(transactions, rows, digest)
};

uint64_t SumOf(std::string_view table, std::string_view key, std::string_view value) {
  return base::Checksum({table, key, value});
}

bool Put(SqliteStatement& put, std::string_view table, std::string_view key, std::string_view value) {
  put.Bind(1, table);
  put.Bind(2, key);
  put.Bind(3, value);
  put.Bind(4, SumOf(table, key, value));
  return put.Run();
}

bool PutHead(SqliteStatement& put, const Head& head) {
  return Put(put, kHeadTable, kHeadKey, base::EncodeStored(head));
}

struct PendingCommit {
  std::vector<env::Row> rows;
  std::function<void(env::CommitStatus)> done;
};

class SqliteStore final : public env::Store {
 public:
  SqliteStore(SqliteDatabase database, StateMark mark, Head head, env::Loop& loop)
      : database_(std::move(database)),
        mark_(std::move(mark)),
        head_(head),
        loop_(loop),
        put_(database_, kPut),
        remove_(database_, "DELETE FROM rows WHERE tab = ? AND key = ?"),
        find_(database_, "SELECT sum, iif(typeof(value) = 'integer', value, 0) FROM rows WHERE tab = ? AND key = ?"),
        put_large_(database_, "INSERT INTO large (value) VALUES (?)"),
        remove_large_(database_, "DELETE FROM large WHERE id = ?"),
        inode_(Inode()),
        thread_([this] { Serve(); }) {}

  ~SqliteStore() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(rows), std::move(done)});
    }
    wake_.notify_one();
  }

  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    const std::lock_guard lock(database_mutex_);
    SqliteStatement select(database_,
                           "SELECT key, ifnull(large.value, rows.value), sum FROM rows LEFT JOIN large ON "
                           "typeof(rows.value) = 'integer' AND id = rows.value WHERE tab = ? ORDER BY key");
    const auto failure = [&](const std::string& why) {
      return base::Error{"state store " + Name() + ": table " + table + " cannot be read: " + why};
    };
    if (!select.ok()) return failure(database_.Reason());
    select.Bind(1, table);
    std::vector<env::Row> out;
    int code = select.Step();
    for (; code == SQLITE_ROW; code = select.Step()) {
      out.push_back({table, std::string(select.Bytes(0)), std::string(select.Bytes(1))});
      if (SumOf(table, out.back().key, *out.back().value) != select.Number(2)) {
        return failure("row " + out.back().key + " is damaged");
      }
    }
    if (code != SQLITE_DONE) return failure(database_.Reason());
    return out;
  }

  std::string Name() const override { return database_.path(); }

 private:
  void Serve() {
    while (true) {
      std::deque<PendingCommit> batch;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        batch.swap(queue_);
      }
      const env::CommitStatus status = Apply(batch);
      for (PendingCommit& commit : batch) {
        loop_.Post([done = std::move(commit.done), status] { done(status); });
      }
    }
  }

  /// One transaction for the whole batch: one sync.
  env::CommitStatus Apply(const std::deque<PendingCommit>& batch) {
    const std::lock_guard lock(database_mutex_);
    if (Inode() != inode_) return env::CommitError{env::CommitFailure::kGone, Name() + " was removed while in use"};
    if (!database_.Run("BEGIN IMMEDIATE")) return Failure("begin");
    Head head = head_;
    ++head.transactions;
    for (const PendingCommit& commit : batch) {
      for (const env::Row& row : commit.rows) {
        if (!ApplyRow(row, head)) return RolledBack("write");
      }
    }
    if (!PutHead(put_, head)) return RolledBack("write");
    if (!database_.Run("COMMIT")) return RolledBack("commit");
    head_ = head;
    mark_.Write(head_.transactions);
    return {};
  }

  bool ApplyRow(const env::Row& row, Head& head) {
    find_.Bind(1, row.table);
    find_.Bind(2, row.key);
    const int found = find_.Step();
    const uint64_t old_sum = found == SQLITE_ROW ? find_.Number(0) : 0;
    const uint64_t old_large = found == SQLITE_ROW ? find_.Number(1) : 0;
    find_.Reset();
    if (found != SQLITE_ROW && found != SQLITE_DONE) return false;
    if (old_large != 0) {
      remove_large_.Bind(1, old_large);
      if (!remove_large_.Run()) return false;
    }
    if (found == SQLITE_ROW) {
      --head.rows;
      head.digest -= old_sum;
    }
    if (!row.value) {
      remove_.Bind(1, row.table);
      remove_.Bind(2, row.key);
      return remove_.Run();
    }
    ++head.rows;
    head.digest += SumOf(row.table, row.key, *row.value);
    return row.value->size() <= kLargeValue ? Put(put_, row.table, row.key, *row.value) : PutLarge(row);
  }

  bool PutLarge(const env::Row& row) {
    if (!database_.Run("PRAGMA user_version=2")) return false;
    put_large_.Bind(1, *row.value);
    if (!put_large_.Run()) return false;
    put_.Bind(1, row.table);
    put_.Bind(2, row.key);
    put_.Bind(3, static_cast<uint64_t>(::sqlite3_last_insert_rowid(database_.get())));
    put_.Bind(4, SumOf(row.table, row.key, *row.value));
    return put_.Run();
  }

  env::CommitError Failure(const char* step) {
    const auto kind = database_.IsDamaged() ? env::CommitFailure::kGone : env::CommitFailure::kRefused;
    return {kind, "state store " + Name() + ", " + step + ": " + database_.Reason()};
  }
  env::CommitError RolledBack(const char* step) {
    const env::CommitError error = Failure(step);
    database_.Run("ROLLBACK");
    return error;
  }

  /// Of the file that has the store's name; 0: there is none.
  uint64_t Inode() const {
    struct stat info;
    return ::stat(database_.path().c_str(), &info) == 0 ? info.st_ino : 0;
  }

  std::mutex database_mutex_;  // guards the next three and the statements
  SqliteDatabase database_;
  StateMark mark_;
  Head head_;
  env::Loop& loop_;
  SqliteStatement put_;
  SqliteStatement remove_;
  SqliteStatement find_;
  SqliteStatement put_large_;
  SqliteStatement remove_large_;
  const uint64_t inode_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PendingCommit> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

// ---- Opening ------------------------------------------------------------------------------------------------------

/// One store on its way from a file to an open store, or to a refusal.
class Opening {
 public:
  Opening(const std::string& path, env::Loop& loop, Durability durability, const std::string& holds)
      : path_(path), loop_(loop), durability_(durability), holds_(holds), mark_(path + kMarkSuffix) {}

  base::Result<std::unique_ptr<env::Store>> Run() {
    const auto marked = mark_.Read();
    if (!marked.ok()) return base::Error{"state store: " + marked.error().message, marked.error().code};
    if (marked->has_value() && IsEmpty()) return Damaged("it is empty or missing, and a state was kept in it");
    // SQLite gives its other files (WAL) the mode of this one.
    if (base::Status made = MakePrivateFile(path_); !made.ok()) return Unusable(made.error().message);
    base::Result<SqliteDatabase> database = SqliteDatabase::Open(path_);
    if (!database.ok()) return Unusable(database.error().message);
    if (base::Status set_up = SetUp(*database); !set_up.ok()) return set_up.error();
    const base::Result<int64_t> tables = database->Number("SELECT count(*) FROM sqlite_master");
    if (!tables.ok()) return Failed(*database);
    Head head;
    if (*tables == 0 && !marked->has_value()) {
      if (!Create(*database)) return Failed(*database);
    } else {
      if (base::Status known = CheckFormat(*database); !known.ok()) return known.error();
      base::Result<Head> read = ReadAll(*database);
      if (!read.ok()) return read.error();
      head = *read;
      const bool counts = durability_ == Durability::kMachine || (marked->has_value() && (*marked)->of_this_boot);
      if (counts && marked->has_value() && head.transactions < (*marked)->transactions) {
        return Damaged("its last " + std::to_string((*marked)->transactions - head.transactions) +
                       " transactions are lost (" + mark_.path() + " counts " +
                       std::to_string((*marked)->transactions) + ")");
      }
    }
    if (!mark_.Write(head.transactions) && !marked->has_value()) {
      return Unusable("cannot write " + mark_.path());
    }
    return std::unique_ptr<env::Store>(
        std::make_unique<SqliteStore>(std::move(*database), std::move(mark_), head, loop_));
  }

 private:
  bool IsEmpty() const {
    struct stat info;
    return ::stat(path_.c_str(), &info) < 0 || info.st_size == 0;
  }

  base::Error Unusable(const std::string& why) const { return {"state store " + path_ + " cannot be used: " + why}; }
  base::Error Damaged(const std::string& what) const {
    return {"state store " + path_ + " is damaged: " + what + ". It holds " + holds_ +
            ". Restore the whole state directory from a backup; or remove " + path_ + "* to start without them"};
  }
  base::Error Failed(const SqliteDatabase& database) const {
    return database.IsDamaged() ? Damaged(database.Reason()) : Unusable(database.Reason());
  }

  base::Status SetUp(SqliteDatabase& database) const {
    ::sqlite3_busy_timeout(database.get(), kBusyMs);
    // NORMAL syncs at checkpoints only: the file stays whole through a power cut, which may undo the last commits.
    const char* synchronous =
        durability_ == Durability::kMachine ? "PRAGMA synchronous=FULL;" : "PRAGMA synchronous=NORMAL;";
    // EXCLUSIVE keeps a second process out and needs no shared index file.
    for (const char* statements : {synchronous, "PRAGMA locking_mode=EXCLUSIVE;", "PRAGMA journal_mode=WAL;"}) {
      if (!database.Run(statements)) return Failed(database);
    }
    return {};
  }

  static bool Create(SqliteDatabase& database) {
    if (!database.Run(kSchema) || !database.Run(kLargeSchema)) return false;
    SqliteStatement put(database, kPut);
    return put.ok() && PutHead(put, {}) && database.Run("COMMIT");
  }

  base::Status CheckFormat(SqliteDatabase& database) const {
    const base::Result<int64_t> id = database.Number("PRAGMA application_id");
    const base::Result<int64_t> format = database.Number("PRAGMA user_version");
    if (!id.ok() || !format.ok()) return Failed(database);
    if (*id == kApplicationId && (*format == kFormat || *format == kFormatWithoutLarge)) return {};
    if (*id == 0 && *format == 0) {
      return Unusable(
          "release 0.1.0 wrote it, or it is damaged. This release cannot read that: let applications end "
          "under 0.1.0 and remove the state directory, or restore the state from a backup. It holds " +
          holds_);
    }
    if (*id == kApplicationId && *format > kFormat) {
      return Unusable("its format is " + std::to_string(*format) + " and this release reads " +
                      std::to_string(kFormat) +
                      ": a later release wrote it, or it is damaged. Start that release, or "
                      "restore the state from a backup. It holds " +
                      holds_);
    }
    return Damaged("it does not say that it is a state store of Fairlead");
  }

  /// Reads every row once; gives what the next transaction changes.
  base::Result<Head> ReadAll(SqliteDatabase& database) const {
    const base::Result<std::string> check = database.Text("PRAGMA quick_check(1)");
    if (!check.ok()) return Failed(database);
    if (*check != "ok") return Damaged(*check);
    if (!database.Run(kLargeSchema)) return Failed(database);  // a store of an earlier release has none
    SqliteStatement select(database,
                           "SELECT tab, key, ifnull(large.value, rows.value), sum FROM rows LEFT JOIN large ON "
                           "typeof(rows.value) = 'integer' AND id = rows.value");
    if (!select.ok()) return Failed(database);
    Head found;
    std::optional<Head> head;
    int code = select.Step();
    for (; code == SQLITE_ROW; code = select.Step()) {
      const std::string_view table = select.Bytes(0);
      const std::string_view key = select.Bytes(1);
      std::string name;  // keys may be any bytes
      base::AppendJsonString(name, key);
      name += " of table " + std::string(table);
      // A key that has become a text would not be found again, of whatever bytes it is.
      const bool are_bytes = select.IsBlob(0) && select.IsBlob(1) && select.IsBlob(2);
      if (!are_bytes || SumOf(table, key, select.Bytes(2)) != select.Number(3)) {
        return Damaged("row " + name + " does not match its checksum");
      }
      if (table == kHeadTable && key == kHeadKey) {
        const auto read = base::DecodeStored<Head>(select.Bytes(2));
        if (!read.ok()) return Unusable("its head cannot be read: " + read.error().message);
        head = *read;
      } else {
        ++found.rows;
        found.digest += select.Number(3);
      }
    }
    if (code != SQLITE_DONE) return Failed(database);
    if (!head) return Damaged("its head is missing");
    if (head->rows != found.rows || head->digest != found.digest) {
      return Damaged("it has " + std::to_string(found.rows) + " rows where " + std::to_string(head->rows) +
                     " were committed, or old ones in their place");
    }
    return *head;
  }

  const std::string& path_;
  env::Loop& loop_;
  const Durability durability_;
  const std::string& holds_;
  StateMark mark_;
};

}  // namespace

base::Result<std::unique_ptr<env::Store>> OpenSqliteStore(const std::string& path, env::Loop& loop,
                                                          Durability durability, const std::string& holds) {
  return Opening(path, loop, durability, holds).Run();
}

void RemoveSqliteStore(const std::string& path) {
  // The mark last: a store that is removed by half is refused.
  for (const char* suffix : {"", "-wal", "-shm", kMarkSuffix}) ::unlink((path + suffix).c_str());
}

}  // namespace fairlead::env_posix

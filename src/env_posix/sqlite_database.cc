#include "env_posix/sqlite_database.h"

#include <cerrno>
#include <utility>

#include "env_posix/disk_words.h"

namespace fairlead::env_posix {
namespace {

/// The errno behind a failure; 0 where there is none.
int ErrnoOf(sqlite3* db) {
  switch (::sqlite3_errcode(db) & 0xff) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:
      return EROFS;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: {
      const int error = ::sqlite3_system_errno(db);
      return error != 0 ? error : EIO;
    }
    default:
      return 0;
  }
}

}  // namespace

SqliteDatabase::SqliteDatabase(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
SqliteDatabase::~SqliteDatabase() { ::sqlite3_close(db_); }
SqliteDatabase::SqliteDatabase(SqliteDatabase&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)), path_(std::move(other.path_)) {}

base::Result<SqliteDatabase> SqliteDatabase::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = ::sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(db, path);
  if (code != SQLITE_OK) return base::Error{database.Reason(), ErrnoOf(db)};
  if (::sqlite3_db_readonly(db, "main") == 1) return base::Error{DiskWords(path, EROFS), EROFS};
  return database;
}

base::Result<int64_t> SqliteDatabase::Number(const char* query) {
  SqliteStatement statement(*this, query);
  if (!statement.ok() || statement.Step() != SQLITE_ROW) return base::Error{Reason()};
  return static_cast<int64_t>(statement.Number(0));
}

base::Result<std::string> SqliteDatabase::Text(const char* query) {
  SqliteStatement statement(*this, query);
  if (!statement.ok() || statement.Step() != SQLITE_ROW) return base::Error{Reason()};
  return std::string(statement.Bytes(0));
}

std::string SqliteDatabase::Reason() const {
  const int error = ErrnoOf(db_);
  if (error != 0) return DiskWords(path_, error);
  if ((::sqlite3_errcode(db_) & 0xff) == SQLITE_BUSY) return "another process uses it";
  return ::sqlite3_errmsg(db_);
}

bool SqliteDatabase::IsDamaged() const {
  const int code = ::sqlite3_errcode(db_) & 0xff;
  return ErrnoOf(db_) == 0 && code != SQLITE_BUSY && code != SQLITE_NOMEM;
}

SqliteStatement::SqliteStatement(const SqliteDatabase& database, const char* sql) {
  ::sqlite3_prepare_v2(database.get(), sql, -1, &statement_, nullptr);
}
SqliteStatement::~SqliteStatement() { ::sqlite3_finalize(statement_); }

void SqliteStatement::Bind(int place, std::string_view bytes) {
  // A null pointer would be NULL, not an empty value.
  const char* data = bytes.empty() ? "" : bytes.data();
  ::sqlite3_bind_blob64(statement_, place, data, bytes.size(), SQLITE_STATIC);
}

void SqliteStatement::Bind(int place, uint64_t number) {
  ::sqlite3_bind_int64(statement_, place, static_cast<sqlite3_int64>(number));
}

void SqliteStatement::Reset() {
  ::sqlite3_reset(statement_);
  ::sqlite3_clear_bindings(statement_);
}

bool SqliteStatement::Run() {
  const int code = Step();
  Reset();
  return code == SQLITE_DONE;
}

std::string_view SqliteStatement::Bytes(int column) const {
  const auto* data = static_cast<const char*>(::sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(::sqlite3_column_bytes(statement_, column))};
}

}  // namespace fairlead::env_posix

#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::env_posix {

/// An open SQLite database file, closed with its scope.
class SqliteDatabase {
 public:
  /// Opens the file for writing; it must exist.
  static base::Result<SqliteDatabase> Open(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;

  const std::string& path() const { return path_; }
  sqlite3* get() const { return db_; }
  bool Run(const char* statements) { return ::sqlite3_exec(db_, statements, nullptr, nullptr, nullptr) == SQLITE_OK; }
  base::Result<int64_t> Number(const char* query);
  base::Result<std::string> Text(const char* query);

  /// Why the last call failed, in an operator's words: the disk's state where it is the disk.
  std::string Reason() const;
  /// The last call failed by the file's contents, not by the disk, another process or memory.
  bool IsDamaged() const;

 private:
  SqliteDatabase(sqlite3* db, std::string path);
  sqlite3* db_;
  std::string path_;
};

/// A prepared statement, finalized with its scope. Columns and parameters count from 0 and 1, as SQLite's.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteDatabase& database, const char* sql);
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;
  ~SqliteStatement();

  bool ok() const { return statement_ != nullptr; }
  /// Bound bytes must outlive the step.
  void Bind(int place, std::string_view bytes);
  void Bind(int place, uint64_t number);
  /// SQLITE_ROW, SQLITE_DONE or an error.
  int Step() { return ::sqlite3_step(statement_); }
  /// Ready for the next run.
  void Reset();
  /// Runs a statement without rows.
  bool Run();
  std::string_view Bytes(int column) const;
  bool IsBlob(int column) const { return ::sqlite3_column_type(statement_, column) == SQLITE_BLOB; }
  uint64_t Number(int column) const { return static_cast<uint64_t>(::sqlite3_column_int64(statement_, column)); }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace fairlead::env_posix

#include "env_posix/sqlite_rows.h"

#include "env_posix/sqlite_database.h"

namespace fairlead::env_posix {

base::Result<std::vector<env::Row>> ReadSqliteRows(const std::string& path) {
  const base::Result<SqliteDatabase> database = SqliteDatabase::Open(path);
  if (!database.ok()) return database.error();
  // The row of no table counts the others.
  SqliteStatement select(*database,
                         "SELECT tab, key, ifnull(large.value, rows.value) FROM rows LEFT JOIN large ON "
                         "typeof(rows.value) = 'integer' AND id = rows.value WHERE length(tab) > 0 ORDER BY tab, key");
  if (!select.ok()) return base::Error{path + ": " + database->Reason()};
  std::vector<env::Row> rows;
  int code = select.Step();
  for (; code == SQLITE_ROW; code = select.Step()) {
    rows.push_back({std::string(select.Bytes(0)), std::string(select.Bytes(1)), std::string(select.Bytes(2))});
  }
  if (code != SQLITE_DONE) return base::Error{path + ": " + database->Reason()};
  return rows;
}

}  // namespace fairlead::env_posix

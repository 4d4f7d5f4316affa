#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/stored.h"
#include "env/log.h"
#include "env/store.h"

// Stored rows that cannot be read: they do not keep a daemon from serving the rest.

namespace fairlead::process::spark_master {

/// Where such rows go, as they are, by "bad-TABLE-KEY": an operator may look at them, or take them to the release that
/// wrote them.
inline constexpr const char* kSetAsideTable = "set_aside";

struct SetAsideRow {
  std::string name;  // under which it is kept
  std::string why;
};

/// A row that cannot be read, where it still is.
struct BadRow {
  std::string table;
  std::string key;
  std::string value;
  std::string why;
};

/// Puts a row under its other name, and says so in the log.
SetAsideRow SetRowAside(env::Store& store, env::Log& log, const BadRow& row);
/// Those of earlier starts, which are still there.
base::Result<std::vector<SetAsideRow>> LoadSetAside(env::Store& store);

/// The rows of a table as records, by key. One that cannot be read is added to `bad`; nothing is written.
template <class T>
base::Result<std::vector<std::pair<std::string, T>>> LoadReadable(env::Store& store, const std::string& table,
                                                                  std::vector<BadRow>& bad) {
  base::Result<std::vector<env::Row>> rows = store.Load(table);
  if (!rows.ok()) return rows.error();
  std::vector<std::pair<std::string, T>> out;
  for (const env::Row& row : *rows) {
    base::Result<T> record = base::DecodeStored<T>(row.value.value_or(""));
    if (record.ok()) {
      out.emplace_back(row.key, std::move(*record));
    } else {
      bad.push_back({table, row.key, row.value.value_or(""), record.error().message});
    }
  }
  return out;
}

}  // namespace fairlead::process::spark_master

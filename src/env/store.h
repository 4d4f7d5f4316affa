#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace fairlead::env {

/// One change of a table of key -> value; no value means: remove.
struct Row {
  std::string table;
  std::string key;
  std::optional<std::string> value;
  FL_FIELDS(table, key, value)
};

/// Durable tables for what cannot be learnt again.
class Store {
 public:
  virtual ~Store() = default;
  /// Applies all `rows` or none; `done` runs on the loop once they are on stable storage, or with the reason why not.
  /// Commits are applied in the order of the calls; several may share one sync.
  virtual void Commit(std::vector<Row> rows, std::function<void(base::Status)> done) = 0;
  /// Every row of a table, by key. Blocks; for the start.
  virtual base::Result<std::vector<Row>> Load(const std::string& table) = 0;
};

}  // namespace fairlead::env

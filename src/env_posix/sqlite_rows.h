#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "env/store.h"

namespace fairlead::env_posix {

/// All rows of a store's file, by table and key, which nobody has open. Nothing is checked but that SQLite can read
/// them: OpenSqliteStore does that.
base::Result<std::vector<env::Row>> ReadSqliteRows(const std::string& path);

}  // namespace fairlead::env_posix

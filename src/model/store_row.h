#pragma once

#include <string>

#include "base/fields.h"

namespace fairlead::model {

/// One change of a store; `remove` has no value.
struct StoreRow {
  std::string table;
  std::string key;
  std::string value;
  bool remove = false;
  FL_FIELDS(table, key, value, remove)
};

}  // namespace fairlead::model

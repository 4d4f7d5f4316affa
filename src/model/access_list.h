#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/fields.h"

namespace fairlead::model {

/// Users and groups that may do something.
struct AccessList {
  bool everybody = false;
  std::vector<std::string> users;
  std::vector<std::string> groups;
  FL_FIELDS(everybody, users, groups)
};

/// Is the user on the list, or one of the groups that he is in?
inline bool Lists(const AccessList& list, const std::string& user, const std::vector<std::string>& groups) {
  const auto on = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return list.everybody || on(list.users, user) ||
         std::any_of(groups.begin(), groups.end(), [&](const std::string& group) { return on(list.groups, group); });
}

}  // namespace fairlead::model

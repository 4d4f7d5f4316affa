#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "config/keys.h"

namespace fairlead::config {

/// docs/configuration.md, which has the tables of keys.
inline std::string ConfigurationPage(const std::string& source_directory) {
  std::ifstream file(source_directory + "/docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Keys with one of `prefixes` that a reader asked for and that no row of its tables has. A row that ends in "*" has
/// all keys that begin so, and one whose meaning names `.more` has that ending, too.
template <class Source>
std::vector<std::string> Undescribed(const Source& conf, const std::vector<std::string>& prefixes,
                                     const std::vector<std::vector<Setting>>& tables) {
  const auto described = [&](const std::string& key) {
    for (const std::vector<Setting>& table : tables) {
      for (const Setting& row : table) {
        if (row.key == key) return true;
        if (row.key.ends_with('*') && key.starts_with(row.key.substr(0, row.key.size() - 1))) return true;
        const std::string ending = "`" + key.substr(key.rfind('.')) + "`";
        const std::string parent = row.key.substr(0, row.key.rfind('.'));
        if (key.starts_with(parent + ".") && row.meaning.find(ending) != std::string::npos) return true;
      }
    }
    return false;
  };
  std::vector<std::string> out;
  for (const std::string& key : conf.Asked()) {
    for (const std::string& prefix : prefixes) {
      if (key.starts_with(prefix) && !described(key)) out.push_back(key);
    }
  }
  return out;
}

}  // namespace fairlead::config

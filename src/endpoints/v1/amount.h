#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/described_json.h"
#include "model/resources.h"

// What several documents of /fairlead/v1 hold. Each struct of this folder is one document, or a part of one: the answer
// of the daemon, its schema in openapi.json and what commands read are made from it. Within v1 fields are only ever
// added. Times are milliseconds since 1970, unless the field says otherwise.

namespace fairlead::endpoints::v1 {

/// Memory, cores, and the other types of resources by their names.
struct Amount {
  model::Resources resources;

  Amount() = default;
  Amount(const model::Resources& of) : resources(of) {}
  void AppendJson(std::string& out) const;
  static std::string Schema(base::JsonSchemas& schemas);
};

/// {NAME: COUNT, ...}
struct Counts {
  std::map<std::string, int64_t> by_name;

  void AppendJson(std::string& out) const;
  static std::string Schema(base::JsonSchemas& schemas);
};

/// What was wrong.
struct Error {
  std::string error{};
  FL_DESCRIBED("Error", (error, "what was wrong, and what to do"))
};

/// As JSON.
template <class T>
std::string Text(const T& document) {
  std::string text{};
  base::WriteJson(text, document);
  return text;
}

}  // namespace fairlead::endpoints::v1

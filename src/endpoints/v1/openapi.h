#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/described_json.h"

namespace fairlead::endpoints::v1 {

/// A document of this folder, or none.
using Described = std::string (*)(base::JsonSchemas& schemas);
template <class T>
std::string SchemaOf(base::JsonSchemas& schemas) {
  return schemas.Of<T>();
}

/// One of several.
template <class... T>
std::string SchemaOfAny(base::JsonSchemas& schemas) {
  std::string ways{};
  ((ways += (ways.empty() ? "" : ",") + schemas.Of<T>()), ...);
  return R"({"anyOf":[)" + ways + "]}";
}
inline std::string AnyObject(base::JsonSchemas& /*schemas*/) { return R"({"type":"object"})"; }

/// A name in a path ("{id}") or a query.
struct Parameter {
  std::string_view name;
  std::string_view meaning;
  bool number = false;  // 0 or more
  bool must = false;    // of a query; a path's must always
};

/// What /fairlead/v1 takes by one method at one path.
struct Operation {
  std::string_view method;
  std::string_view path;  // below /fairlead/v1/, with {NAME} for any one word
  std::string_view summary;
  Described answer = nullptr;  // null: text/plain
  std::vector<Parameter> parameters = {};
  Described body = nullptr;
  std::vector<int> refusals = {};  // with Error
  std::string_view of = {};        // another daemon than the resource manager: its name
  std::string_view at = {};        // and where it has this by default
};

/// /fairlead/v1/openapi.json, as OpenAPI 3.0. Each operation takes `user.name` besides, unless it is of another method
/// of login.
std::string OpenApi(std::span<const Operation> operations);

}  // namespace fairlead::endpoints::v1

#include "base/described_json.h"

#include <charconv>
#include <cmath>

namespace fairlead::base {
namespace {

template <class T>
void AppendNumber(std::string& out, T value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

}  // namespace

void AppendShortest(std::string& out, double value) { AppendNumber(out, value); }
void AppendShortest(std::string& out, float value) { AppendNumber(out, value); }

void JsonSchemas::Members::Add(std::string_view name, std::string_view meaning, const std::string& schema,
                               bool always) {
  properties_ += properties_.empty() ? "" : ",";
  AppendJsonString(properties_, name);
  properties_ += ':';
  if (meaning.empty()) {
    properties_ += schema;
  } else if (schema.starts_with(R"({"$ref")")) {  // beside a reference nothing else is read
    properties_ += R"({"allOf":[)" + schema + R"(],"description":)";
    AppendJsonString(properties_, meaning);
    properties_ += '}';
  } else {
    properties_ += R"({"description":)";
    AppendJsonString(properties_, meaning);
    properties_ += "," + schema.substr(1);
  }
  if (!always) return;
  required_ += required_.empty() ? "" : ",";
  AppendJsonString(required_, name);
}

std::string JsonSchemas::Members::Schema(bool closed) const {
  std::string schema = R"({"type":"object")";
  if (!required_.empty())
    schema += R"(,"required":[)" + required_ + "]";  // draft 4, which OpenAPI 3.0 reads, has no []
  schema += R"(,"properties":{)" + properties_ + "}";
  if (closed) schema += R"(,"additionalProperties":false)";
  return schema + "}";
}

std::string JsonSchemas::Definitions() const {
  std::string all;
  for (const auto& [name, schema] : definitions_) {
    all += all.empty() ? "" : ",";
    AppendJsonString(all, name);
    all += ":" + schema;
  }
  return "{" + all + "}";
}

}  // namespace fairlead::base

#include "endpoints/v1/openapi.h"

#include <map>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted;
  base::AppendJsonString(quoted, text);
  return quoted;
}

/// `{"a":1,"b":2}` or `[...]` of its parts.
class Joined {
 public:
  explicit Joined(char open) : text_(1, open) {}
  void Add(const std::string& part) { text_ += (text_.size() == 1 ? "" : ",") + part; }
  void Add(std::string_view name, const std::string& value) { Add(Quoted(name) + ":" + value); }
  std::string Close() const { return text_ + (text_.front() == '{' ? '}' : ']'); }

 private:
  std::string text_;
};

std::string ParameterOf(const Parameter& one, bool in_path) {
  Joined parameter('{');
  parameter.Add("name", Quoted(one.name));
  parameter.Add("in", in_path ? R"("path")" : R"("query")");
  parameter.Add("required", in_path || one.must ? "true" : "false");
  parameter.Add("description", Quoted(one.meaning));
  parameter.Add("schema", one.number ? R"({"type":"integer","minimum":0})" : R"({"type":"string"})");
  return parameter.Close();
}

std::string Content(std::string_view type, const std::string& schema) {
  return "{" + Quoted(type) + R"(:{"schema":)" + schema + "}}";
}

std::string ResponsesOf(const Operation& one, base::JsonSchemas& schemas) {
  Joined responses('{');
  const auto add = [&](const std::string& code, std::string_view said, const std::string& content) {
    responses.Add(code, R"({"description":)" + Quoted(said) + R"(,"content":)" + content + "}");
  };
  const auto plain = [] { return Content("text/plain", R"({"type":"string"})"); };
  add("200", one.summary, one.answer ? Content("application/json", one.answer(schemas)) : plain());
  for (const int code : one.refusals) {
    add(std::to_string(code), "what was wrong",
        one.of.empty() ? Content("application/json", schemas.Of<Error>()) : plain());
  }
  return responses.Close();
}

std::string OperationOf(const Operation& one, base::JsonSchemas& schemas) {
  Joined parameters('[');
  for (const Parameter& parameter : one.parameters) {
    parameters.Add(ParameterOf(parameter, one.path.find("{" + std::string(parameter.name) + "}") != one.path.npos));
  }
  parameters.Add(ParameterOf({"user.name", "who asks (Hadoop's simple authentication)"}, false));
  Joined operation('{');
  operation.Add("summary", Quoted(one.summary));
  operation.Add("parameters", parameters.Close());
  if (one.body) {
    operation.Add("requestBody",
                  R"({"required":true,"content":)" + Content("application/json", one.body(schemas)) + "}");
  }
  operation.Add("responses", ResponsesOf(one, schemas));
  return operation.Close();
}

}  // namespace

std::string OpenApi(std::span<const Operation> operations) {
  base::JsonSchemas schemas("#/components/schemas/");
  std::map<std::string, Joined> paths;
  for (const Operation& one : operations) {
    const auto [path, fresh] = paths.try_emplace("/" + std::string(one.path), '{');
    if (fresh && !one.of.empty()) {
      path->second.Add("servers", R"([{"url":)" + Quoted(std::string(one.at) + "/fairlead/v1") + R"(,"description":)" +
                                      Quoted(one.of) + "}]");
    }
    path->second.Add(one.method == "GET"      ? "get"
                     : one.method == "PUT"    ? "put"
                     : one.method == "DELETE" ? "delete"
                                              : "post",
                     OperationOf(one, schemas));
  }
  Joined all('{');
  for (const auto& [path, methods] : paths) all.Add(path, methods.Close());
  return R"({"openapi":"3.0.3","info":{"title":"Fairlead","version":"v1","description":"Fairlead's own REST of the )"
         R"(resource manager, and a node agent's logs. Within v1 fields are only ever added."},)"
         R"("servers":[{"url":"/fairlead/v1"}],"paths":)" +
         all.Close() + R"(,"components":{"schemas":)" + schemas.Definitions() + "}}";
}

}  // namespace fairlead::endpoints::v1

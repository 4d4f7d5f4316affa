#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

void Amount::AppendJson(std::string& out) const {
  out += R"({"memory_mib":)" + std::to_string(resources.memory_mib()) + R"(,"vcores":)" +
         std::to_string(resources.vcores());
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    out += ',';
    base::AppendJsonString(out, model::ResourceTypes::Name(type));
    out += ":" + std::to_string(resources[type]);
  }
  out += '}';
}

std::string Amount::Schema(base::JsonSchemas& /*schemas*/) {
  return R"({"type":"object","required":["memory_mib","vcores"],"properties":)"
         R"({"memory_mib":{"type":"integer"},"vcores":{"type":"integer"}},"additionalProperties":{"type":"integer"}})";
}

void Counts::AppendJson(std::string& out) const {
  char before = '{';
  for (const auto& [name, count] : by_name) {
    out += before;
    base::AppendJsonString(out, name);
    out += ":" + std::to_string(count);
    before = ',';
  }
  out += by_name.empty() ? "{}" : "}";
}

std::string Counts::Schema(base::JsonSchemas& /*schemas*/) {
  return R"({"type":"object","additionalProperties":{"type":"integer"}})";
}

}  // namespace fairlead::endpoints::v1

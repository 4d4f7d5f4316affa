#include "endpoints/v1/nodes.h"

namespace fairlead::endpoints::v1 {

void NodeMark::AppendJson(std::string& out) const {
  char before = '[';
  for (const std::string* text : {&id, &rack, &state}) {
    out += before;
    base::AppendJsonString(out, *text);
    before = ',';
  }
  out += "," + std::to_string(full) + "]";
}

std::string NodeMark::Schema(base::JsonSchemas& /*schemas*/) { return R"({"type":"array","items":{}})"; }

}  // namespace fairlead::endpoints::v1

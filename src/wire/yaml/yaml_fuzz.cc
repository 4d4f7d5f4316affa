#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/yaml/yaml.h"

namespace {

/// All that whoever walks the value sees.
size_t Walk(const YAML::Node& node) {
  size_t nodes = 1;
  if (node.IsSequence()) {
    for (const auto& item : node) nodes += Walk(item);
  } else if (node.IsMap()) {
    for (const auto& item : node) nodes += Walk(item.first) + Walk(item.second);
  }
  return nodes;
}

}  // namespace

/// Any text gives a value of bounded size, aliases written out, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace wy = fairlead::wire::yaml;
  const auto loaded = wy::Load(std::string_view(reinterpret_cast<const char*>(data), size));
  if (loaded.ok()) {
    FL_CHECK(Walk(*loaded) <= wy::kFile.nodes.most + 1, "more nodes than the budget has");
  } else {
    FL_CHECK(!loaded.error().message.empty(), "refused without a word");
  }
  return 0;
}

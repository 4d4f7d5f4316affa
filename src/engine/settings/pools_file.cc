#include "engine/settings/pools_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <pugixml.hpp>

#include "wire/xml/xml.h"

namespace fairlead::engine {

namespace {

constexpr size_t kFileMax = 64 << 10;

class PoolsReader {
 public:
  PoolsReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  base::Result<std::vector<tasks::PoolConfig>> Read() {
    if (text_.size() > kFileMax) return base::Error{file_ + " is larger than 64 KiB"};
    pugi::xml_document document;
    if (const auto loaded = wire::xml::Load(document, text_, wire::xml::kFile); !loaded) {
      return Wrong(static_cast<ptrdiff_t>(loaded.error().at), loaded.error().message);
    }
    const pugi::xml_node root = document.document_element();
    if (std::strcmp(root.name(), "allocations") != 0) {
      return Wrong(root.offset_debug(),
                   "the outermost element is <" + std::string(root.name()) + ">, not <allocations>");
    }
    std::vector<tasks::PoolConfig> pools;
    for (const pugi::xml_node& node : root.children()) {
      if (node.type() != pugi::node_element) continue;
      if (const base::Status added = AddPool(node, pools); !added.ok()) return added.error();
    }
    return pools;
  }

 private:
  base::Error Wrong(ptrdiff_t offset, const std::string& what) const {
    const auto end = text_.begin() + std::clamp<ptrdiff_t>(offset, 0, static_cast<ptrdiff_t>(text_.size()));
    return base::Error{file_ + ":" + std::to_string(1 + std::count(text_.begin(), end, '\n')) + ": " + what};
  }

  base::Status AddPool(const pugi::xml_node& node, std::vector<tasks::PoolConfig>& pools) const {
    const std::string name = node.attribute("name").value();
    if (std::strcmp(node.name(), "pool") != 0 || name.empty()) {
      return Wrong(node.offset_debug(), "write <pool name=\"NAME\">, not <" + std::string(node.name()) + ">");
    }
    for (const tasks::PoolConfig& known : pools) {
      if (known.name == name) return Wrong(node.offset_debug(), "pool " + name + " stands there twice");
    }
    tasks::PoolConfig pool{.name = name};
    for (const pugi::xml_node& value : node.children()) {
      if (value.type() != pugi::node_element) continue;
      if (const base::Status set = SetValue(value, pool); !set.ok()) return set;
    }
    pools.push_back(std::move(pool));
    return {};
  }

  base::Status SetValue(const pugi::xml_node& node, tasks::PoolConfig& pool) const {
    const std::string name = node.name();
    std::string text = node.text().get();
    text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    const auto wrong = [&](const std::string& what) {
      return Wrong(node.offset_debug(), "pool " + pool.name + ": " + name + " is '" + text + "': " + what);
    };
    if (name == "schedulingMode") {
      std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
      if (text != "FIFO" && text != "FAIR") return wrong("write FIFO or FAIR");
      pool.mode = text == "FAIR" ? tasks::PoolMode::kFair : tasks::PoolMode::kFifo;
      return {};
    }
    const bool is_weight = name == "weight";
    if (!is_weight && name != "minShare") {
      return Wrong(node.offset_debug(),
                   "pool " + pool.name + ": <" + name + "> is not known; schedulingMode, weight and minShare are");
    }
    int32_t& field = is_weight ? pool.weight : pool.min_share;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    const int32_t least = is_weight ? 1 : 0;
    if (error != std::errc() || end != text.data() + text.size() || field < least) {
      return wrong("write a whole number of at least " + std::to_string(least));
    }
    return {};
  }

  const std::string file_;
  const std::string_view text_;
};

}  // namespace

base::Result<std::vector<tasks::PoolConfig>> ParsePools(const std::string& file, std::string_view text) {
  return PoolsReader(file, text).Read();
}

base::Result<std::string> ReadPoolsFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kFileMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.gcount() == 0) return base::Error{"cannot read the pools in " + path};
  text.resize(static_cast<size_t>(in.gcount()));
  if (const auto pools = ParsePools(path, text); !pools) return pools.error();
  return text;
}

}  // namespace fairlead::engine

#include "model/resources.h"

#include <vector>

namespace fairlead::model {
namespace {

std::vector<std::string>& Table() {
  static std::vector<std::string> names = {"memory-mb", "vcores"};
  return names;
}

}  // namespace

size_t ResourceTypes::Count() { return Table().size(); }

std::string_view ResourceTypes::Name(size_t type) { return Table()[type]; }

int ResourceTypes::Find(std::string_view name) {
  for (size_t i = 0; i < Table().size(); ++i) {
    if (Table()[i] == name) return static_cast<int>(i);
  }
  return -1;
}

int ResourceTypes::Add(std::string_view name) {
  if (const int known = Find(name); known >= 0) return known;
  if (Count() == Resources::kMaxTypes) return -1;
  Table().emplace_back(name);
  return static_cast<int>(Count()) - 1;
}

std::string ToString(const Resources& resources) {
  std::string text =
      "<memory:" + std::to_string(resources.memory_mib()) + ", vCores:" + std::to_string(resources.vcores());
  for (size_t i = 2; i < ResourceTypes::Count(); ++i) {
    text += ", " + std::string(ResourceTypes::Name(i)) + ": " + std::to_string(resources[i]);
  }
  return text + ">";
}

}  // namespace fairlead::model

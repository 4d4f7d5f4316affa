#include "model/resource_words.h"

#include <vector>

namespace fairlead::model {
namespace {

/// From here on an amount is no bound, in whatever way a scheduler says so.
constexpr int64_t kAny = int64_t{1} << 60;

std::string Counted(int64_t amount) { return amount >= kAny ? "any" : std::to_string(amount); }

}  // namespace

std::string InWords(const Resources& resources) {
  std::vector<std::string> parts = {Counted(resources.memory_mib()) + " MiB",
                                    Counted(resources.vcores()) + (resources.vcores() == 1 ? " core" : " cores")};
  for (size_t i = 2; i < ResourceTypes::Count(); ++i) {
    if (resources[i] != 0) parts.push_back(Counted(resources[i]) + " " + std::string(ResourceTypes::Name(i)));
  }
  std::string text = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) text += (i + 1 < parts.size() ? ", " : " and ") + parts[i];
  return text;
}

}  // namespace fairlead::model

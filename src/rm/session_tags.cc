#include "rm/session_tags.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace fairlead::rm {
namespace {

constexpr int32_t kMostTasks = 100'000'000;

void ReadCount(std::string_view tag, std::string_view prefix, int32_t& count) {
  if (!tag.starts_with(prefix)) return;
  tag.remove_prefix(prefix.size());
  int32_t value = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), value);
  if (error == std::errc() && end == tag.data() + tag.size() && value >= 0 && value <= kMostTasks) count = value;
}

}  // namespace

model::scheduler::SessionTraits TraitsOf(const std::vector<std::string>& tags) {
  model::scheduler::SessionTraits traits;
  for (const std::string& tag : tags) {
    if (tag == "fairlead.not-preemptable") traits.preemptable = false;
    ReadCount(tag, "fairlead.maps=", traits.maps);
    ReadCount(tag, "fairlead.reduces=", traits.reduces);
  }
  return traits;
}

std::string KindOf(std::string_view name) {
  constexpr size_t kLongest = 64;
  std::string kind;
  for (const char c : name) {
    if (kind.size() == kLongest) break;
    if (c < '0' || c > '9') kind.push_back(c);
  }
  return kind;
}

bool AsksForGangs(const std::vector<std::string>& tags) {
  return std::find(tags.begin(), tags.end(), "fairlead.gang") != tags.end();
}

}  // namespace fairlead::rm

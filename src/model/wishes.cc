#include "model/wishes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/did_you_mean.h"
#include "base/text.h"

namespace fairlead::model {
namespace {

constexpr std::pair<const char*, bool Wishes::*> kWishes[] = {
    {"small-jobs", &Wishes::small_jobs},     {"park-masters", &Wishes::park_masters},
    {"measured-use", &Wishes::measured_use}, {"measured-load", &Wishes::measured_load},
    {"overcommit", &Wishes::overcommit},     {"queue-priority", &Wishes::queue_priority},
    {"learned-use", &Wishes::learned_use}};

}  // namespace

std::vector<std::string> WishNames() {
  std::vector<std::string> names;
  for (const auto& [name, field] : kWishes) names.emplace_back(name);
  return names;
}

base::Result<Wishes> ParseWishes(std::string_view text) {
  Wishes wishes;
  text = base::Trimmed(text);
  if (text == "all") {
    for (const auto& [name, field] : kWishes) wishes.*field = true;
    return wishes;
  }
  if (text == "none") return wishes;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = base::Trimmed(text.substr(0, comma));
    const auto* found =
        std::find_if(std::begin(kWishes), std::end(kWishes), [&](const auto& w) { return w.first == one; });
    if (found == std::end(kWishes)) {
      if (one == "all" || one == "none") {
        return base::Error{"'" + std::string(one) + "' stands alone; write it, or names with commas between"};
      }
      return base::Error{"there is no wish '" + std::string(one) + "'" + base::DidYouMean(one, WishNames())};
    }
    wishes.*(found->second) = true;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return wishes;
}

std::string ToString(const Wishes& wishes) {
  std::string text;
  for (const auto& [name, field] : kWishes) {
    if (wishes.*field) text += (text.empty() ? "" : ",") + std::string(name);
  }
  return text.empty() ? "none" : text;
}

std::vector<std::string> WithoutEffect(const Wishes& wishes) {
  std::vector<std::string> told;
  if (wishes.park_masters && !wishes.small_jobs) told.emplace_back("park-masters has no effect without small-jobs");
  if (wishes.learned_use && !wishes.measured_load && !wishes.overcommit)
    told.emplace_back("learned-use only learns without measured-load or overcommit");
  return told;
}

}  // namespace fairlead::model

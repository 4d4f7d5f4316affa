#include "base/did_you_mean.h"

#include <algorithm>

namespace fairlead::base {
namespace {

constexpr size_t kNameMax = 100;
constexpr size_t kFar = 4;
constexpr size_t kListed = 30;

/// Levenshtein distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// How many letters two words begin alike with.
size_t SameBegin(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

std::string Nearest(std::string_view name, const std::vector<std::string>& known) {
  size_t least = kFar;
  std::string_view best;
  for (const std::string& one : known) {
    if (name.size() > kNameMax || one.size() > kNameMax) continue;
    const size_t distance = Distance(name, one);
    // What shares less than half with it is not meant.
    if (2 * distance > std::max(name.size(), one.size())) continue;
    if (distance < least || (distance == least && SameBegin(name, one) > SameBegin(name, best))) {
      least = distance;
      best = one;
    }
  }
  return std::string(best);
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  const std::string near = Nearest(name, known);
  if (!near.empty()) return "; did you mean '" + near + "'?";
  std::string all;
  for (size_t i = 0; i < std::min(known.size(), kListed); ++i) all += (all.empty() ? "" : ", ") + known[i];
  if (all.empty()) return "";
  return "; known here: " + all + (known.size() > kListed ? ", ..." : "");
}

}  // namespace fairlead::base

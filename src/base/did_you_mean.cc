#include "base/did_you_mean.h"

#include <algorithm>
#include <array>

namespace fairlead::base {
namespace {

constexpr size_t kNameMax = 100;
constexpr size_t kFar = 4;
constexpr size_t kListed = 30;

/// Levenshtein distance where it is at most `most`, else something above. Cost: O(a.size() * most).
size_t Distance(std::string_view a, std::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  // Only cells that many off the diagonal can count.
  std::array<size_t, kNameMax + 1> row;
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t from = i > most ? i - most : 1, to = std::min(b.size(), i + most);
    size_t diagonal = row[from - 1];
    size_t least = row[from - 1] = from == 1 ? i : most + 1;
    for (size_t j = from; j <= to; ++j) {
      const size_t above = j == i + most ? most + 1 : row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
      least = std::min(least, row[j]);
    }
    if (least > most) return least;
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
    const size_t distance = Distance(name, one, least);
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

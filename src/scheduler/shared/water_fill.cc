#include "scheduler/shared/water_fill.h"

#include <algorithm>

namespace fairlead::scheduler {
namespace {

using Wide = __int128;

struct Open {
  uint32_t item;
  int64_t weight;
  int64_t low;
  int64_t high;
};

/// What no weight claims goes in full to the first that can take it (weights of zero).
void HandOutRest(std::span<const FillItem> items, std::vector<int64_t>& shares, int64_t rest) {
  for (size_t i = 0; i < items.size() && rest > 0; ++i) {
    const int64_t more = std::min(rest, items[i].high - shares[i]);
    if (more <= 0) continue;
    shares[i] += more;
    rest -= more;
  }
}

void ScaleLows(std::span<const FillItem> items, std::vector<int64_t>& shares, int64_t total, int64_t lows) {
  int64_t given = 0;
  for (int64_t& share : shares) {
    share = static_cast<int64_t>(Wide{share} * total / lows);
    given += share;
  }
  for (size_t i = 0; i < shares.size() && given < total; ++i) {
    if (shares[i] >= std::min(items[i].low, items[i].high)) continue;
    ++shares[i];
    ++given;
  }
}

}  // namespace

std::vector<int64_t> WaterFill(std::span<const FillItem> items, int64_t total, WhenLowsExceed rule) {
  std::vector<int64_t> shares(items.size());
  std::vector<Open> open;
  open.reserve(items.size());
  int64_t lows = 0;
  for (uint32_t i = 0; i < items.size(); ++i) {
    const int64_t high = std::max<int64_t>(items[i].high, 0);
    shares[i] = std::min(std::max<int64_t>(items[i].low, 0), high);
    lows += shares[i];
    if (items[i].weight > 0 && high > shares[i]) open.push_back({i, items[i].weight, shares[i], high});
  }
  if (lows >= total) {
    if (lows > total && rule == WhenLowsExceed::kScale) ScaleLows(items, shares, std::max<int64_t>(total, 0), lows);
    return shares;
  }
  int64_t rest = total;  // what those in `open` share, their lower bounds included
  for (const int64_t share : shares) rest -= share;
  int64_t weights = 0;
  for (const Open& o : open) {
    rest += o.low;
    weights += o.weight;
  }
  // x = rest / weights. Fix those above their upper bound or those below their lower one, whichever side weighs more:
  // these stay there in the solution.
  while (!open.empty()) {
    Wide above = 0;
    Wide below = 0;
    for (const Open& o : open) {
      const Wide grown = Wide{o.weight} * rest;
      if (const Wide over = grown - Wide{o.high} * weights; over > 0) above += over;
      if (const Wide under = Wide{o.low} * weights - grown; under > 0) below += under;
    }
    if (above == 0 && below == 0) break;
    const bool fix_high = above >= below;
    const int64_t old_rest = rest;
    const int64_t old_weights = weights;
    std::erase_if(open, [&](const Open& o) {
      const Wide grown = Wide{o.weight} * old_rest;
      const bool out = fix_high ? grown >= Wide{o.high} * old_weights : grown <= Wide{o.low} * old_weights;
      if (!out) return false;
      shares[o.item] = fix_high ? o.high : o.low;
      rest -= shares[o.item];
      weights -= o.weight;
      return true;
    });
  }
  int64_t given = 0;
  for (const Open& o : open) shares[o.item] = static_cast<int64_t>(Wide{o.weight} * rest / weights);
  for (const int64_t share : shares) given += share;
  // Fewer units are left than shares were rounded down: one each, in order.
  for (const Open& o : open) {
    if (given == total) break;
    if (Wide{o.weight} * rest % weights == 0) continue;
    ++shares[o.item];
    ++given;
  }
  HandOutRest(items, shares, total - given);
  return shares;
}

}  // namespace fairlead::scheduler

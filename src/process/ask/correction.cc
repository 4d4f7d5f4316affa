#include "process/ask/correction.h"

#include <algorithm>
#include <utility>

namespace fairlead::process::ask {

namespace {

/// A ratio to nothing makes no sense.
base::Duration AtLeastASecond(base::Duration time) { return std::max(time, base::Duration::Seconds(1)); }

base::Duration Times(base::Duration time, float ratio) {
  return base::Duration::Millis(static_cast<int64_t>(static_cast<double>(time.millis()) * ratio));
}

float Quantile(std::vector<float>& ratios, size_t per_cent) {
  const auto at = ratios.begin() + static_cast<ptrdiff_t>((ratios.size() - 1) * per_cent / 100);
  std::nth_element(ratios.begin(), at, ratios.end());
  return *at;
}

}  // namespace

size_t Correction::ClassOf(base::Duration p50) {
  constexpr std::array<int64_t, 3> kBelowSeconds = {60, 300, 1800};
  const auto above = std::find_if(kBelowSeconds.begin(), kBelowSeconds.end(),
                                  [&](int64_t seconds) { return p50 < base::Duration::Seconds(seconds); });
  return static_cast<size_t>(above - kBelowSeconds.begin());
}

void Correction::Learn(base::Duration p50, base::Duration after) {
  Class& one = classes_[ClassOf(p50)];
  const auto ratio = static_cast<float>(AtLeastASecond(after).seconds() / AtLeastASecond(p50).seconds());
  if (one.ratios.size() < kKept) {
    one.ratios.push_back(ratio);
  } else {
    one.ratios[std::exchange(one.next, (one.next + 1) % kKept)] = ratio;
  }
}

When Correction::Of(const When& said) const {
  if (!said.p50) return said;
  std::vector<float> ratios = classes_[ClassOf(*said.p50)].ratios;
  if (ratios.size() < kEnough) {
    ratios.clear();
    for (const Class& one : classes_) ratios.insert(ratios.end(), one.ratios.begin(), one.ratios.end());
  }
  if (ratios.size() < kEnough) return said;
  const base::Duration p50 = Times(AtLeastASecond(*said.p50), Quantile(ratios, 50));
  return {p50, std::max(p50, Times(AtLeastASecond(*said.p50), Quantile(ratios, 90)))};
}

}  // namespace fairlead::process::ask

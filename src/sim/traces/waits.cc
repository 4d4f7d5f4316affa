#include "sim/traces/waits.h"

#include <algorithm>

namespace fairlead::sim {
namespace {

/// After so many looks there are half as many.
constexpr uint64_t kLooksPerPace = 128;

}  // namespace

std::vector<std::pair<uint32_t, double>> WaitLooks::Choose(const std::vector<uint32_t>& waiting) const {
  const size_t count = std::min(waiting.size(), kMost);
  const double each = static_cast<double>(waiting.size()) / static_cast<double>(std::max<size_t>(count, 1));
  std::vector<std::pair<uint32_t, double>> chosen;
  for (size_t i = 0; i < count; ++i) {
    // Evenly over the line, from another beginning each time.
    const size_t at = (i * waiting.size() / count + looks_ * 7) % waiting.size();
    chosen.emplace_back(waiting[at], each);
  }
  return chosen;
}

void WaitLooks::Add(const std::string& queue, const std::string& user, const model::scheduler::Pending& pending,
                    double jobs, int64_t waited_ms) {
  const auto [it, added] = held_.try_emplace(Key{queue, user, pending.reason});
  HeldWait& held = it->second;
  if (added) held = {queue, user, pending.reason, 0, pending.detail, pending.remedy};
  held.job_seconds += jobs * static_cast<double>(waited_ms) / 1000;
}

void WaitLooks::Looked(int64_t now_ms) {
  last_ms_ = now_ms;
  if (++looks_ % kLooksPerPace == 0) every_ms_ *= 2;
}

std::vector<HeldWait> WaitLooks::Take() {
  std::vector<HeldWait> all;
  for (auto& [key, held] : held_) all.push_back(std::move(held));
  held_.clear();
  return all;
}

}  // namespace fairlead::sim

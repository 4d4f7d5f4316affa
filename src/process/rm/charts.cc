#include "process/rm/charts.h"

#include <algorithm>
#include <utility>

#include "base/stored.h"

namespace fairlead::process::rm {

base::Status Charts::Decode(std::string_view bytes) {
  base::Result<Stored> stored = base::DecodeSealed<Stored>(bytes);
  if (!stored.ok()) return stored.error();
  for (size_t i = 0; i < std::min(kept_.size(), stored->levels.size()); ++i) {
    std::vector<ChartSample>& level = stored->levels[i];
    const size_t first = level.size() - std::min(level.size(), kLevels[i].most);
    kept_[i].assign(std::make_move_iterator(level.begin() + static_cast<std::ptrdiff_t>(first)),
                    std::make_move_iterator(level.end()));
  }
  granted_before_ = kept_[0].empty() ? 0 : kept_[0].back().granted;
  return {};
}

std::string Charts::Encode() const {
  Stored stored;
  for (const std::deque<ChartSample>& level : kept_) stored.levels.emplace_back(level.begin(), level.end());
  return base::EncodeSealed(stored);
}

void Charts::Sample(base::WallTime at, const scheduler::View& view, uint64_t granted) {
  ChartSample sample;
  sample.at_ms = at.ms;
  sample.capacity = view.cluster.memory_mib();
  sample.granted = granted_before_ + static_cast<int64_t>(granted);
  for (const scheduler::QueueView& queue : view.queues) {
    if (sample.queues.size() == kMostQueues) break;
    const int64_t used = queue.used.memory_mib();
    sample.queues.push_back({queue.name, used, queue.fair_share.memory_mib(),
                             std::max<int64_t>(0, queue.demand.memory_mib() - used), queue.runnable_apps,
                             queue.waiting_apps});
  }
  for (size_t i = 0; i < kLevels.size(); ++i) {
    const int64_t last = kept_[i].empty() ? INT64_MIN : kept_[i].back().at_ms;
    const bool set_back = at.ms < last;
    if (i > 0 && !set_back && last != INT64_MIN && at.ms - last < kLevels[i].step_ms) continue;
    kept_[i].push_back(sample);
    if (kept_[i].size() > kLevels[i].most) kept_[i].pop_front();
  }
}

const std::deque<ChartSample>& Charts::Since(int64_t ms) const {
  for (size_t i = 0; i + 1 < kLevels.size(); ++i) {
    if (ms <= kLevels[i].step_ms * static_cast<int64_t>(kLevels[i].most)) return kept_[i];
  }
  return kept_.back();
}

}  // namespace fairlead::process::rm

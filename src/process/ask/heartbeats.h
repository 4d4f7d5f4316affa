#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

namespace fairlead::process::ask {

/// The heartbeats of nodes, each of its own phase, all of one interval. O(log nodes) to pass over any number of them.
class Heartbeats {
 public:
  /// `interval` 0: there are none.
  explicit Heartbeats(base::Duration interval) : interval_(interval) {}

  /// `next`: when it beats next.
  void Add(model::NodeIndex node, base::Instant next) {
    if (interval_.ns <= 0) return;
    const std::pair beat{next.ns % interval_.ns, node};
    phases_.insert(std::lower_bound(phases_.begin(), phases_.end(), beat), beat);
  }
  void Remove(model::NodeIndex node) {
    std::erase_if(phases_, [&](const auto& beat) { return beat.second == node; });
  }

  /// The first moment after `now` at which a node beats; Instant::Max() when none does.
  base::Instant After(base::Instant now) const {
    if (phases_.empty()) return base::Instant::Max();
    const int64_t round = now.ns / interval_.ns * interval_.ns;
    const auto next = Above(now.ns - round);
    return next == phases_.end() ? base::Instant{round + interval_.ns + phases_.front().first}
                                 : base::Instant{round + next->first};
  }
  /// Visits the nodes that beat at `now`, by number.
  template <class Visit>
  void At(base::Instant now, Visit visit) const {
    if (phases_.empty()) return;
    const int64_t phase = now.ns % interval_.ns;
    for (auto at = Above(phase - 1); at != phases_.end() && at->first == phase; ++at) visit(at->second);
  }

 private:
  std::vector<std::pair<int64_t, model::NodeIndex>>::const_iterator Above(int64_t phase) const {
    return std::upper_bound(phases_.begin(), phases_.end(), phase,
                            [](int64_t wanted, const auto& beat) { return wanted < beat.first; });
  }

  base::Duration interval_;
  std::vector<std::pair<int64_t, model::NodeIndex>> phases_;  // by time in the interval, then number
};

}  // namespace fairlead::process::ask

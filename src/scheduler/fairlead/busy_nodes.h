#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/core.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// Nodes that take no container because their machine was measured to be overloaded (wish measured-use): a node is busy
/// once an amount is above its threshold, and until all are below the calmer one. A measure counts as long as it is
/// fresh: whoever falls silent is judged by what is booked again. Whether a node is busy stands in Nodes; here stands
/// why, and since when nothing was heard. O(log busy nodes) a measure, O(busy nodes) to look for old ones.
class BusyNodes {
 public:
  /// Of one amount, in the threshold's unit.
  struct Excess {
    enum class Amount : uint8_t { kCpu, kMemory, kDisks, kNetwork };
    Amount amount = Amount::kCpu;
    int64_t measured = 0;
    int64_t threshold = 0;
    FL_STATE(amount, measured, threshold)
  };

  explicit BusyNodes(const MeasuredUseConfig& config) : config_(config) {}

  /// Takes a measure; true when the node is busy now.
  bool Take(const Node& node, const ev::NodeMeasured& event, base::Instant now);
  /// The nodes that were silent for too long; all when the wish is off. They are forgotten.
  std::vector<NodeIndex> TakeStale(base::Instant now, bool all);
  /// When the first of them will be too old.
  base::Instant NextStale() const;
  bool empty() const { return busy_.empty(); }
  /// "CPU 97 %, threshold 95 %"; of a busy node.
  std::string TextOf(NodeIndex node) const;

  /// Every node that Nodes calls busy is known here.
  std::string Check(const Nodes& nodes) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(busy_)

 private:
  struct Busy {
    Excess excess;
    base::Instant heard;
    FL_STATE(excess, heard)
  };
  /// The first amount above `percent` of its threshold; none: `threshold` 0.
  Excess Find(const Node& node, const ev::NodeMeasured& event, int64_t percent) const;

  MeasuredUseConfig config_;
  std::map<NodeIndex, Busy> busy_;
};

}  // namespace fairlead::scheduler::native

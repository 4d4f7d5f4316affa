#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// What each node's machine is expected to use: what it measured last, and with it, as large as it was booked, what was
/// placed there since, or so shortly before that the measure does not show it yet. What ended since takes its part of
/// the measure along. So the node that was calm half a minute ago is not everybody's choice until it next reports.
/// Nodes that told nothing for too long are judged by what is booked. O(containers of the node) a measure, O(1) to ask.
class UseForecast {
 public:
  /// Thousandths of cores, and MiB.
  struct Amounts {
    int64_t milli_cores = 0;
    int64_t mib = 0;
  };
  struct Measured {
    bool told = false;
    base::Instant heard;
    base::Duration interval;      // since the report before
    Amounts machine;              // what it has
    Amounts use;                  // cores or memory that nobody told: -1
    int64_t disk_permille = 0;    // of its busiest disk's time
    int64_t milli_per_vcore = 0;  // a node may call less than a core one
    model::Resources recent;      // placed too late to be in `use`
    model::Resources booked;      // all that was there when it was heard
  };

  UseForecast(const MeasuredLoadConfig& config, base::Duration stale) : config_(config), stale_(stale) {}

  void Take(const Books& books, const model::scheduler::NodeMeasured& event);
  /// Some node has told something that counted.
  bool any() const { return any_; }
  void Forget();

  /// What the node told last, when it still counts; null: nothing.
  const Measured* Fresh(NodeIndex node, base::Instant now) const;
  /// What is expected there now, by the booked amounts of what came and went since; of a node that is Fresh.
  Amounts Expected(const Node& node, const Measured& measured) const;
  /// Thousandths of the machine's scarcest amount (cores, memory, its busiest disk's time) with `more` on the node.
  int64_t LoadWith(const Books& books, NodeIndex node, const model::Resources& more) const;

  void Mix(base::StateHasher& hash) const;

 private:
  MeasuredLoadConfig config_;
  base::Duration stale_;
  bool any_ = false;
  std::vector<Measured> nodes_;  // by NodeIndex
};

}  // namespace fairlead::scheduler::native

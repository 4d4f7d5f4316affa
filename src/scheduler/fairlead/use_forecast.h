#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/config.h"
#include "scheduler/fairlead/use_learner.h"

namespace fairlead::scheduler::native {

/// What each node's machine is expected to use: what it measured last, and with it, as large as it was booked (or as
/// its kind was learned to be), what was placed there since, or so shortly before that the measure does not show it
/// yet. What ended since takes its part of the measure along. So the node that was calm half a minute ago is not
/// everybody's choice until it next reports. Nodes that told nothing for too long are judged by what is booked.
/// O(containers of the node) a measure, O(1) to ask.
class UseForecast {
 public:
  using Amounts = UseAmounts;
  struct Measured {
    bool told = false;
    base::Instant heard;
    base::Duration interval;      // since the report before
    Amounts machine;              // what it has
    Amounts use;                  // cores or memory that nobody told: -1
    int64_t disk_permille = 0;    // of its busiest disk's time
    int64_t milli_per_vcore = 0;  // a node may call less than a core one
    Amounts recent;               // placed too late to be in `use`
    Amounts saved;                // what was placed since is expected to use less than it books by so much
    model::Resources booked;      // all that was there when it was heard

    /// How much of the node's measure a container of `size` stands for: what it books there, at most `expected`.
    Amounts Of(const model::Resources& size, const Amounts& expected) const;
    FL_STATE(told, heard, interval, machine, use, disk_permille, milli_per_vcore, recent, saved, booked)
  };

  UseForecast(const MeasuredLoadConfig& config, base::Duration stale) : config_(config), stale_(stale) {}

  /// `learner`: what was placed too late to be in the measure is expected to use what it says; null: what it books.
  void Take(const Books& books, const model::scheduler::NodeMeasured& event, const UseLearner* learner);
  /// A container of `size` was placed on the node, and is expected to use `expected`.
  void Placed(NodeIndex node, const model::Resources& size, const Amounts& expected);
  /// Some node has told something that counted.
  bool any() const { return any_; }
  void Forget();

  /// What the node told last, when it still counts; null: nothing.
  const Measured* Fresh(NodeIndex node, base::Instant now) const;
  /// What is expected there now, with what came and went since; of a node that is Fresh.
  Amounts Expected(const Node& node, const Measured& measured) const;
  /// Thousandths of the machine's scarcest amount (cores, memory, its busiest disk's time) with one more container of
  /// `size` on the node, which is expected to use `expected`.
  int64_t LoadWith(const Books& books, NodeIndex node, const model::Resources& size, const Amounts& expected) const;

  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(any_, nodes_)

 private:
  MeasuredLoadConfig config_;
  base::Duration stale_;
  bool any_ = false;
  std::vector<Measured> nodes_;  // by NodeIndex
};

}  // namespace fairlead::scheduler::native

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace fairlead::model {

/// Switches of profile `fairlead` for what TDW's authors wished for (docs/wishes.md). All off: not a decision differs.
struct Wishes {
  bool small_jobs = false;      // in a queue the least work that is left comes first, and large asks have their turn
  bool park_masters = false;    // masters of large jobs that only wait make room for others to start
  bool measured_use = false;    // a node that was measured to be overloaded takes nothing until it calms
  bool measured_load = false;   // containers go where least is expected to be used
  bool overcommit = false;      // a node whose measured use is far below its bookings offers more than it has
  bool queue_priority = false;  // the queue of the highest priority comes first, before shares
  bool learned_use = false;     // what is new is expected to use what others of its kind were measured to use
  FL_FIELDS(small_jobs, park_masters, measured_use, measured_load, overcommit, queue_priority, learned_use)
  friend bool operator==(const Wishes&, const Wishes&) = default;
};

/// Their names, as in fairlead.scheduler.wishes and `--wishes`.
std::vector<std::string> WishNames();

/// "all", "none" (also ""), or names with commas between. An error names the one that there is not, and what was meant.
base::Result<Wishes> ParseWishes(std::string_view text);

/// What ParseWishes takes.
std::string ToString(const Wishes& wishes);

/// Those that are on without what they need, a sentence each.
std::vector<std::string> WithoutEffect(const Wishes& wishes);

}  // namespace fairlead::model

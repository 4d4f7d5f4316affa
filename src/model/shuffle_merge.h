#pragma once

#include <cstdint>
#include <vector>

#include "base/fields.h"
#include "model/shuffle.h"

// What the shuffle service stores of merges. Fields are only ever appended.

namespace fairlead::model::shuffle {

/// Where an application's merged files lie (RemoteBlockPushResolver.AppPathsInfo).
struct MergeDirs {
  int32_t attempt = -1;  // of the application; -1: it did not say
  Executor dirs;
  FL_FIELDS(attempt, dirs)
};

/// A shuffle whose merge has ended: nothing is merged any more, and these partitions can be read.
struct MergedShuffle {
  int32_t attempt = -1;
  int32_t merge_id = 0;
  std::vector<int32_t> reduce_ids;
  FL_FIELDS(attempt, merge_id, reduce_ids)
};

}  // namespace fairlead::model::shuffle

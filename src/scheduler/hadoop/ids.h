#pragma once

#include "base/ids.h"
#include "model/ids.h"

// The numbers of the things that a Hadoop scheduler keeps. Each kind has a type of its own, so that none can stand for
// another.

namespace fairlead::scheduler::hadoop {

using model::AppIndex;
using model::NodeIndex;

/// A host, a rack, or "*".
using NameId = base::Index<struct NameTag>;
/// An attempt while anything names it; then its number goes to another.
using AttemptId = base::Index<struct AttemptTag>;
using ContainerSlot = base::Index<struct ContainerTag>;
/// A queue of the scheduler's tree.
using QueueId = base::Index<struct QueueTag>;
/// A node label; the default partition is the first.
using PartitionId = base::Index<struct PartitionTag>;
inline constexpr PartitionId kNoLabel{0};

}  // namespace fairlead::scheduler::hadoop

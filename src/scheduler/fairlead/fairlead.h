#pragma once

#include <memory>

#include "scheduler/books/queue_names.h"
#include "scheduler/fairlead/config.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// The default profile. A grant is made at the end of the very batch that brings the ask or frees the room: no
/// heartbeat, no pass. Order: queue below its minimum first, then smaller dominant share / weight, level by level; in a
/// queue by application priority, then as the queue's policy says (fair, drf: dominant or memory share; fifo: order of
/// submission). Cost of one grant: O(log children) per level + O(log nodes). `config.queues` must have passed
/// CheckQueueTree; settings that do not are left at their defaults.
std::unique_ptr<Scheduler> MakeFairlead(const FairleadConfig& config);

}  // namespace fairlead::scheduler

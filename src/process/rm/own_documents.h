#pragma once

#include "base/time.h"
#include "endpoints/rest/document.h"
#include "model/queue_set.h"
#include "model/scheduler.h"
#include "scheduler/scheduler.h"

// Documents of /fairlead/v1 that are told of an older state, too.

namespace fairlead::process::rm {

/// Of /fairlead/v1/queues. `queues`: in use.
endpoints::rest::Document QueuesDocument(const scheduler::View& view, const model::QueueSet& queues);
/// One ask of "pending" in /fairlead/v1/apps/ID.
endpoints::rest::Document PendingDocument(const model::scheduler::Pending& one, base::Instant now);

}  // namespace fairlead::process::rm

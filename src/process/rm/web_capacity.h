#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "endpoints/rest/document.h"
#include "model/queue_set.h"
#include "process/rm/summary.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::rm {

/// What the document of a CapacityScheduler is made of; read off the thread that decides.
struct CapacityFacts {
  const scheduler::View& view;
  const std::map<std::string, QueueSums>& sums;
  const model::QueueSet& queues;
  model::Resources minimum, maximum;  // of a container
  base::WallTime last_run;            // of the scheduler; 0: never
};

/// dao/CapacitySchedulerInfo: /ws/v1/cluster/scheduler of profile `yarn-capacity`. O(queues * partitions + users).
endpoints::rest::Document CapacityDocument(const CapacityFacts& facts);

}  // namespace fairlead::process::rm

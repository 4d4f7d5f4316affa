#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// Keys with their values as they are written, ${...} in them.
using Properties = std::map<std::string, std::string>;

/// What `yarn schedulerconf` asks for (dao/SchedConfUpdateInfo), in the order in which it is done. A key whose value is
/// empty is taken out.
struct CapacityChange {
  struct Queue {
    std::string path;  // from root
    Properties keys;   // what follows yarn.scheduler.capacity.PATH.
  };
  std::vector<std::string> remove;
  std::vector<Queue> add;
  std::vector<Queue> update;
  Properties global;  // whole keys
};

/// The keys of a capacity-scheduler.xml after the change (ConfigurationUpdateAssembler). An Error says in Hadoop's
/// words which queue cannot be added or removed, or that there would be more than a file may have; whether the queues
/// make sense is the scheduler's to say. O((keys + change) log keys).
base::Result<Properties> WithChange(Properties keys, const CapacityChange& change);

}  // namespace fairlead::config

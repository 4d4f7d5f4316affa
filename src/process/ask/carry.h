#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/ask/present.h"

namespace fairlead::process::ask {

/// A scheduler of another profile, which knows nothing yet.
struct OtherProfile {
  std::string name;
  std::unique_ptr<scheduler::Scheduler> scheduler;
  bool by_heartbeat = false;
  std::vector<std::string> passed_over;  // settings of the queues that it does not know
};

struct Carried {
  Present present;                // with that scheduler
  std::vector<std::string> lost;  // what could not be carried, for people
};

/// The cluster as it is, in the hands of another scheduler: nodes, applications in their queues, containers where they
/// run; what is waited for is asked for again, anywhere. The same numbers stand for the same applications and nodes.
/// `heartbeat`: of nodes. O(nodes + applications + containers).
Carried Carry(const Present& present, OtherProfile into, base::Duration heartbeat);

}  // namespace fairlead::process::ask

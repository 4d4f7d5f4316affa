#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/measured_use.h"

namespace fairlead::endpoints::spark {

/// What a Worker of ours tells a Master of ours about its machine. Spark has no message for it, so it is told as
/// kKeepingEndpoint is: the worker asks whether there is an endpoint of a name that carries it. A master that has a use
/// for it says yes.
struct WorkerUse {
  model::MeasuredUse use;
  int64_t cores = 0;  // of the machine
  int64_t mib = 0;
  friend bool operator==(const WorkerUse&, const WorkerUse&) = default;
};

/// "FairleadUse CORES MIB AMOUNTS" (model::ToText).
std::string EndpointNameOf(const WorkerUse& use);
/// None: the name carries no use, or a machine that there is not. Absurd amounts of use are unknown.
std::optional<WorkerUse> UseInEndpointName(std::string_view name);

}  // namespace fairlead::endpoints::spark

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "process/rm/machine.h"
#include "process/rm/web_resources.h"

namespace fairlead::process::rm {

/// The JSON that /fairlead/v1/NAME would have said at `at` (NAME: cluster, apps, nodes or queues, with its query): of a
/// machine as it was then, on its own clock `now`. Of the cluster only what its machine knows, of nodes not what
/// operators have ordered. Nothing: there is no such document. Cost: applications and nodes; for each application on
/// the page a dry pass of the scheduler where it waits.
std::optional<std::string> PastDocument(const ResourceMachine& machine, base::Instant now, base::WallTime at,
                                        std::string_view name, const Query& query);

}  // namespace fairlead::process::rm

#pragma once

#include <string>
#include <vector>

#include "cluster_options.h"
#include "model/ids.h"

namespace fairlead::apps {

/// One log file of one container.
struct ContainerLog {
  std::string container;
  std::string file;
  std::string text;  // as it was written, without what the node puts around it
};

/// The logs of these names that an application's nodes still have, container by container. `container` empty: of all.
base::Result<std::vector<ContainerLog>> FetchLogs(Cluster& cluster, const model::ApplicationId& id,
                                                  const std::string& container, const std::vector<std::string>& files);

/// The end of one log, at most `bytes` of it (up to 4 MiB), of `owner`'s application: from its node, and where that has
/// it no more, from what was gathered.
base::Result<std::string> FetchLogEnd(Cluster& cluster, const model::ApplicationId& id, const std::string& owner,
                                      const std::string& container, const std::string& file, int64_t bytes);

}  // namespace fairlead::apps

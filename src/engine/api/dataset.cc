#include "engine/api/dataset.h"

#include <unistd.h>

#include <chrono>
#include <numeric>

#include "engine/io/files.h"

namespace fairlead::engine::dataset_internal {

std::vector<int32_t> AllPartitions(const DatasetNode& node) {
  std::vector<int32_t> all(static_cast<size_t>(node.partitions));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SavePlan MakeSavePlan(Session& session, const std::string& directory) {
  SavePlan plan;
  plan.directory = ResolveUserPath(directory);
  plan.save = session.application_id() + "-" + std::to_string(session.NextDatasetId());
  // Tasks of an earlier attempt may still be at work: they must not find this one's directory.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  plan.job = plan.save + "-" + std::to_string(now / std::chrono::microseconds(1)) + "-" + std::to_string(::getpid());
  return plan;
}

}  // namespace fairlead::engine::dataset_internal

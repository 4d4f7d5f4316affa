#include "engine/dataset.h"

#include <filesystem>
#include <numeric>

namespace fairlead::engine::dataset_internal {

std::vector<int32_t> AllPartitions(const DatasetNode& node) {
  std::vector<int32_t> all(static_cast<size_t>(node.partitions));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SavePlan MakeSavePlan(Session& session, const std::string& directory) {
  std::string path = directory;
  if (path.starts_with("file://")) path.erase(0, 7);
  if (path.find("://") != std::string::npos)
    throw JobError("cannot save to " + directory + ": only local paths so far");
  SavePlan plan;
  plan.directory = std::filesystem::absolute(path).lexically_normal().string();
  plan.job = session.application_id() + "-" + std::to_string(session.NextDatasetId());
  return plan;
}

}  // namespace fairlead::engine::dataset_internal

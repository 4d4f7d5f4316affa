#include "process/spark_worker/work_directory.h"

#include "process/spark_worker/launch.h"

namespace fairlead::process::spark_worker {

namespace {

constexpr int kDepthMax = 64;  // whatever lies deeper counts as new: it is kept

/// Links count with their own age; where they lead is somebody else's.
bool HasNews(env::Disk& disk, const std::string& directory, base::WallTime before, int depth) {
  const auto entries = disk.List(directory);
  if (!entries.ok() || depth == kDepthMax) return true;
  for (const env::FileInfo& entry : *entries) {
    if (entry.modified.ms >= before.ms) return true;
    if (entry.kind == env::FileInfo::Kind::kDirectory && HasNews(disk, directory + "/" + entry.name, before, depth + 1))
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> AbandonedDirectories(env::Disk& disk, const std::string& work,
                                              const std::set<std::string>& in_use, base::WallTime before) {
  std::vector<std::string> found;
  const auto entries = disk.List(work);
  if (!entries.ok()) return found;
  for (const env::FileInfo& entry : *entries) {
    const bool theirs = entry.kind == env::FileInfo::Kind::kDirectory && IsDirectoryName(entry.name) &&
                        entry.name != kShuffleDirectory && !in_use.contains(entry.name);
    const std::string path = work + "/" + entry.name;
    if (theirs && entry.modified.ms < before.ms && !HasNews(disk, path, before, 0)) found.push_back(path);
  }
  return found;
}

}  // namespace fairlead::process::spark_worker

#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/disk.h"

namespace fairlead::process::spark_worker {

/// In the work directory, where the shuffle service inside the worker keeps what it knows.
inline constexpr const char* kShuffleDirectory = "fairlead-shuffle";

/// spark.worker.cleanup.*: directories of applications and drivers that have ended are removed by age.
struct WorkCleaning {
  base::Duration interval = base::Duration::Seconds(1800);
  base::Duration kept = base::Duration::Seconds(int64_t{7} * 24 * 3600);  // .appDataTtl
};

/// Directories of applications and drivers in `work` in which nothing was changed since `before`, but for those named
/// in `in_use` (org.apache.spark.deploy.worker.Worker, WorkDirCleanup). Reads all that is in them: not for a loop's
/// thread.
std::vector<std::string> AbandonedDirectories(env::Disk& disk, const std::string& work,
                                              const std::set<std::string>& in_use, base::WallTime before);

}  // namespace fairlead::process::spark_worker

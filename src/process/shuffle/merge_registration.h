#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/shuffle_merge.h"

namespace fairlead::process::shuffle {

/// Where an executor's application keeps merged files: its shuffle manager's name is followed by a colon and JSON with
/// "mergeDir", a directory beside each of its local directories, and perhaps "attemptId" (ExecutorShuffleInfo,
/// RemoteBlockPushResolver.registerExecutor). nullopt: it does not say, or not in JSON. The error is the first line of
/// Spark's exception. A directory anywhere else is refused, as Spark 4.3 does.
base::Result<std::optional<model::shuffle::MergeDirs>> ReadMergeDirs(const std::vector<std::string>& local_dirs,
                                                                     int32_t sub_dirs,
                                                                     const std::string& shuffle_manager,
                                                                     const std::vector<std::string>& roots);

/// A name in one directory, which leads nowhere else.
bool IsOneName(const std::string& name);

}  // namespace fairlead::process::shuffle

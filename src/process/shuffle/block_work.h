#pragma once

#include <string>
#include <vector>

#include "endpoints/shuffle/session.h"
#include "env/disk.h"
#include "model/shuffle.h"
#include "wire/spark_shuffle/messages.h"

// Work on files that may take long; done off the loop.

namespace fairlead::process::shuffle {

/// Removes the executor's files of these names; gives how many there were. A name that is not one component removes
/// nothing.
int32_t RemoveFiles(env::Disk& disk, const std::vector<std::string>& roots, const model::shuffle::Executor& executor,
                    const std::vector<std::string>& names);

/// ShuffleChecksumHelper.diagnoseCorruption: compares the reader's checksum, the stored one and the one of the data.
wire::spark_shuffle::Cause DiagnoseBlock(env::Disk& disk, const std::vector<std::string>& roots,
                                         const model::shuffle::Executor& executor,
                                         const wire::spark_shuffle::DiagnoseCorruption& request,
                                         const endpoints::shuffle::BlockResult& data, bool knows_crc32c);

/// Removes a directory below a root with everything in it, without leaving it. Errors name the first path that stays.
base::Status RemoveDirectory(env::Disk& disk, const std::string& root, const std::string& below_root);

/// Removes below a directory what the service never serves: all but .index, .data and, when kept, rdd_ files.
/// Gives how many files went.
int64_t RemoveUnserved(env::Disk& disk, const std::string& root, const std::string& below_root, bool keep_rdd_blocks);

}  // namespace fairlead::process::shuffle

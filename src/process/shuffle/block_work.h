#pragma once

#include <optional>
#include <string>
#include <vector>

#include "endpoints/shuffle/session.h"
#include "env/disk.h"
#include "env/page_cache.h"
#include "model/shuffle.h"
#include "wire/spark_shuffle/messages.h"

// Work on files that may take long; done off the loop.

namespace fairlead::process::shuffle {

struct Removal {
  int32_t count = 0;
  /// The first that could not be removed though it may be there: which root, and why.
  uint32_t root = 0;
  std::optional<base::Error> error;
};
/// Removes the executor's files of these names. A name that is not one component removes nothing.
Removal RemoveFiles(env::Disk& disk, const std::vector<std::string>& roots, const model::shuffle::Executor& executor,
                    const std::vector<std::string>& names);

/// Reads a range that the page cache does not hold, so that it does.
void ReadThrough(env::File& file, env::PageCache& page_cache, int64_t offset, int64_t length);
/// The same with what is needed to serve the block: its index file, and up to the first MiB of it.
void WarmBlock(env::Disk& disk, env::PageCache& page_cache, const std::vector<std::string>& roots,
               const model::shuffle::Executor& executor, const endpoints::shuffle::BlockRef& block,
               size_t index_bytes_max);

/// ShuffleChecksumHelper.diagnoseCorruption: compares the reader's checksum, the stored one and the one of the data.
wire::spark_shuffle::Cause DiagnoseBlock(env::Disk& disk, const std::vector<std::string>& roots,
                                         const model::shuffle::Executor& executor,
                                         const wire::spark_shuffle::DiagnoseCorruption& request,
                                         const endpoints::shuffle::BlockResult& data, bool knows_crc32c);

/// Of a merged partition with files of this name (RemoteBlockPushResolver.getMergedBlockMeta). The error is the first
/// line of Spark's exception.
base::Result<endpoints::shuffle::MergedMeta> ReadMergedMeta(env::Disk& disk, const std::vector<std::string>& roots,
                                                            const model::shuffle::Executor& dirs,
                                                            const std::string& name);

/// Removes a directory below a root with everything in it, without leaving it. Errors name the first path that stays.
base::Status RemoveDirectory(env::Disk& disk, const std::string& root, const std::string& below_root);

/// Removes below a directory what the service never serves: all but .index, .data and, when kept, rdd_ files.
/// Gives how many files went.
int64_t RemoveUnserved(env::Disk& disk, const std::string& root, const std::string& below_root, bool keep_rdd_blocks);

}  // namespace fairlead::process::shuffle

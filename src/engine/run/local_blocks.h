#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/run/executor.h"

namespace fairlead::engine {

/// Reads blocks from files of this machine, one after the other. A missing or short file is a FetchFailed.
std::unique_ptr<ShuffleInput> ReadLocalBlocks(std::vector<BlockRequest> blocks,
                                              const std::vector<std::string>& local_directories, TaskContext& task);

/// First all blocks of `first`, then those of `second`.
std::unique_ptr<ShuffleInput> Concatenate(std::unique_ptr<ShuffleInput> first, std::unique_ptr<ShuffleInput> second);

}  // namespace fairlead::engine

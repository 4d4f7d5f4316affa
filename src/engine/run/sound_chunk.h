#pragma once

#include <string_view>
#include <vector>

#include "engine/run/executor.h"

namespace fairlead::engine {

/// All frames of a chunk of a merged partition are whole and as they were sealed, and its length is what its blocks can
/// have together. Reads every byte: a reducer that has taken half of a damaged chunk could not take its blocks from
/// elsewhere.
bool IsSound(std::string_view chunk, const std::vector<BlockRequest>& blocks);

}  // namespace fairlead::engine

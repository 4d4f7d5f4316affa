#pragma once

#include <cstddef>
#include <cstdint>

// Whether a shuffle's blocks are pushed to services that merge them (docs/engine.md), and which service merges what.

namespace fairlead::tasks {

/// fairlead.shuffle.merge: off, auto, on.
enum class MergeWhen : uint8_t { kNever, kWhenItPays, kAlways };

/// What is known of a shuffle once a few of its maps are done.
struct MergeCase {
  int32_t maps = 0;
  int32_t reduces = 0;
  int64_t mean_block_bytes = 0;  // of the outputs so far
  size_t services = 0;           // that merge
};

/// Merging writes and sends each byte once more, and saves the reducers a read for each block. It pays where both sides
/// are many and blocks are short: 300 maps or more (what one reducer asks for), 100,000 blocks or more in all, and at
/// most 32 KiB a block (what a service reads whole, with its neighbours; longer ones it sends from the file).
bool PaysToMerge(const MergeCase& shuffle);

/// Which of `services` merges the reduce partition: each has a run of them, as in Spark, so that neighbours in a map
/// output's file go to the same one.
size_t MergerOf(int32_t reduce, int32_t reduces, size_t services);

}  // namespace fairlead::tasks

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/kernels/hash_index.h"
#include "engine/plan/operators.h"
#include "engine/records/record.h"

// The reduce side of group_by_key, cogroup and join, over bytes: records stay in the blocks they came in, a hash index
// points into them. What does not fit the task's memory goes through GraceFiles, part by part.

namespace fairlead::engine {

/// One input of a grouping: how its records look and where they come from, a shuffle or this task itself when they lie
/// by key already.
struct KeyedInput {
  RecordShape shape;
  int32_t shuffle = -1;
  /// Without a shuffle: calls use(frame) with frames of records, which it may take away.
  std::function<void(const std::function<void(Buffer& frame)>& use)> local{};
};

/// Calls use(key, values of input 0, values of input 1) once for each key of the partition that occurs in any input (at
/// most two). Keys come in no particular order.
using GroupUse = std::function<void(std::string_view key, std::span<const std::string_view> first,
                                    std::span<const std::string_view> second)>;
void GroupInputs(TaskContext& task, std::span<const KeyedInput> inputs, int32_t partition, const GroupUse& use);

/// Hash join: the right input is indexed, the left one streams past it: use(key, left value, index, found) for every
/// left record; found is null where the right input lacks the key. Left records come in no particular order.
using ProbeUse = std::function<void(std::string_view key, std::string_view left, const HashIndex& right,
                                    const HashIndex::Key* found)>;
void ProbeInputs(TaskContext& task, const KeyedInput& left, const KeyedInput& right, int32_t partition,
                 const ProbeUse& use);

}  // namespace fairlead::engine

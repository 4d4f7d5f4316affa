#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/operators.h"

namespace fairlead::engine {

/// How sorted records compare: by an order-preserving 64-bit prefix of the key first, by `less` where prefixes are
/// equal (null: the prefix decides). Both look into the record's bytes.
struct SortOrder {
  uint64_t (*prefix)(std::string_view record) = nullptr;
  bool (*less)(std::string_view a, std::string_view b) = nullptr;
  bool descending = false;
};

/// The reduce side of a sort: pushes the records of the partition in order. Records are one part each (record.h) of
/// size `fixed`, or with a length when that is 0. Pointers with prefixes are distributed into buckets of the prefix
/// range and sorted bucket by bucket (AlphaSort's key-prefix sort); bytes do not move. Above the task's memory, sorted
/// runs go to scratch files and are merged. Equal keys come in no particular order.
void SortShuffle(TaskContext& task, int32_t shuffle, int32_t partition, uint32_t fixed, const SortOrder& order,
                 const std::function<void(std::string_view record)>& use);

}  // namespace fairlead::engine

#include "scheduler/tdw/load_index.h"

#include <algorithm>

#include "scheduler/books/limits.h"

namespace fairlead::scheduler::tdw {
namespace {

constexpr int64_t kLoadUnits = int64_t{1} << 20;
static_assert(model::Resources::kMaxTypes + kTaskTypes <= FreeIndex::kMostColumns);

}  // namespace

void LoadIndex::Set(NodeIndex node, const model::Resources& free, const Counts& granted, int64_t vcores) {
  Grow(node);
  FreeIndex::Row row = Row(free);
  for (const TaskType type : kTypes) {
    // Larger is emptier; rounded up, so that the search sees every node that may be below the mean.
    const int64_t load = granted[At(type)] * kLoadUnits / std::max<int64_t>(vcores, 1);
    row[types_ + At(type)] = std::max<int64_t>(native::kUnlimited - load, 0);
  }
  index_.Set(node.value, row);
}

void LoadIndex::Close(NodeIndex node) {
  Grow(node);
  index_.Close(node.value);
}

uint32_t LoadIndex::FindBelow(uint32_t from, const model::Resources& need, TaskType type, int64_t granted,
                              int64_t vcores) const {
  FreeIndex::Row row = Row(need);
  const auto mean = static_cast<int64_t>(static_cast<__int128>(granted) * kLoadUnits / std::max<int64_t>(vcores, 1));
  row[types_ + At(type)] = native::kUnlimited - mean - 1;
  return index_.FindFrom(from, row);
}

}  // namespace fairlead::scheduler::tdw

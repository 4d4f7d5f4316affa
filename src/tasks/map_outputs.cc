#include "tasks/map_outputs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace fairlead::tasks {

namespace {

constexpr double kLogBase = 1.1;

}  // namespace

uint8_t EncodeSize(int64_t bytes) {
  if (bytes <= 0) return 0;
  if (bytes <= 1) return 1;
  return static_cast<uint8_t>(std::min(255.0, std::ceil(std::log(static_cast<double>(bytes)) / std::log(kLogBase))));
}

int64_t DecodeSize(uint8_t code) {
  static const std::array<int64_t, 256> kSizes = [] {
    std::array<int64_t, 256> sizes{};
    for (size_t i = 1; i < sizes.size(); ++i) {
      sizes[i] = static_cast<int64_t>(std::pow(kLogBase, static_cast<double>(i)));
    }
    return sizes;
  }();
  return kSizes[code];
}

MapOutputTable::MapOutputTable(int32_t maps, int32_t reduces)
    : reduces_(reduces),
      place_(static_cast<size_t>(maps), kMissing),
      task_(static_cast<size_t>(maps), -1),
      codes_(static_cast<size_t>(maps) * static_cast<size_t>(reduces)) {}

void MapOutputTable::Set(int32_t map, uint32_t place, int64_t task, std::span<const uint8_t> codes) {
  FL_CHECK(static_cast<int32_t>(codes.size()) == reduces_, "an output has a size per reduce partition");
  const auto m = static_cast<size_t>(map);
  if (place_[m] == kMissing) ++available_;
  place_[m] = place;
  task_[m] = task;
  std::copy(codes.begin(), codes.end(), codes_.begin() + static_cast<ptrdiff_t>(m * static_cast<size_t>(reduces_)));
}

bool MapOutputTable::Remove(int32_t map) {
  const auto m = static_cast<size_t>(map);
  if (place_[m] == kMissing) return false;
  place_[m] = kMissing;
  task_[m] = -1;
  const auto row = codes_.begin() + static_cast<ptrdiff_t>(m * static_cast<size_t>(reduces_));
  std::fill(row, row + reduces_, uint8_t{0});
  --available_;
  return true;
}

std::span<const uint8_t> MapOutputTable::row(int32_t map) const {
  const auto width = static_cast<size_t>(reduces_);
  return std::span(codes_).subspan(static_cast<size_t>(map) * width, width);
}

std::vector<MapOutputTable::Block> MapOutputTable::BlocksOf(int32_t reduce) const {
  std::vector<Block> blocks;
  const auto width = static_cast<size_t>(reduces_);
  const uint8_t* code = codes_.data() + reduce;
  for (size_t map = 0; map < place_.size(); ++map, code += width) {
    if (*code == 0 || place_[map] == kMissing) continue;
    blocks.push_back(
        {.map = static_cast<int32_t>(map), .place = place_[map], .task = task_[map], .bytes = DecodeSize(*code)});
  }
  return blocks;
}

}  // namespace fairlead::tasks

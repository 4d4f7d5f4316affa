#include "wire/spark_shuffle/merge_statuses.h"

#include "base/bytes.h"

namespace fairlead::wire::spark_shuffle {
namespace {

/// What an answer's lists become is in proportion to its bytes: a bitmap is charged by MapBitmap::Read's own bound.
constexpr base::BudgetKind kStatusesKind{.name = "merge statuses",
                                         .bytes = 256 << 20,
                                         .depth = 1,
                                         .memory = {.floor = 4096, .per_byte = 16, .most = size_t{1} << 30},
                                         .nodes = {},
                                         .work = {}};
/// The least bytes of a bitmap.
constexpr size_t kBitmapMin = 8;

}  // namespace

MergeStatuses MakeMergeStatuses(int32_t shuffle_id, int32_t merge_id, const std::vector<MergeStatus>& partitions) {
  MergeStatuses out{shuffle_id, merge_id, {}, {}, {}};
  if (partitions.empty()) return out;
  base::ByteWriter rest(out.rest);
  const auto count = static_cast<int32_t>(partitions.size());
  rest.I32(count);
  for (const MergeStatus& one : partitions) rest.Bytes(one.maps.SerializeWithRuns());
  rest.I32(count);
  for (const MergeStatus& one : partitions) rest.I32(one.reduce_id);
  rest.I32(count);
  for (const MergeStatus& one : partitions) rest.I64(one.bytes);
  return out;
}

base::Result<std::vector<MergeStatus>> ReadMergeStatuses(const MergeStatuses& answer) {
  std::vector<MergeStatus> out;
  if (answer.rest.empty()) return out;
  const base::Error damaged{"merge statuses are damaged"};
  const auto count = base::BigEndian<int32_t>(answer.rest);
  std::string_view rest = std::string_view(answer.rest).substr(std::min<size_t>(4, answer.rest.size()));
  if (count < 0 || static_cast<size_t>(count) > rest.size() / kBitmapMin) return damaged;
  for (int32_t i = 0; i < count; ++i) {
    auto maps = MapBitmap::Read(rest);
    if (!maps.ok()) return maps.error();
    out.push_back({0, 0, *std::move(maps)});
  }
  base::Budget budget(kStatusesKind, rest.size());
  base::ByteReader in(rest, budget);
  if (in.I32() != count) return damaged;
  for (MergeStatus& one : out) one.reduce_id = in.I32();
  if (in.I32() != count) return damaged;
  for (MergeStatus& one : out) one.bytes = in.I64();
  if (!in.done()) return damaged;
  return out;
}

base::Result<std::vector<MapBitmap>> ReadChunkMaps(std::string_view meta, size_t chunks) {
  std::vector<MapBitmap> out;
  if (chunks > meta.size() / kBitmapMin) return base::Error{"a meta file has fewer bitmaps than chunks"};
  for (size_t i = 0; i < chunks; ++i) {
    auto maps = MapBitmap::Read(meta);
    if (!maps.ok()) return maps.error();
    out.push_back(*std::move(maps));
  }
  return out;
}

}  // namespace fairlead::wire::spark_shuffle

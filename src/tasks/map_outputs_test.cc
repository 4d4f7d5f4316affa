#include "tasks/map_outputs.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace fairlead::tasks {
namespace {

TEST(MapOutputsTest, SizesAreSparks) {
  // MapStatus.compressSize and decompressSize of Spark 3.5.5.
  EXPECT_EQ(EncodeSize(0), 0);
  EXPECT_EQ(EncodeSize(1), 1);
  EXPECT_EQ(EncodeSize(1024), 73);
  EXPECT_EQ(DecodeSize(73), 1051);
  EXPECT_EQ(EncodeSize(65536), 117);
  EXPECT_EQ(DecodeSize(117), 69653);
  EXPECT_EQ(EncodeSize(INT64_MAX), 255);
  EXPECT_EQ(DecodeSize(0), 0);
  EXPECT_EQ(DecodeSize(1), 1);
  for (int64_t size = 1; size < int64_t{1} << 34; size = size * 3 / 2 + 1) {
    const int64_t decoded = DecodeSize(EncodeSize(size));
    EXPECT_GE(decoded + 1, size);
    EXPECT_LE(decoded, size + size / 10 + 1);
  }
}

/// Rows of one kind: alike, empty, spread over sizes, any byte.
std::vector<uint8_t> MakeRow(base::Rng& rng, int32_t reduces, int kind) {
  std::vector<uint8_t> row(static_cast<size_t>(reduces));
  for (uint8_t& code : row) {
    switch (kind) {
      case 0:
        code = 120;
        break;
      case 1:
        code = rng.Chance(0.02) ? 90 : 0;
        break;
      case 2:
        code = EncodeSize(static_cast<int64_t>(rng.Below(1 << 20)));
        break;
      default:
        code = static_cast<uint8_t>(rng.Below(256));
    }
  }
  return row;
}

std::string Encoded(const MapOutputTable& table) {
  std::string bytes;
  EncodeMapOutputs(table, bytes);
  return bytes;
}

void ExpectEqual(const MapOutputTable& a, const MapOutputTable& b) {
  ASSERT_EQ(a.maps(), b.maps());
  ASSERT_EQ(a.reduces(), b.reduces());
  EXPECT_EQ(a.available(), b.available());
  for (int32_t map = 0; map < a.maps(); ++map) {
    EXPECT_EQ(a.place(map), b.place(map));
    EXPECT_EQ(a.task(map), b.task(map));
    EXPECT_EQ(a.Row(map), b.Row(map));
  }
}

TEST(MapOutputsTest, RoundTripsAndListsBlocks) {
  base::Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    const auto maps = static_cast<int32_t>(rng.Between(0, 200));
    const auto reduces = static_cast<int32_t>(rng.Between(1, 70));
    const int kind = static_cast<int>(rng.Below(4));
    const bool complete = rng.Chance(0.5);
    MapOutputTable table(maps, reduces);
    std::vector<std::vector<uint8_t>> rows(static_cast<size_t>(maps));
    for (int32_t map = 0; map < maps; ++map) {
      rows[static_cast<size_t>(map)].resize(static_cast<size_t>(reduces));
      if (!complete && rng.Chance(0.2)) continue;
      rows[static_cast<size_t>(map)] = MakeRow(rng, reduces, kind);
      table.Set(map, static_cast<uint32_t>(rng.Below(50)), static_cast<int64_t>(rng.Below(1 << 30)),
                rows[static_cast<size_t>(map)]);
    }
    const std::string bytes = Encoded(table);
    base::Result<MapOutputTable> decoded = DecodeMapOutputs(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    ExpectEqual(table, *decoded);
    // What was decoded encodes to the same bytes without being unpacked, and can be changed.
    EXPECT_EQ(Encoded(*decoded), bytes);
    for (int32_t reduce = 0; reduce < reduces; ++reduce) {
      const auto blocks = decoded->BlocksOf(reduce);
      size_t next = 0;
      for (int32_t map = 0; map < maps; ++map) {
        const uint8_t code = rows[static_cast<size_t>(map)][static_cast<size_t>(reduce)];
        if (code == 0) continue;
        ASSERT_LT(next, blocks.size());
        EXPECT_EQ(blocks[next].map, map);
        EXPECT_EQ(blocks[next].bytes, DecodeSize(code));
        EXPECT_EQ(blocks[next].place, table.place(map));
        ++next;
      }
      EXPECT_EQ(next, blocks.size());
    }
    if (maps == 0) continue;
    const auto changed = static_cast<int32_t>(rng.Below(static_cast<uint64_t>(maps)));
    EXPECT_EQ(decoded->Remove(changed), table.Remove(changed));
    ExpectEqual(table, *decoded);
    const std::vector<uint8_t> row = MakeRow(rng, reduces, kind);
    for (MapOutputTable* one : {&table, &*decoded}) one->Set(changed, 3, 5, row);
    ExpectEqual(table, *decoded);
    EXPECT_EQ(table.Row(changed), row);
  }
}

TEST(MapOutputsTest, OutputsComeAndGo) {
  MapOutputTable table(3, 2);
  const std::vector<uint8_t> row{1, 0};
  EXPECT_FALSE(table.Remove(1));
  table.Set(1, 4, 9, row);
  table.Set(1, 5, 10, row);
  EXPECT_EQ(table.available(), 1);
  EXPECT_EQ(table.place(1), 5u);
  EXPECT_TRUE(table.Remove(1));
  EXPECT_EQ(table.available(), 0);
  EXPECT_EQ(table.place(1), MapOutputTable::kMissing);
  EXPECT_TRUE(table.BlocksOf(0).empty());
}

TEST(MapOutputsTest, HostileBytesAreRefused) {
  MapOutputTable table(130, 9);
  base::Rng rng(3);
  for (int32_t map = 0; map < 130; ++map) table.Set(map, 1, map, MakeRow(rng, 9, 2));
  const std::string good = Encoded(table);
  EXPECT_FALSE(DecodeMapOutputs("").ok());
  EXPECT_FALSE(DecodeMapOutputs(good + "x").ok());
  for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(DecodeMapOutputs(good.substr(0, cut)).ok()) << cut;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    bad[rng.Below(bad.size())] = static_cast<char>(rng.Below(256));
    base::Result<MapOutputTable> decoded = DecodeMapOutputs(bad);
    if (!decoded.ok()) continue;
    for (int32_t reduce = 0; reduce < std::min(decoded->reduces(), 64); ++reduce) decoded->BlocksOf(reduce);
  }
  // A huge announced table without the bytes for it.
  EXPECT_FALSE(DecodeMapOutputs(std::string("\x01\xff\xff\xff\xff\x07\x05", 7)).ok());
}

}  // namespace
}  // namespace fairlead::tasks

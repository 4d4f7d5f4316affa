#include "wire/spark_shuffle/map_bitmap.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <set>

namespace fairlead::wire::spark_shuffle {
namespace {

std::string Hex(std::string_view bytes) {
  std::string out;
  char two[3];
  for (const char c : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<uint8_t>(c));
    out += two;
  }
  return out;
}

/// Long ones as their size and the CRC of their hex text.
std::string Shown(const std::string& bytes) {
  const std::string hex = Hex(bytes);
  if (hex.size() < 200) return hex;
  char text[40];
  std::snprintf(text, sizeof text, "%zu bytes, %lx", bytes.size(),
                crc32(0, reinterpret_cast<const Bytef*>(hex.data()), static_cast<uInt>(hex.size())));
  return text;
}

MapBitmap Of(int count, int step, int skip = 0) {
  MapBitmap out;
  for (int i = 0; i < count; ++i) {
    if (skip == 0 || i % skip != 0) out.Add(i * step);
  }
  return out;
}

struct Golden {
  const char* name;
  MapBitmap bitmap;
  const char* plain;
  const char* runs;
};

// Made by RoaringBitmap 0.9.45 (Spark 3.5.5) and 1.6.10 (Spark 4.3.0), which agree.
TEST(MapBitmap, IsWrittenAsRoaringBitmapWritesIt) {
  MapBitmap mixed;
  for (const int32_t index : {5, 1, 70000, 2, 131072, -1}) mixed.Add(index);
  MapBitmap four;
  for (int i = 0; i < 9; ++i) {
    for (const int32_t index : {i, 70000 + i, 140000 + i, 210000 + 2 * i}) four.Add(index);
  }
  const char* const kMixed =
      "3a30000004000000000002000100000002000000ffff0000280000002e000000300000003200000001000200050070110000ffff";
  const Golden golden[] = {
      {"empty", {}, "3a30000000000000", "3a30000000000000"},
      {"three", Of(3, 1), "3a300000010000000000020010000000000001000200",
       "3a300000010000000000020010000000000001000200"},
      {"four in a row", Of(4, 1), "3a3000000100000000000300100000000000010002000300", "3b3000000100000300010000000300"},
      {"mixed", mixed, kMixed, kMixed},
      {"four containers", four, "112 bytes, a7636330",
       "3b3003000700000800010008000200080003000800250000002b00000031000000370000000100000008000100701108000100e02208005"
       "03452345434563458345a345c345e346034"},
      {"the longest array", Of(4096, 2), "8208 bytes, 3544d586", "8208 bytes, 3544d586"},
      {"the least bit set", Of(4097, 2), "8208 bytes, 3cfa4b4f", "8208 bytes, 3cfa4b4f"},
      {"one long run", Of(60000, 1), "8208 bytes, 1e067de1", "3b3000000100005fea010000005fea"},
      {"2048 runs", Of(65536, 1, 32), "8208 bytes, d8dcb6e8", "8208 bytes, d8dcb6e8"},
  };
  for (const Golden& one : golden) {
    EXPECT_EQ(Shown(one.bitmap.Serialize()), one.plain) << one.name;
    EXPECT_EQ(Shown(one.bitmap.SerializeWithRuns()), one.runs) << one.name;
    for (const std::string& written : {one.bitmap.Serialize(), one.bitmap.SerializeWithRuns()}) {
      std::string_view rest = written;
      const auto read = MapBitmap::Read(rest);
      ASSERT_TRUE(read.ok()) << one.name;
      EXPECT_TRUE(*read == one.bitmap) << one.name;
      EXPECT_TRUE(rest.empty()) << one.name;
    }
  }
}

TEST(MapBitmap, HoldsWhatWasAddedInAnyOrder) {
  MapBitmap bitmap;
  std::set<uint32_t> expected;
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    const uint32_t index = i % 3 == 0 ? state : state % 9000;
    EXPECT_EQ(bitmap.Add(static_cast<int32_t>(index)), expected.insert(index).second);
  }
  EXPECT_EQ(bitmap.size(), expected.size());
  const auto indices = bitmap.Indices();
  EXPECT_TRUE(std::equal(indices.begin(), indices.end(), expected.begin(), expected.end(),
                         [](int32_t a, uint32_t b) { return static_cast<uint32_t>(a) == b; }));
  EXPECT_FALSE(bitmap.Contains(9001));
  bitmap.Clear();
  EXPECT_TRUE(bitmap.empty());
}

TEST(MapBitmap, TenThousandPartitionsOfTenThousandMapsAreSmall) {
  EXPECT_LE(Of(10'000, 1).memory_bytes(), 1'400u);
  EXPECT_LE(Of(33'000, 1).memory_bytes(), 4'300u) << "no room beyond the highest";
  MapBitmap sparse;
  sparse.Add(60'000);
  EXPECT_LE(sparse.memory_bytes(), 200u);
}

TEST(MapBitmap, DamagedOnesAreRefused) {
  const std::string good = Of(100, 3).Serialize();
  for (size_t length = 0; length < good.size(); ++length) {
    std::string_view cut = std::string_view(good).substr(0, length);
    EXPECT_FALSE(MapBitmap::Read(cut).ok()) << length;
  }
  std::string twice = good;
  twice[18] = twice[16];  // the second value is the first again
  std::string_view rest = twice;
  EXPECT_FALSE(MapBitmap::Read(rest).ok());
}

}  // namespace
}  // namespace fairlead::wire::spark_shuffle

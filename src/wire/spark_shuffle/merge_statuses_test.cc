#include "wire/spark_shuffle/merge_statuses.h"

#include <gtest/gtest.h>

namespace fairlead::wire::spark_shuffle {
namespace {

MergeStatus StatusOf(int32_t reduce_id, int64_t bytes, std::initializer_list<int32_t> maps) {
  MergeStatus out{reduce_id, bytes, {}};
  for (const int32_t map : maps) out.maps.Add(map);
  return out;
}

TEST(MergeStatuses, AreReadAsTheyWereWritten) {
  const std::vector<MergeStatus> written = {StatusOf(3, 100, {0, 1, 2, 3, 4, 5}), StatusOf(0, 0, {70'000})};
  const auto message = DecodeMessage(EncodeMessage(MakeMergeStatuses(7, 2, written)));
  ASSERT_TRUE(message.ok()) << message.error().message;
  const auto& statuses = std::get<MergeStatuses>(*message);
  EXPECT_EQ(statuses.shuffle_id, 7);
  EXPECT_EQ(statuses.shuffle_merge_id, 2);
  const auto read = ReadMergeStatuses(statuses);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].reduce_id, written[i].reduce_id);
    EXPECT_EQ((*read)[i].bytes, written[i].bytes);
    EXPECT_TRUE((*read)[i].maps == written[i].maps);
  }
}

TEST(MergeStatuses, OfNothingAreEmpty) {
  const auto message = DecodeMessage(EncodeMessage(MakeMergeStatuses(7, 2, {})));
  ASSERT_TRUE(message.ok());
  const auto read = ReadMergeStatuses(std::get<MergeStatuses>(*message));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->empty());
}

TEST(MergeStatuses, DamagedOnesAreRefused) {
  MergeStatuses good = MakeMergeStatuses(7, 2, {StatusOf(3, 100, {0, 5})});
  for (size_t length = 1; length < good.rest.size(); ++length) {
    MergeStatuses cut = good;
    cut.rest.resize(length);
    EXPECT_FALSE(ReadMergeStatuses(cut).ok()) << length;
  }
  good.rest[3] = 2;  // more bitmaps than there are
  EXPECT_FALSE(ReadMergeStatuses(good).ok());
}

TEST(ChunkMaps, AreOneBehindTheOther) {
  MapBitmap first;
  first.Add(4);
  MapBitmap second;
  second.Add(1);
  second.Add(9);
  const auto maps = ReadChunkMaps(first.Serialize() + second.Serialize(), 2);
  ASSERT_TRUE(maps.ok());
  EXPECT_TRUE((*maps)[1] == second);
  EXPECT_FALSE(ReadChunkMaps(first.Serialize(), 2).ok());
}

}  // namespace
}  // namespace fairlead::wire::spark_shuffle

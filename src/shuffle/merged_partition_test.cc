#include "shuffle/merged_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::shuffle {
namespace {

using testing::ElementsAre;

PushedBlock Block(int32_t map) {
  PushedBlock out;
  out.map_index = map;
  return out;
}

PushOutcome Whole(MergedPartition& partition, int32_t map, std::string_view bytes) {
  PushedBlock block = Block(map);
  if (!bytes.empty()) partition.OnBytes(block, bytes, true);
  return partition.OnEnd(block);
}

std::vector<int32_t> MapsOf(std::string_view& meta) {
  const auto read = wire::spark_shuffle::MapBitmap::Read(meta);
  return read.ok() ? read->Indices() : std::vector<int32_t>{-1};
}

TEST(MergedPartition, BlocksLieInTheOrderOfTheirEndsAndChunksEndAtTheirLeastSize) {
  MergedPartition partition(6);
  EXPECT_EQ(Whole(partition, 3, "aaaa"), PushOutcome::kMerged);
  EXPECT_EQ(Whole(partition, 1, "bbb"), PushOutcome::kMerged);
  EXPECT_EQ(Whole(partition, 7, ""), PushOutcome::kMerged);
  EXPECT_EQ(Whole(partition, 2, "c"), PushOutcome::kMerged);
  EXPECT_EQ(partition.Take().bytes, "aaaabbbc");
  MergedFiles files = partition.Finish();
  EXPECT_THAT(files.offsets, ElementsAre(0, 7, 8));
  std::string_view meta = files.meta;
  EXPECT_THAT(MapsOf(meta), ElementsAre(1, 3));
  EXPECT_THAT(MapsOf(meta), ElementsAre(2, 7));
  EXPECT_TRUE(meta.empty());
  EXPECT_EQ(partition.maps().size(), 4u);
}

TEST(MergedPartition, AnotherBlockWaitsAndCollidesWhenItEndsFirst) {
  MergedPartition partition(100);
  PushedBlock first = Block(1);
  PushedBlock second = Block(2);
  PushedBlock third = Block(3);
  partition.OnBytes(first, "aa", true);
  partition.OnBytes(second, "bb", true);
  partition.OnBytes(third, "cc", true);
  EXPECT_EQ(partition.OnEnd(third), PushOutcome::kCollision);
  EXPECT_TRUE(third.deferred.empty());
  partition.OnBytes(first, "AA", true);
  EXPECT_EQ(partition.OnEnd(first), PushOutcome::kMerged);
  partition.OnBytes(second, "BB", true);
  EXPECT_EQ(partition.OnEnd(second), PushOutcome::kMerged);
  EXPECT_EQ(partition.Take().bytes, "aaAAbbBB");
  EXPECT_EQ(Whole(partition, 3, "ccCC"), PushOutcome::kMerged) << "tried again";
}

TEST(MergedPartition, WhatWaitsIsWrittenAtItsEndWhenTheOtherIsGone) {
  MergedPartition partition(100);
  PushedBlock first = Block(1);
  PushedBlock second = Block(2);
  partition.OnBytes(first, "aa", true);
  partition.OnBytes(second, "bb", true);
  partition.OnFailure(first);
  EXPECT_EQ(partition.OnEnd(second), PushOutcome::kMerged);
  EXPECT_EQ(partition.Take().bytes, "bb");
  EXPECT_EQ(partition.bytes(), 2);
}

TEST(MergedPartition, ABlockThatMayNotWaitIsGivenUp) {
  MergedPartition partition(100);
  PushedBlock first = Block(1);
  PushedBlock second = Block(2);
  partition.OnBytes(first, "aa", true);
  partition.OnBytes(second, "bb", false);
  EXPECT_EQ(partition.OnEnd(first), PushOutcome::kMerged);
  partition.OnBytes(second, "BB", true);
  EXPECT_EQ(partition.OnEnd(second), PushOutcome::kCollision);
  EXPECT_EQ(partition.Take().bytes, "aa");
}

TEST(MergedPartition, TheSameBlockTwiceIsThereOnce) {
  MergedPartition partition(100);
  PushedBlock one = Block(1);
  PushedBlock again = Block(1);
  partition.OnBytes(one, "aa", true);
  partition.OnBytes(again, "aa", true);
  EXPECT_EQ(partition.OnEnd(one), PushOutcome::kMerged);
  EXPECT_EQ(partition.OnEnd(again), PushOutcome::kDuplicate);
  EXPECT_EQ(Whole(partition, 1, "aa"), PushOutcome::kDuplicate);
  EXPECT_EQ(partition.Take().bytes, "aa");
}

// Spark's service writes the rest of the second as if it were the block.
TEST(MergedPartition, ATwinWhoseBeginWasThrownAwayIsNotMergedWhenTheFirstFails) {
  MergedPartition partition(100);
  PushedBlock one = Block(1);
  PushedBlock twin = Block(1);
  partition.OnBytes(one, "aa", true);
  partition.OnBytes(twin, "aa", true);
  partition.OnFailure(one);
  partition.OnBytes(twin, "bb", true);
  EXPECT_EQ(partition.OnEnd(twin), PushOutcome::kCollision);
  EXPECT_EQ(partition.bytes(), 0);
  EXPECT_TRUE(partition.maps().empty());
}

TEST(MergedPartition, AFailedBlockIsWrittenOverAlsoWhereTheFileHasPartOfIt) {
  MergedPartition partition(100);
  EXPECT_EQ(Whole(partition, 0, "000"), PushOutcome::kMerged);
  PushedBlock first = Block(1);
  partition.OnBytes(first, "aaaa", true);
  const auto written = partition.Take();
  EXPECT_EQ(written.offset, 0);
  EXPECT_EQ(written.bytes, "000aaaa");
  partition.OnFailure(first);
  EXPECT_EQ(Whole(partition, 2, "bb"), PushOutcome::kMerged);
  const auto next = partition.Take();
  EXPECT_EQ(next.offset, 3);
  EXPECT_EQ(next.bytes, "bb");
}

TEST(MergedPartition, AWriteThatFailedIsGivenAgainWithoutWhatIsNoLongerWanted) {
  MergedPartition partition(100);
  EXPECT_EQ(Whole(partition, 0, "000"), PushOutcome::kMerged);
  PushedBlock first = Block(1);
  partition.OnBytes(first, "aaaa", true);
  auto written = partition.Take();
  partition.OnFailure(first);
  EXPECT_EQ(Whole(partition, 2, "bb"), PushOutcome::kMerged);
  partition.GiveBack(std::move(written));
  const auto again = partition.Take();
  EXPECT_EQ(again.offset, 0);
  EXPECT_EQ(again.bytes, "000bb");
}

TEST(MergedPartition, AnEndInMidBlockKeepsWhatWasWhole) {
  MergedPartition partition(100);
  EXPECT_EQ(Whole(partition, 0, "000"), PushOutcome::kMerged);
  PushedBlock first = Block(1);
  partition.OnBytes(first, "aaaa", true);
  const MergedFiles files = partition.Finish();
  EXPECT_THAT(files.offsets, ElementsAre(0, 3));
  EXPECT_EQ(partition.Take().bytes, "000");
}

TEST(MergedPartition, ABlockThatFailedLeavesNoMemory) {
  MergedPartition partition(100);
  Whole(partition, 1, "kept");
  PushedBlock endless = Block(2);
  for (int i = 0; i < 100; ++i) partition.OnBytes(endless, std::string(10'000, 'x'), true);
  EXPECT_GE(partition.memory_bytes(), 1'000'000u);
  partition.OnFailure(endless);
  EXPECT_LT(partition.memory_bytes(), 1'000u);
  EXPECT_EQ(partition.Take().bytes, "kept");
}

}  // namespace
}  // namespace fairlead::shuffle

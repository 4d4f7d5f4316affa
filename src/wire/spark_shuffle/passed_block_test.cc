#include "wire/spark_shuffle/passed_block.h"

#include <gtest/gtest.h>

namespace fairlead::wire::spark_shuffle {
namespace {

TEST(PassedBlock, BytesAndRangesComeBack) {
  const std::string inside = std::string(1, kPassedAsBytes) + "abc";
  const auto bytes = DecodePassedBlock(inside);
  ASSERT_TRUE(bytes.ok());
  EXPECT_FALSE(bytes->in_file);
  EXPECT_EQ(bytes->bytes, "abc");
  const std::string body = EncodePassedFile(int64_t{1} << 40, int64_t{3} << 30);
  const auto range = DecodePassedBlock(body);
  ASSERT_TRUE(range.ok());
  EXPECT_TRUE(range->in_file);
  EXPECT_EQ(range->offset, int64_t{1} << 40);
  EXPECT_EQ(range->length, int64_t{3} << 30);
}

TEST(PassedBlock, WhatIsNeitherIsRefused) {
  const std::string whole = EncodePassedFile(1, 2);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(DecodePassedBlock(whole.substr(0, size)).ok());
  EXPECT_FALSE(DecodePassedBlock(whole + "x").ok());
  EXPECT_FALSE(DecodePassedBlock("\2").ok());
  for (const auto& [offset, length] : {std::pair{int64_t{-1}, int64_t{5}}, {5, -1}, {5, 0}, {INT64_MAX, 1}}) {
    EXPECT_FALSE(DecodePassedBlock(EncodePassedFile(offset, length)).ok()) << offset << " " << length;
  }
}

TEST(PassedBlock, NamesOfServices) {
  EXPECT_EQ(LocalServiceName("127.0.0.2", 7337), "fairlead-shuffle/127.0.0.2:7337");
  EXPECT_EQ(LocalServiceName("", 7337), "fairlead-shuffle/*:7337");
}

}  // namespace
}  // namespace fairlead::wire::spark_shuffle

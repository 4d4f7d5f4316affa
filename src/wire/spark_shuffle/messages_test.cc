#include "wire/spark_shuffle/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::wire::spark_shuffle {
namespace {

std::string Unhex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

TEST(Messages, BytesAreSparks) {
  RegisterExecutor registration;
  registration.app_id = "app-1";
  registration.exec_id = "0";
  registration.local_dirs = {"/d/blockmgr-a"};
  registration.shuffle_manager = "org.apache.spark.shuffle.sort.SortShuffleManager";
  EXPECT_EQ(
      EncodeMessage(registration),
      Unhex("02000000056170702d310000000130000000010000000d2f642f626c6f636b6d67722d61000000400000"
            "00306f72672e6170616368652e737061726b2e73687566666c652e736f72742e536f727453687566666c654d616e61676572"));
  FetchShuffleBlocks fetch;
  fetch.app_id = "app-1";
  fetch.exec_id = "0";
  fetch.shuffle_id = 2;
  fetch.map_ids = {17};
  const int32_t reduces[] = {3, 4};
  fetch.reduce_ids.Add(reduces);
  EXPECT_EQ(EncodeMessage(fetch), Unhex("09000000056170702d310000000130000000020000000100000000000000110000000100000002"
                                        "000000030000000400"));
  EXPECT_EQ(EncodeMessage(StreamHandle{5000, 2}), Unhex("03000000000000138800000002"));
}

TEST(Messages, EveryMessageComesBack) {
  IntLists lists;
  const int32_t values[] = {1, -2, 3};
  lists.Add(values);
  lists.Add({});
  lists.Add(values);
  const Message all[] = {
      OpenBlocks{"a", "1", {"rdd_1_2", ""}},
      UploadBlock{"a", "1", "b", "meta", std::string("\0x", 2)},
      RegisterExecutor{"a", "1", {"/x", "/y"}, 64, "m"},
      StreamHandle{-1, 7},
      UploadBlockStream{"b", "m"},
      RemoveBlocks{"a", "1", {"x"}},
      BlocksRemoved{3},
      FetchShuffleBlocks{"a", "1", 2, {INT64_MAX, 5, -1}, lists, true},
      GetLocalDirsForExecutors{"a", {"1", "2"}},
      LocalDirsForExecutors{{"1"}, {2}, {"/x", "/y"}},
      PushBlockStream{"a", 1, 2, 3, 4, 5, 6},
      FinalizeShuffleMerge{"a", 1, 2, 3},
      MergeStatuses{1, 2, {3, 4}, {5, 6}, ""},
      FetchShuffleBlockChunks{"a", "1", 2, 3, {1, 2}, lists},
      DiagnoseCorruption{"a", "1", 2, 3, 4, 5, "CRC32"},
      CorruptionCause{Cause::kNetworkIssue},
      BlockPushReturnCode{2, "b"},
      RemoveShuffleMerge{"a", 1, 2, 3},
  };
  for (const Message& message : all) {
    const std::string bytes = EncodeMessage(message);
    EXPECT_EQ(static_cast<size_t>(bytes[0]), message.index());
    const auto again = DecodeMessage(bytes);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->index(), message.index());
    EXPECT_EQ(EncodeMessage(*again), bytes);
    EXPECT_TRUE(DecodeMessage(bytes + "more").ok());
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_EQ(DecodeMessage(bytes.substr(0, cut)).ok(), false);
    }
  }
}

std::string ErrorOf(std::string_view hex, Dialect dialect) {
  const auto decoded = DecodeMessage(Unhex(hex), dialect);
  return decoded.ok() ? "ok" : decoded.error().message;
}

TEST(Messages, ErrorsAreThoseOfTheRelease) {
  const char* const cut = "02000000176170702d3230323630313031303030";
  EXPECT_EQ(ErrorOf(cut, Dialect::kSpark43),
            "java.lang.IndexOutOfBoundsException: Range [0, 0 + 23) out of bounds for length 15");
  EXPECT_EQ(ErrorOf(cut, Dialect::kSpark35),
            "java.lang.IndexOutOfBoundsException: readerIndex(5) + length(23) exceeds writerIndex(20): "
            "UnpooledUnsafeDirectByteBuf(ridx: 5, widx: 20, cap: 20/20)");
  EXPECT_EQ(ErrorOf("", Dialect::kSpark43), "java.lang.IndexOutOfBoundsException");
  EXPECT_EQ(ErrorOf("02ffffffff41", Dialect::kSpark35), "java.lang.NegativeArraySizeException: -1");
  EXPECT_EQ(ErrorOf("02ffffffff41", Dialect::kSpark43),
            "java.lang.IndexOutOfBoundsException: Range [0, 0 + -1) out of bounds for length 1");
  EXPECT_EQ(ErrorOf("630000", Dialect::kSpark43), "java.lang.IllegalArgumentException: Unknown message type: 99");
  EXPECT_EQ(ErrorOf("04", Dialect::kSpark43), "java.lang.IllegalArgumentException: Unknown message type: 4");
  EXPECT_EQ(ErrorOf("0e0000000100000002ffffffff", Dialect::kSpark43),
            "java.lang.IndexOutOfBoundsException: Range [0, 0 + -1) out of bounds for length 0");
  EXPECT_EQ(ErrorOf("0e0000000100000002000000020000000000000000000000000000", Dialect::kSpark43),
            "java.lang.IndexOutOfBoundsException: Range [0, 0 + 2) out of bounds for length 1");
  EXPECT_EQ(ErrorOf("0e0000000100000002ffffffff", Dialect::kSpark35), "java.lang.NegativeArraySizeException: -1");
  EXPECT_EQ(DecodeMessage(Unhex("027fffffff41"), Dialect::kSpark35).error().code,
            static_cast<int>(DecodeError::kOutOfMemory));
}

TEST(Messages, WhatOneStandsForHasABound) {
  FetchShuffleBlocks real{"application_1_0001", "1", 1, {}, {}, false};
  for (int64_t map = 0; map < 250'000; ++map) {  // the most that Spark asks for at once
    real.map_ids.push_back(map);
    real.reduce_ids.Add({{1}});
  }
  const std::string bytes = EncodeMessage(real);
  EXPECT_LT(bytes.size(), size_t{5} << 20);
  EXPECT_TRUE(DecodeMessage(bytes).ok());
  FetchShuffleBlocks wide{"application_1_0001", "1", 1, {1}, {}, false};
  wide.reduce_ids.Add(std::vector<int32_t>(3'000'000, 1));
  const auto refused = DecodeMessage(EncodeMessage(wide));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("what it stands for takes more than 16777216 bytes"), std::string::npos)
      << refused.error().message;
  FetchShuffleBlockChunks chunks{"application_1_0001", "1", 1, 0, std::vector<int32_t>(800'000, 1), {}};
  const auto longer = DecodeMessage(EncodeMessage(chunks));
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().message.find("3145728"), std::string::npos) << longer.error().message;
}

TEST(Messages, JavaStrings) {
  EXPECT_EQ(ToJavaString(StreamHandle{1, 2}), "StreamHandle[streamId=1,numChunks=2]");
  EXPECT_EQ(ToJavaString(UploadBlock{"a", "1", "rdd_1_1", "mm", "ddd"}),
            "UploadBlock[appId=a,execId=1,blockId=rdd_1_1,metadata size=2,block size=3]");
  EXPECT_EQ(ToJavaString(LocalDirsForExecutors{{"1", "2"}, {1, 1}, {"/a", "/b"}}),
            "LocalDirsForExecutors[execIds=[1, 2],numLocalDirsByExec=[1, 1],allLocalDirs=[/a, /b]]");
  EXPECT_EQ(ToJavaString(RegisterDriver{"A", 0}), "org.apache.spark.network.shuffle.protocol.mesos.RegisterDriver@ba0");
  EXPECT_EQ(ToJavaString(RegisterDriver{"\u00e9", 0}),
            "org.apache.spark.network.shuffle.protocol.mesos.RegisterDriver@1ff8");
}

TEST(Messages, TextsAreReadAsJavaReadsThem) {
  const std::string bytes = EncodeMessage(OpenBlocks{"a\xff", "1", {"rdd_\xed\xa0\x80_1"}});
  const auto message = DecodeMessage(bytes);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(std::get<OpenBlocks>(*message).app_id, "a\ufffd");
  EXPECT_EQ(std::get<OpenBlocks>(*message).block_ids[0], "rdd_\ufffd_1");
}

}  // namespace
}  // namespace fairlead::wire::spark_shuffle

#include "wire/spark_transport/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fairlead::wire::spark_transport {
namespace {

std::string Unhex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

struct Seen {
  std::vector<std::string> frames;  // "name id chunk text body"
  std::string raw;
  std::string error;
};

Seen ReadAll(std::string_view bytes, size_t piece, size_t limit = 1 << 20) {
  FrameReader reader(limit);
  Seen seen;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string part(bytes.substr(at, piece));
    reader.Feed(part);
    while (true) {
      const auto outcome = reader.Next();
      if (outcome == FrameReader::Outcome::kNeedMore) break;
      if (outcome == FrameReader::Outcome::kError) {
        seen.error = reader.error();
        return seen;
      }
      if (outcome == FrameReader::Outcome::kRaw) {
        seen.raw += reader.raw();
        continue;
      }
      const Frame& f = reader.frame();
      seen.frames.push_back(std::string(EnumName(f.type)) + " " + std::to_string(f.id) + " " +
                            std::to_string(f.chunk_index) + " " + std::string(f.text) + " " + std::string(f.body));
    }
  }
  return seen;
}

// The vectors were made from the classes' field lists and agree with recordings of Spark 3.5.5 and 4.3.0.
TEST(Frames, EncodersGiveSparksBytes) {
  std::string out;
  AppendRpcResponse(out, 1, "");
  EXPECT_EQ(out, Unhex("000000000000001504000000000000000100000000"));
  out.clear();
  AppendChunkFetchRequest(out, 5000, 0);
  EXPECT_EQ(out, Unhex("000000000000001500000000000000138800000000"));
  out.clear();
  AppendChunkFetchSuccessHeader(out, 5000, 0, 3);
  EXPECT_EQ(out.size(), kChunkFetchSuccessHeaderBytes);
  out += "abc";
  EXPECT_EQ(out, Unhex("000000000000001801000000000000138800000000616263"));
  out.clear();
  AppendChunkFetchFailure(out, 5000, 0, "e");
  EXPECT_EQ(out, Unhex("000000000000001a020000000000001388000000000000000165"));
  out.clear();
  AppendStreamRequest(out, "5000_0");
  EXPECT_EQ(out, Unhex("00000000000000130600000006353030305f30"));
  out.clear();
  AppendStreamResponse(out, "5000_0", 3);
  EXPECT_EQ(out + "abc", Unhex("000000000000001b0700000006353030305f300000000000000003616263"));
  out.clear();
  AppendUploadStream(out, 3, Unhex("0c000000056170702d31ffffffff0000000200000000000000070000000300000000"), 3);
  EXPECT_EQ(out + "xyz", Unhex("000000000000003f0a0000000000000003000000220c000000056170702d31ffffffff0000000200000000"
                               "000000070000000300000000000000000000000378797a"));
}

TEST(Frames, EveryTypeComesBackWhateverThePieces) {
  std::string out;
  AppendChunkFetchRequest(out, 1, 2);
  AppendChunkFetchSuccessHeader(out, 3, 4, 5);
  out += "hello";
  AppendChunkFetchFailure(out, 5, 6, "why");
  AppendRpcRequest(out, 7, "ask");
  AppendRpcResponse(out, 8, "answer");
  AppendRpcFailure(out, 9, "no");
  AppendStreamRequest(out, "s_1");
  AppendStreamResponse(out, "s_1", 4);
  out += "RAWS";
  AppendStreamFailure(out, "s_2", "gone");
  AppendOneWayMessage(out, "shot");
  AppendUploadStream(out, 10, "meta", 2);
  out += "UP";
  AppendMergedBlockMetaRequest(out, 11, "app", 1, 2, 3);
  AppendMergedBlockMetaSuccess(out, 12, 13, "maps");
  for (size_t piece = 1; piece <= out.size(); piece = piece < 40 ? piece + 1 : piece * 2) {
    const Seen seen = ReadAll(out, piece);
    EXPECT_EQ(seen.error, "");
    EXPECT_EQ(seen.raw, "RAWSUP");
    EXPECT_THAT(seen.frames,
                testing::ElementsAre("ChunkFetchRequest 1 2  ", "ChunkFetchSuccess 3 4  hello",
                                     "ChunkFetchFailure 5 6 why ", "RpcRequest 7 0  ask", "RpcResponse 8 0  answer",
                                     "RpcFailure 9 0 no ", "StreamRequest 0 0 s_1 ", "StreamResponse 0 0 s_1 ",
                                     "StreamFailure 0 0 s_2 ", "OneWayMessage 0 0  shot", "UploadStream 10 0  meta",
                                     "MergedBlockMetaRequest 11 0 app ", "MergedBlockMetaSuccess 12 0  maps"))
        << "pieces of " << piece;
  }
}

TEST(Frames, BadLengthsAndTypesEndTheStream) {
  EXPECT_THAT(ReadAll(Unhex("0000000000000000"), 99).error, testing::HasSubstr("positive"));
  EXPECT_THAT(ReadAll(Unhex("0000000000000008"), 99).error, testing::HasSubstr("positive"));
  EXPECT_THAT(ReadAll(Unhex("ffffffffffffffff"), 99).error, testing::HasSubstr("positive"));
  EXPECT_THAT(ReadAll(Unhex("8000000000000000"), 99).error, testing::HasSubstr("large"));
  EXPECT_THAT(ReadAll(Unhex("0000000080000007"), 99).error, testing::HasSubstr("Too large frame: 2147483647"));
  EXPECT_EQ(ReadAll(Unhex("000000008000000603"), 99).error, "");  // just allowed: waits
  EXPECT_THAT(ReadAll(Unhex("000000000000000d3200000000"), 99).error, testing::HasSubstr("type: 50"));
  EXPECT_THAT(ReadAll(Unhex("000000000000000dff00000000"), 99).error, testing::HasSubstr("type: -1"));
  EXPECT_THAT(ReadAll(Unhex("000000000000000e000000000000"), 99).error, testing::HasSubstr("too short"));
  EXPECT_THAT(ReadAll(Unhex("000000000000000d06ffffffff"), 99).error, testing::HasSubstr("too short"));
}

TEST(Frames, AnnouncedBytesAreNotReservedAndHeldBytesAreBounded) {
  FrameReader reader(1000);
  const std::string head = Unhex("000000008000000603");
  reader.Feed(head);
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kNeedMore);
  EXPECT_EQ(reader.buffered_bytes(), 9u);
  EXPECT_GE(reader.held_bytes(), 9u) << "a short beginning is one, too";
  const std::string more(2000, 'x');
  reader.Feed(more);
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kError);
  EXPECT_THAT(reader.error(), testing::HasSubstr("limit"));
}

TEST(Frames, NothingIsHeldAfterAMessageInPieces) {
  std::string bytes;
  AppendRpcRequest(bytes, 1, std::string(200, 'x'));
  FrameReader reader(1000);
  reader.Feed(std::string_view(bytes).substr(0, 21));  // its head, as a Java virtual machine writes it
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kNeedMore);
  EXPECT_GT(reader.held_bytes(), 0u);
  reader.Feed(std::string_view(bytes).substr(21));
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kFrame);
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kNeedMore);
  EXPECT_EQ(reader.held_bytes(), 0u);
}

TEST(Frames, HeldBytesAreReadOn) {
  std::string bytes;
  for (int i = 0; i < 3; ++i) AppendRpcRequest(bytes, i, "body" + std::to_string(i));
  bytes += "tail of the next";
  FrameReader reader(1000);
  {
    const std::string gone = bytes;
    reader.Feed(gone);
    ASSERT_EQ(reader.Next(), FrameReader::Outcome::kFrame);
    reader.Hold();
  }
  ASSERT_EQ(reader.Next(), FrameReader::Outcome::kFrame);
  EXPECT_EQ(reader.frame().body, "body1");
  reader.Hold();
  ASSERT_EQ(reader.Next(), FrameReader::Outcome::kFrame);
  EXPECT_EQ(reader.frame().body, "body2");
  EXPECT_EQ(reader.Next(), FrameReader::Outcome::kError);
}

}  // namespace
}  // namespace fairlead::wire::spark_transport

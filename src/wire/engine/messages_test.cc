#include "wire/engine/messages.h"

#include <gtest/gtest.h>

namespace fairlead::wire::engine {
namespace {

TEST(EngineMessages, RoundTripInAnyPieces) {
  Launch launch;
  launch.stage = 3;
  launch.tasks = {{7, 1, 0}, {8, 2, 1}};
  TaskDone done;
  done.task = 7;
  done.result = std::string(100'000, 'x');
  std::string bytes;
  AppendFrame(bytes, Message(launch));
  AppendFrame(bytes, Message(done));
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    FrameParser parser(kFrameMax);
    std::vector<Message> got;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      parser.Feed(std::string_view(bytes).substr(at, piece));
      Message message;
      for (;;) {
        const auto next = parser.Next(message);
        ASSERT_TRUE(next.ok());
        if (!*next) break;
        got.push_back(message);
      }
    }
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(std::get<Launch>(got[0]).tasks[1].partition, 2);
    EXPECT_EQ(std::get<TaskDone>(got[1]).result.size(), 100'000u);
  }
}

TEST(EngineMessages, RefusesWhatIsTooLargeBeforeItIsThere) {
  FrameParser parser(kFrameMaxUnknownPeer);
  parser.Feed(std::string("\x7f\xff\xff\xff", 4));
  Message message;
  EXPECT_FALSE(parser.Next(message).ok());
}

TEST(EngineMessages, RefusesTrailingBytesAndUnknownKinds) {
  std::string bytes;
  AppendFrame(bytes, Message(Kill{5}));
  bytes[3] = static_cast<char>(bytes[3] + 1);
  bytes.push_back('z');
  FrameParser trailing(kFrameMax);
  trailing.Feed(bytes);
  Message message;
  EXPECT_FALSE(trailing.Next(message).ok());
  FrameParser unknown(kFrameMax);
  unknown.Feed(std::string("\0\0\0\1\x7e", 5));
  EXPECT_FALSE(unknown.Next(message).ok());
}

}  // namespace
}  // namespace fairlead::wire::engine

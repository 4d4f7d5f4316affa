#include "shell/rm/journal.h"

#include <gtest/gtest.h>

#include "env_sim/sim_disk.h"
#include "env_sim/world.h"

namespace fairlead::shell {
namespace {

class JournalTest : public testing::Test {
 protected:
  JournalTest() { EXPECT_TRUE(machine_.disk().MakeDirectories("/state").ok()); }
  static JournalHeader Header(const std::string& state = "") {
    JournalHeader header;
    header.core = "rm";
    header.build = "test";
    header.configuration = "conf";
    header.state = state;
    return header;
  }
  std::string Write(int batches, uint64_t bytes_max = 1 << 20) {
    auto writer = JournalWriter::Open(machine_.loop(), machine_.disk(), "/state/j", Header(), bytes_max,
                                      [this](const std::string& why) { stopped_ = why; });
    EXPECT_TRUE(writer.ok()) << writer.error().message;
    for (int i = 0; i < batches; ++i) {
      (*writer)->Append({base::Instant{i}, base::WallTime{i}, "events" + std::to_string(i), static_cast<uint64_t>(i)});
    }
    (*writer)->Flush();
    return *machine_.disk().ReadFile("/state/j");
  }
  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("a");
  std::string stopped_;
};

TEST_F(JournalTest, WhatWasWrittenIsRead) {
  const auto journal = ParseJournal(Write(3));
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->header.configuration, "conf");
  ASSERT_EQ(journal->batches.size(), 3u);
  EXPECT_EQ(journal->batches[2].events, "events2");
  EXPECT_FALSE(journal->torn_tail);
}

TEST_F(JournalTest, ATornTailIsCut) {
  const std::string bytes = Write(3);
  for (size_t cut = 1; cut < 10; ++cut) {
    const auto journal = ParseJournal(std::string_view(bytes).substr(0, bytes.size() - cut));
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ(journal->batches.size(), 2u);
    EXPECT_TRUE(journal->torn_tail);
  }
}

TEST_F(JournalTest, DamageElsewhereStopsWithItsPlace) {
  std::string bytes = Write(3);
  bytes[bytes.find("events1") + 2] ^= 1;
  const auto journal = ParseJournal(bytes);
  ASSERT_FALSE(journal.ok());
  EXPECT_NE(journal.error().message.find("record 2 at byte"), std::string::npos) << journal.error().message;
}

TEST_F(JournalTest, TheLimitEndsTheJournalAndIsTold) {
  const auto journal = ParseJournal(Write(100, 500));
  ASSERT_TRUE(journal.ok());
  EXPECT_LT(journal->batches.size(), 100u);
  EXPECT_NE(stopped_.find("limit of 500 bytes"), std::string::npos);
}

TEST_F(JournalTest, AnEarlierLifeIsKept) {
  Write(1);
  Write(2);
  EXPECT_EQ(ParseJournal(*machine_.disk().ReadFile("/state/j.1"))->batches.size(), 1u);
}

TEST_F(JournalTest, SegmentsFollowEachOtherAndTheOldestGo) {
  constexpr uint64_t kBytesMax = 16'000;
  auto writer = JournalWriter::Open(machine_.loop(), machine_.disk(), "/state/j", Header(), kBytesMax,
                                    [this](const std::string& why) { stopped_ = why; });
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  int segments = 1;
  for (int i = 0; i < 3000; ++i) {
    (*writer)->Append({base::Instant{i}, base::WallTime{i}, "events", static_cast<uint64_t>(i)});
    if (!(*writer)->full()) continue;
    (*writer)->BeginSegment(Header("state after " + std::to_string(i)));
    ++segments;
  }
  (*writer)->Flush();
  EXPECT_EQ(stopped_, "");
  EXPECT_GT(segments, 20);
  uint64_t bytes = 0;
  int64_t next = -1;  // the batches of all files that are left follow each other
  for (int number = 1; number <= segments; ++number) {
    const std::string path = number == segments ? "/state/j" : "/state/j." + std::to_string(number);
    const auto text = machine_.disk().ReadFile(path);
    if (!text.ok()) {
      EXPECT_EQ(next, -1) << "a file between others is gone: " << path;
      continue;
    }
    bytes += text->size();
    const auto journal = ParseJournal(*text);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    for (const JournalBatch& batch : journal->batches) {
      if (next < 0) next = batch.now.ns;
      EXPECT_EQ(batch.now.ns, next++);
    }
    if (number > 1 && !journal->batches.empty()) {
      EXPECT_EQ(journal->header.state, "state after " + std::to_string(journal->batches[0].now.ns - 1));
    }
  }
  EXPECT_EQ(next, 3000);
  EXPECT_LE(bytes, kBytesMax);
  EXPECT_GT(bytes, kBytesMax / 2);
}

TEST(Crc32c, KnownVector) { EXPECT_EQ(Crc32c("123456789"), 0xE3069283u); }

}  // namespace
}  // namespace fairlead::shell

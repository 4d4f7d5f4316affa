#include "shell/rm/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "env_sim/sim_disk.h"
#include "env_sim/world.h"
#include "shell/rm/segments.h"

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
  /// The next file, as the daemon begins it; Settle() has it written.
  static void Begin(JournalWriter& writer, const std::string& state) {
    writer.BeginSegment([state] { return Header(state); });
  }
  void Settle() {
    while (world_.Step()) {
    }
  }
  std::unique_ptr<JournalWriter> Open(uint64_t bytes_max = 1 << 20) {
    auto writer = JournalWriter::Open(machine_.loop(), machine_.disk(), "/state/j", Header(), bytes_max,
                                      [this](const std::string& why) { stopped_ = why; });
    EXPECT_TRUE(writer.ok()) << writer.error().message;
    return *std::move(writer);
  }
  static void Put(JournalWriter& writer, int64_t i) {
    writer.Append({base::Instant{i}, base::WallTime{i}, "events", static_cast<uint64_t>(i)});
  }
  /// The times of all batches in all files, as who goes through them sees them.
  std::vector<int64_t> Found() {
    std::vector<int64_t> times;
    const auto found = FindSegments(machine_.disk(), "/state/j");
    EXPECT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->left_out.empty());
    for (size_t i = 0; i < found->files.size(); ++i) {
      auto open = OpenSegment::Read(machine_.disk(), found->files[i].path);
      EXPECT_TRUE(open.ok()) << open.error().message;
      if (i + 1 < found->files.size()) open->reader.EndBefore(found->files[i + 1].record_head);
      JournalBatch batch;
      while (*open->reader.Next(batch)) times.push_back(batch.now.ns);
    }
    return times;
  }
  env_sim::SimDisk& Faults() { return static_cast<env_sim::SimDisk&>(machine_.disk()); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto list = machine_.disk().List("/state");
    for (const env::FileInfo& file : *list) names.push_back(file.name);
    return names;
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
    Begin(**writer, "state after " + std::to_string(i));
    Settle();
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

// Whatever is on the disk between two callbacks is what a process leaves that is killed there.
TEST_F(JournalTest, WheneverItIsKilledNothingThatWasFlushedIsLost) {
  const auto writer = Open();
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 200; ++i) {
    if (i % 20 == 19) Begin(*writer, "state after " + std::to_string(i - 1));
    Put(*writer, i);
    writer->Flush();
    all.push_back(i);
    ASSERT_EQ(Found(), all) << i;
    if (i % 3 != 0) continue;
    world_.Step();
    ASSERT_EQ(Found(), all) << i << " after a callback";
  }
  Settle();
  EXPECT_EQ(Found(), all);
  EXPECT_EQ(stopped_, "");
  EXPECT_GT(FindSegments(machine_.disk(), "/state/j")->files.size(), 3u);
}

TEST_F(JournalTest, ABatchStandsBehindTheStateBeforeIt) {
  const auto writer = Open();
  Put(*writer, 0);
  Begin(*writer, "state after 0");
  Put(*writer, 1);
  EXPECT_FALSE(writer->full()) << "the next one begins already";
  Put(*writer, 2);
  Settle();
  Put(*writer, 3);
  writer->Flush();
  const auto text = machine_.disk().ReadFile("/state/j");
  const auto journal = ParseJournal(*text);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_EQ(journal->header.state, "state after 0");
  ASSERT_EQ(journal->batches.size(), 3u);
  EXPECT_EQ(journal->batches[0].now.ns, 1);
  EXPECT_EQ(journal->batches[2].now.ns, 3);
  EXPECT_EQ(ParseJournal(*machine_.disk().ReadFile("/state/j.1"))->batches.size(), 3u) << "0, 1 and 2";
  EXPECT_EQ(writer->size().files, 2);
  EXPECT_EQ(writer->size().bytes, static_cast<int64_t>(text->size() + machine_.disk().Stat("/state/j.1")->size));
}

TEST_F(JournalTest, ANextFileThatCannotBeWrittenStopsItWithAllBatchesKept) {
  const auto writer = Open();
  Put(*writer, 0);
  writer->Flush();
  Begin(*writer, std::string(1000, 's'));
  Faults().FailWritesBelow("/state/j.next", ENOSPC);
  Settle();
  EXPECT_THAT(stopped_, testing::HasSubstr("its next file cannot be begun: /state/j.next: No space left on device"));
  EXPECT_FALSE(writer->size().writes);
  EXPECT_EQ(Found(), (std::vector<int64_t>{0}));
  EXPECT_EQ(Names(), (std::vector<std::string>{"j"}));
}

TEST_F(JournalTest, ADiskThatFillsUpUnderItsStateStopsIt) {
  const auto writer = Open();
  Put(*writer, 0);
  writer->Flush();
  Faults().SetFreeBytes(100);
  Begin(*writer, std::string(1000, 's'));
  Settle();
  EXPECT_THAT(stopped_, testing::HasSubstr("its next file cannot be begun: no space left on device"));
  EXPECT_EQ(Found(), (std::vector<int64_t>{0}));
  EXPECT_EQ(Names(), (std::vector<std::string>{"j"}));
}

TEST_F(JournalTest, ItStopsWhereMoreThanHalfOfItWaitsForTheNextFile) {
  const auto writer = Open(16'000);
  Begin(*writer, "state");
  int64_t batches = 0;
  for (; stopped_.empty() && batches < 1000; ++batches) Put(*writer, batches);
  EXPECT_THAT(stopped_, testing::HasSubstr("its next file cannot be begun: its state is not written, and 80"));
  EXPECT_GT(batches, 8000 / 50);
  EXPECT_LT(batches, 8000 / 20);
  Settle();
  EXPECT_EQ(Found().size(), static_cast<size_t>(batches));
  EXPECT_EQ(Names(), (std::vector<std::string>{"j"}));
}

TEST_F(JournalTest, AStateThatIsMoreThanTheLimitStopsIt) {
  const auto writer = Open(16'000);
  Begin(*writer, std::string(20'000, 's'));
  Settle();
  EXPECT_THAT(stopped_, testing::HasSubstr("its state alone takes more than its limit"));
}

TEST_F(JournalTest, AnUnfinishedFileGoesWithIt) {
  auto writer = Open();
  Put(*writer, 0);
  Begin(*writer, "state");
  while (Names().size() == 1) ASSERT_TRUE(world_.Step());
  EXPECT_EQ(Names(), (std::vector<std::string>{"j", "j.next"}));
  writer.reset();
  Settle();
  EXPECT_EQ(Names(), (std::vector<std::string>{"j"}));
  EXPECT_EQ(Found(), (std::vector<int64_t>{0}));
  ASSERT_TRUE(machine_.disk().WriteFileAtomically("/state/j.next", "of one that was killed").ok());
  writer = Open();
  EXPECT_EQ(Names(), (std::vector<std::string>{"j", "j.1"}));
}

}  // namespace
}  // namespace fairlead::shell

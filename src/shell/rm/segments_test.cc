#include "shell/rm/segments.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/bytes.h"
#include "env_sim/world.h"

namespace fairlead::shell {
namespace {

/// Three files of a journal: batches at 100..104, 105..109, 110..114; the two later ones begin with a state.
class SegmentsTest : public testing::Test {
 protected:
  SegmentsTest() {
    EXPECT_TRUE(disk().MakeDirectories("/state").ok());
    JournalHeader header;
    header.core = "rm";
    auto writer = JournalWriter::Open(machine_.loop(), disk(), "/state/rm.journal", header, 1 << 20,
                                      [](const std::string& why) { ADD_FAILURE() << why; });
    EXPECT_TRUE(writer.ok());
    header.state = std::string(5000, 's');
    for (int64_t i = 0; i < 15; ++i) {
      if (i == 5 || i == 10) (*writer)->BeginSegment([header] { return header; });
      while (world_.Step()) {
      }
      (*writer)->Append({base::Instant{i}, base::WallTime{100 + i}, "events", 0});
    }
  }
  env::Disk& disk() { return machine_.disk(); }
  void Change(const std::string& path, const std::function<void(std::string&)>& change) {
    std::string bytes = *disk().ReadFile(path);
    change(bytes);
    ASSERT_TRUE(disk().WriteFileAtomically(path, bytes).ok());
  }
  Segments Find(const std::string& path) {
    auto found = FindSegments(disk(), path);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : Segments{{{"", {}}}, {}, {}};
  }
  std::string Refused(const std::string& path) {
    const auto found = FindSegments(disk(), path);
    EXPECT_FALSE(found.ok());
    return found.ok() ? "" : found.error().message;
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("a");
};

TEST_F(SegmentsTest, TheFileThatIsWrittenNowMeansThoseBesideItToo) {
  for (const char* path : {"/state/rm.journal", "/state"}) {
    const Segments found = Find(path);
    ASSERT_EQ(found.files.size(), 3u);
    EXPECT_EQ(found.files[0].path, "/state/rm.journal.1");
    EXPECT_EQ(found.files[2].path, "/state/rm.journal");
    EXPECT_EQ(found.begins().ms, 100);
    EXPECT_EQ(found.files[1].begins.ms, 105);
    EXPECT_EQ(found.ends.ms, 114);
    EXPECT_TRUE(found.left_out.empty());
  }
}

TEST_F(SegmentsTest, AnOlderFileCountsAlone) {
  const Segments found = Find("/state/rm.journal.2");
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_EQ(found.begins().ms, 105);
  EXPECT_EQ(found.ends.ms, 109);
}

TEST_F(SegmentsTest, AMomentHasItsFileAndOneOutsideNone) {
  const Segments found = Find("/state");
  EXPECT_EQ(found.At({100}).path, "/state/rm.journal.1");
  EXPECT_EQ(found.At({104}).path, "/state/rm.journal.1");
  EXPECT_EQ(found.At({105}).path, "/state/rm.journal.2");
  EXPECT_EQ(found.At({114}).path, "/state/rm.journal");
  EXPECT_TRUE(found.Keeps({100}));
  EXPECT_FALSE(found.Keeps({99}));
  EXPECT_TRUE(found.Keeps({114 + 60'000})) << "nothing may have happened since";
  EXPECT_FALSE(found.Keeps({115 + 60'000}));
}

TEST_F(SegmentsTest, ATornEndIsPassedOver) {
  Change("/state/rm.journal", [](std::string& bytes) { bytes.resize(bytes.size() - 3); });
  EXPECT_EQ(Find("/state").ends.ms, 113);
}

TEST_F(SegmentsTest, WhatCannotBeReadIsLeftOutAndNamed) {
  Change("/state/rm.journal.1", [](std::string& bytes) { bytes = "FLJRNL01" + bytes.substr(8); });
  Change("/state/rm.journal.2", [](std::string& bytes) { bytes.resize(300); });
  const Segments found = Find("/state");
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_EQ(found.begins().ms, 110);
  ASSERT_EQ(found.left_out.size(), 2u);
  EXPECT_EQ(found.left_out[0], "/state/rm.journal.1: a journal of release 0.1.0, which alone can replay it");
  EXPECT_EQ(found.left_out[1], "/state/rm.journal.2: the journal ends inside its header");
}

TEST_F(SegmentsTest, ADamagedFirstBatchIsNotPassedOverInSilence) {
  Change("/state/rm.journal.2",
         [](std::string& bytes) { bytes[8 + 8 + base::BigEndian<uint32_t>(bytes.substr(8)) + 12] ^= 1; });
  const Segments found = Find("/state");
  ASSERT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.left_out, std::vector<std::string>{"/state/rm.journal.2: its first batch is damaged"});
  EXPECT_EQ(found.files[0].before, "");
  EXPECT_EQ(found.files[1].before, found.left_out[0]) << "what it goes on from is not there";
}

TEST_F(SegmentsTest, AFileThatIsGoneFromTheMiddleIsNamed) {
  ASSERT_TRUE(disk().Rename("/state/rm.journal.2", "/state/rm.journal.3").ok());
  const Segments found = Find("/state");
  ASSERT_EQ(found.files.size(), 3u);
  ASSERT_EQ(found.left_out.size(), 1u);
  EXPECT_EQ(found.left_out[0], "/state/rm.journal.2: it is not there");
  EXPECT_EQ(found.files[1].before, found.left_out[0]);
}

TEST_F(SegmentsTest, WhereTheLastFileIsDamagedTheOthersAreThere) {
  Change("/state/rm.journal", [](std::string& bytes) { bytes[100] ^= 1; });
  const Segments found = Find("/state");
  ASSERT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.ends.ms, 109);
  ASSERT_EQ(found.left_out.size(), 1u);
  EXPECT_EQ(found.left_out[0],
            "/state/rm.journal: record 0 at byte 8 cannot be read: its checksum does not match: it is damaged");
  EXPECT_EQ(found.behind, found.left_out[0]);
}

TEST_F(SegmentsTest, WhatIsNoJournalIsRefused) {
  EXPECT_EQ(Refused("/nowhere"), "there is no /nowhere");
  EXPECT_EQ(Refused("/state/rm.journal.9"), "there is no /state/rm.journal.9");
  ASSERT_TRUE(disk().MakeDirectories("/empty").ok());
  EXPECT_EQ(Refused("/empty"), "/empty has no rm.journal");
  for (const char* text : {"", "FLJRNL0", "something else that is long enough"}) {
    ASSERT_TRUE(disk().WriteFileAtomically("/empty/other", text).ok());
    EXPECT_NE(Refused("/empty/other").find("not a Fairlead journal"), std::string::npos);
  }
}

TEST_F(SegmentsTest, AFileWithoutABatchHasNothingToSay) {
  Change("/state/rm.journal",
         [](std::string& bytes) { bytes.resize(16 + base::BigEndian<uint32_t>(bytes.substr(8))); });
  EXPECT_EQ(Find("/state").files.size(), 2u);
  EXPECT_EQ(Find("/state").ends.ms, 109);
  ASSERT_TRUE(disk().RemoveTree("/state/rm.journal.1").ok());
  ASSERT_TRUE(disk().RemoveTree("/state/rm.journal.2").ok());
  EXPECT_EQ(Refused("/state"), "/state has nothing in it yet");
}

}  // namespace
}  // namespace fairlead::shell

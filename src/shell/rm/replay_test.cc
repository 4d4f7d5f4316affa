#include "shell/rm/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/stored.h"
#include "env_sim/world.h"
#include "process/rm/test_outside.h"
#include "shell/rm/story.h"

namespace fairlead::shell {
namespace {

using process::rm::ResourceMachine;
using process::rm::TestOutside;
using testing::HasSubstr;

constexpr int64_t kEpochMs = TestOutside::kEpochMs;

/// A small cluster of profile `fairlead` whose journal is written to a disk in memory.
class PastTest : public testing::Test {
 protected:
  std::unique_ptr<JournalWriter> OpenJournal() {
    EXPECT_TRUE(disk().MakeDirectories("/j").ok());
    return *JournalWriter::Open(machine_.loop(), disk(), "/j/rm.journal", header_, 1 << 24,
                                [](const std::string& why) { ADD_FAILURE() << why; });
  }
  static config::Settings Settings() {
    config::Settings settings;
    EXPECT_TRUE(config::AddFairleadYaml("f.yaml", "queues: {a: {}, b: {}}", settings));
    return settings;
  }
  env::Disk& disk() { return machine_.disk(); }
  void Write(base::Instant now, base::WallTime wall, const std::vector<model::rm::OuterEvent>& events,
             const std::vector<model::rm::OuterEffect>& effects) {
    journal_->Append({now, wall, base::EncodeStored(events), EffectHash(effects)});
  }
  void BeginSegment() {
    journal_->BeginSegment(NextHeader(header_, rm_));
    while (sim_.Step()) {
    }
  }
  Segments Kept() {
    journal_->Flush();
    auto found = FindSegments(disk(), "/j");
    EXPECT_TRUE(found.ok()) << found.error().message;
    return *found;
  }
  /// As it was so many milliseconds after the beginning.
  std::unique_ptr<RmReplay> At(int64_t ms) {
    const Segments kept = Kept();
    const base::WallTime at{kEpochMs + ms};
    Walk walk;
    walk.until = at;
    auto replay = WalkRm(disk(), {&kept.At(at), 1}, walk);
    EXPECT_TRUE(replay.ok()) << replay.error().message;
    return *std::move(replay);
  }
  Story StoryOf(const model::ApplicationId& app) {
    Story story(app);
    Walk walk;
    walk.decided = [&](const RmReplay& replay, base::WallTime wall, const auto& effects) {
      story.Decided(replay, wall, effects);
    };
    walk.begun = [&](const RmReplay& replay, base::WallTime) { story.Begin(replay); };
    walk.see = [&](const RmReplay& replay) { return story.See(replay); };
    const auto walked = WalkRm(disk(), Kept().files, walk);
    EXPECT_TRUE(walked.ok()) << walked.error().message;
    return story;
  }
  /// One of 8 GiB in two nodes runs; it asks for ten containers, and seven fit.
  model::ApplicationId RunOne(int64_t at_ms) {
    const auto app = world_.Submit(at_ms, "ann", "root.a");
    world_.Start(at_ms + 1000, world_.Master(app));
    world_.Register(at_ms + 2000, app);
    world_.Ask(at_ms + 3000, app, 1024, 10);
    return app;
  }
  /// All that it has been granted ends, and then it.
  void EndOne(int64_t at_ms, const model::ApplicationId& app) {
    for (size_t ended = 0; ended < world_.Granted(app).size(); ++ended) {
      world_.Start(at_ms, world_.Granted(app)[ended]);
      world_.End(at_ms + 1000, world_.Granted(app)[ended], 0);
      world_.Ask(at_ms + 2000, app, 1024, 0);
      at_ms += 2000;
    }
    world_.Finish(at_ms, app);
  }

  env_sim::World sim_{1};
  env_sim::Machine& machine_ = sim_.AddMachine("a");
  config::Settings settings_ = Settings();
  base::Result<RmSettings> read_ = ReadRmSettings(settings_, "");
  JournalHeader header_ = RmJournalHeader(settings_.conf, *read_);
  std::unique_ptr<JournalWriter> journal_ = OpenJournal();
  ResourceMachine rm_{read_->manager.core, *read_->manager.make_scheduler(0)};
  TestOutside world_{
      rm_, [this](auto now, auto wall, const auto& events, const auto& effects) { Write(now, wall, events, effects); }};
};

TEST_F(PastTest, AnyMomentIsAsItWas) {
  world_.AddNode(10, "n1", 4096, 4);
  world_.AddNode(20, "n2", 4096, 4);
  const auto app = RunOne(1000);
  const uint64_t then = rm_.StateHash();
  BeginSegment();
  EndOne(8000, app);
  const auto before = At(30);
  EXPECT_EQ(before->machine()->core().FindApp(app), nullptr);
  const auto first = At(5000);
  EXPECT_EQ(first->machine()->StateHash(), then);
  EXPECT_EQ(first->wall().ms, kEpochMs + 4000);
  const auto* waiting = first->machine()->core().FindApp(app);
  ASSERT_NE(waiting, nullptr);
  EXPECT_EQ(first->machine()->scheduler().PendingContainers(waiting->index), 3);
  const auto last = At(200'000);
  EXPECT_EQ(last->machine()->StateHash(), rm_.StateHash());
}

TEST_F(PastTest, BatchesThatStandInTwoFilesAreSeenOnce) {
  world_.AddNode(10, "n1", 4096, 4);
  const auto app = RunOne(1000);
  const uint64_t then = rm_.StateHash();
  journal_->BeginSegment(NextHeader(header_, rm_));
  EndOne(8000, app);  // while the state is being written
  while (sim_.Step()) {
  }
  world_.AddNode(60'000, "n2", 4096, 4);
  const Segments kept = Kept();
  ASSERT_EQ(kept.files.size(), 2u);
  const Journal older = *ParseJournal(*disk().ReadFile(kept.files[0].path));
  const Journal newer = *ParseJournal(*disk().ReadFile(kept.files[1].path));
  EXPECT_EQ(newer.header.state_hash, then) << "as it was when the copy was made";
  ASSERT_GT(newer.batches.size(), 2u);
  EXPECT_EQ(older.batches.back().now, newer.batches[newer.batches.size() - 2].now) << "both have them";
  std::vector<base::Instant> seen;
  Walk walk;
  walk.see = [&](const RmReplay& replay) {
    seen.push_back(replay.now());
    return true;
  };
  walk.hole = [](const Hole& hole) { ADD_FAILURE() << hole.why; };
  const auto walked = WalkRm(disk(), kept.files, walk);
  ASSERT_TRUE(walked.ok()) << walked.error().message;
  EXPECT_EQ((*walked)->machine()->StateHash(), rm_.StateHash());
  EXPECT_EQ(seen.size(), older.batches.size() + 1) << "and each is seen once";
  EXPECT_EQ(At(200'000)->machine()->StateHash(), rm_.StateHash());
  EXPECT_EQ(At(5000)->machine()->StateHash(), then);
}

TEST_F(PastTest, AnotherBuildsStateAndOtherDecisionsAreNamed) {
  world_.AddNode(10, "n1", 4096, 4);
  BeginSegment();
  (void)RunOne(1000);
  (void)Kept();
  const auto change = [&](const std::function<void(JournalHeader&)>& change_header, uint64_t effects) {
    Journal whole = *ParseJournal(*disk().ReadFile("/j/rm.journal"));
    change_header(whole.header);
    EXPECT_TRUE(disk().RemoveTree("/j/other").ok());
    auto other = JournalWriter::Open(machine_.loop(), disk(), "/j/other", whole.header, 1 << 24, [](const auto&) {});
    for (JournalBatch& batch : whole.batches) {
      batch.effect_hash += effects;
      (*other)->Append(batch);
    }
    (*other)->Flush();
    const auto walked = WalkRm(disk(), FindSegments(disk(), "/j/other")->files, {});
    return walked.ok() ? std::string() : walked.error().message;
  };
  EXPECT_EQ(change([](JournalHeader&) {}, 0), "");
  EXPECT_THAT(change([](JournalHeader& header) { ++header.state_hash; }, 0), HasSubstr("not one of this build"));
  EXPECT_THAT(change([](JournalHeader& header) { header.state.resize(header.state.size() / 2); }, 0),
              HasSubstr("not one of this build"));
  EXPECT_THAT(change([](JournalHeader& header) { ++header.format; }, 0), HasSubstr("the release that wrote it"));
  EXPECT_THAT(change([](JournalHeader& header) { header.core = "nm"; }, 0), HasSubstr("a journal of 'nm'"));
  EXPECT_THAT(change([](JournalHeader& header) { header.state.clear(); }, 0), HasSubstr("does not begin with a start"));
  EXPECT_THAT(change([](JournalHeader& header) { header.configuration = "x"; }, 0), HasSubstr("the configuration"));
  EXPECT_THAT(change([](JournalHeader&) {}, 1), HasSubstr("/j/other: from batch 0 on this build decides otherwise"));
}

/// Three files: one job's life in each of the first two, and the end of the second one's in the last.
class DamagedPastTest : public PastTest {
 protected:
  DamagedPastTest() {
    world_.AddNode(10, "n1", 4096, 4);
    world_.AddNode(20, "n2", 4096, 4);
    first_ = RunOne(1000);
    BeginSegment();
    EndOne(8000, first_);
    second_ = RunOne(100'000);
    BeginSegment();
    world_.Do(200'000, model::rm::Tick{});
    EndOne(210'000, second_);
    (void)Kept();
  }
  /// The bytes of a file, and where each record of it begins.
  void Change(const std::string& path, const std::function<void(std::string&, const std::vector<size_t>&)>& change) {
    std::string bytes = *disk().ReadFile(path);
    std::vector<size_t> records;
    for (size_t at = 8; at < bytes.size(); at += 8 + base::BigEndian<uint32_t>(std::string_view(bytes).substr(at))) {
      records.push_back(at);
    }
    change(bytes, records);
    ASSERT_TRUE(disk().WriteFileAtomically(path, bytes).ok());
  }
  /// Walks through all, and has the holes.
  std::unique_ptr<RmReplay> WalkAll(Walk walk = {}) {
    holes_.clear();
    walk.hole = [this](const Hole& hole) { holes_.push_back(hole); };
    auto walked = WalkRm(disk(), Kept().files, walk);
    EXPECT_TRUE(walked.ok()) << walked.error().message;
    return walked.ok() ? *std::move(walked) : nullptr;
  }

  model::ApplicationId first_, second_;
  std::vector<Hole> holes_;
};

TEST_F(DamagedPastTest, WhatIsWholeHasNoHole) {
  EXPECT_EQ(WalkAll()->machine()->StateHash(), rm_.StateHash());
  EXPECT_TRUE(holes_.empty());
}

TEST_F(DamagedPastTest, BehindADamagedBatchIsAHoleUpToTheNextFile) {
  Change("/j/rm.journal.2", [](std::string& bytes, const auto& records) { bytes[records[3] + 12] ^= 1; });
  EXPECT_EQ(WalkAll()->machine()->StateHash(), rm_.StateHash());
  ASSERT_EQ(holes_.size(), 1u);
  EXPECT_THAT(holes_[0].why, HasSubstr("/j/rm.journal.2: record 3 at byte "));
  EXPECT_EQ(holes_[0].to.ms, kEpochMs + 200'000);
  EXPECT_GT(holes_[0].from.ms, kEpochMs + 4000);
  EXPECT_LT(holes_[0].from.ms, kEpochMs + 100'000);
  // None where nobody asks for holes: an error.
  EXPECT_FALSE(WalkRm(disk(), Kept().files, {}).ok());
}

TEST_F(DamagedPastTest, AFileThatIsCutOrHasAWrongLengthIsFoundByTheNextOnesState) {
  std::string whole = *disk().ReadFile("/j/rm.journal.2");
  Change("/j/rm.journal.2", [](std::string& bytes, const auto& records) { bytes.resize(records[5]); });
  (void)WalkAll();
  ASSERT_EQ(holes_.size(), 1u);
  EXPECT_THAT(holes_[0].why, HasSubstr("/j/rm.journal.2: what follows its last batch is missing"));
  ASSERT_TRUE(disk().WriteFileAtomically("/j/rm.journal.2", whole).ok());
  Change("/j/rm.journal.2", [](std::string& bytes, const auto& records) { bytes[records[5] + 1] ^= 1; });
  (void)WalkAll();
  ASSERT_EQ(holes_.size(), 1u);
  EXPECT_THAT(holes_[0].why, HasSubstr("last batch is missing, from byte "));
  // A moment in the hole has one, too; one before and one behind have none.
  for (const auto& [ms, holes] : {std::pair(4500, 0), {150'000, 1}, {200'000, 0}}) {
    const base::WallTime at{kEpochMs + ms};
    const Segments kept = Kept();
    Walk walk;
    walk.until = at;
    int64_t seen = 0;
    walk.hole = [&](const Hole&) { ++seen; };
    ASSERT_TRUE(WalkRm(disk(), kept.From(at), walk).ok());
    EXPECT_EQ(seen, holes) << ms;
  }
}

TEST_F(DamagedPastTest, AFileOfAnotherBuildIsAHoleFromItsBeginningOn) {
  Journal whole = *ParseJournal(*disk().ReadFile("/j/rm.journal.2"));
  for (JournalBatch& batch : whole.batches) ++batch.effect_hash;
  ASSERT_TRUE(disk().RemoveTree("/j/rm.journal.2").ok());
  auto other =
      JournalWriter::Open(machine_.loop(), disk(), "/j/rm.journal.2", whole.header, 1 << 24, [](const auto&) {});
  for (const JournalBatch& batch : whole.batches) (*other)->Append(batch);
  (*other)->Flush();
  (void)WalkAll();
  ASSERT_EQ(holes_.size(), 1u);
  EXPECT_THAT(holes_[0].why, HasSubstr("/j/rm.journal.2: from batch 0 on this build decides otherwise"));
  EXPECT_EQ(holes_[0].from, Kept().files[1].begins);
}

TEST_F(DamagedPastTest, AFileThatIsGoneIsAHole) {
  ASSERT_TRUE(disk().RemoveTree("/j/rm.journal.2").ok());
  (void)WalkAll();
  ASSERT_EQ(holes_.size(), 1u);
  EXPECT_EQ(holes_[0].why, "/j/rm.journal.1: what follows its last batch is missing");
  EXPECT_EQ(holes_[0].from.ms, kEpochMs + 4000);
  EXPECT_EQ(holes_[0].to.ms, kEpochMs + 200'000);
}

TEST_F(DamagedPastTest, WhereNothingCanBeReadItIsAnErrorAndEachFileIsNamed) {
  for (const char* file : {"/j/rm.journal.1", "/j/rm.journal.2"}) ASSERT_TRUE(disk().RemoveTree(file).ok());
  Journal whole = *ParseJournal(*disk().ReadFile("/j/rm.journal"));
  ++whole.header.state_hash;
  ASSERT_TRUE(disk().RemoveTree("/j/rm.journal").ok());
  auto other = JournalWriter::Open(machine_.loop(), disk(), "/j/rm.journal", whole.header, 1 << 24, [](const auto&) {});
  for (const JournalBatch& batch : whole.batches) (*other)->Append(batch);
  (*other)->Flush();
  Walk walk;
  walk.hole = [](const Hole&) {};
  const auto walked = WalkRm(disk(), FindSegments(disk(), "/j")->files, walk);
  ASSERT_FALSE(walked.ok());
  EXPECT_THAT(walked.error().message,
              HasSubstr("/j/rm.journal: the state that it begins with is not one of this build"));
}

TEST_F(DamagedPastTest, AStoryGoesOnBehindAHoleAndTellsOfIt) {
  Change("/j/rm.journal.2", [](std::string& bytes, const auto& records) { bytes[records[3] + 12] ^= 1; });
  Story first(first_), second(second_);
  Walk walk;
  walk.decided = [&](const RmReplay& replay, base::WallTime wall, const auto& effects) {
    for (Story* story : {&first, &second}) story->Decided(replay, wall, effects);
  };
  walk.begun = [&](const RmReplay& replay, base::WallTime) {
    for (Story* story : {&first, &second}) story->Begin(replay);
  };
  walk.see = [&](const RmReplay& replay) {
    for (Story* story : {&first, &second}) (void)story->See(replay);
    return true;
  };
  walk.hole = [&](const Hole& hole) {
    for (Story* story : {&first, &second}) story->Miss(hole);
  };
  ASSERT_TRUE(WalkRm(disk(), Kept().files, walk).ok());
  const auto tells = [](const Story& story) {
    return std::ranges::count(story.Chapters(), Chapter::Kind::kMissing, &Chapter::kind);
  };
  EXPECT_TRUE(first.found());
  EXPECT_EQ(tells(first), 1);
  ASSERT_TRUE(first.ended());
  EXPECT_LT(first.Chapters().back().from.ms, kEpochMs + 100'000) << "it ended in the hole, not behind it";
  EXPECT_TRUE(second.ended());
  EXPECT_TRUE(second.Chapters().front().before) << "it came in the hole";
  EXPECT_EQ(tells(second), 0) << "before it is known nothing of it is missing";
}

TEST_F(PastTest, AStoryHasALifeInOrder) {
  world_.AddNode(10, "n1", 4096, 4);
  world_.AddNode(20, "n2", 4096, 4);
  const auto app = RunOne(1000);
  world_.Do(5500, model::rm::Tick{});
  BeginSegment();
  world_.Do(7000, model::rm::Tick{});
  EndOne(8000, app);
  const Story story = StoryOf(app);
  EXPECT_TRUE(story.found());
  EXPECT_TRUE(story.ended());
  using Kind = Chapter::Kind;
  std::vector<Kind> kinds;
  for (const Chapter& chapter : story.Chapters()) kinds.push_back(chapter.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(Kind::kSubmitted, Kind::kMaster, Kind::kRunning, Kind::kContainers,
                                          Kind::kWaiting, Kind::kMasterEnded, Kind::kEnded));
  const std::vector<Chapter> chapters = story.Chapters();
  EXPECT_EQ(chapters[0].text, "root.a");
  EXPECT_EQ(chapters[3].count, 8);
  EXPECT_THAT(chapters[3].ends, testing::ElementsAre(testing::Pair(0, 8)));
  EXPECT_EQ(chapters[3].nodes.size(), 2u);
  EXPECT_EQ(chapters[4].text, "CLUSTER_FULL");
  EXPECT_EQ(chapters[4].count, 3);
  EXPECT_EQ(chapters[4].from.ms, kEpochMs + 4000);
  EXPECT_EQ(chapters.back().final_status, "SUCCEEDED");
  EXPECT_EQ(story.sums().user, "ann");
  EXPECT_FALSE(StoryOf({kEpochMs, 99}).found());
}

TEST_F(PastTest, AWaitThatLastsIsCounted) {
  world_.AddNode(10, "n1", 4096, 4);
  const auto app = RunOne(1000);
  world_.Do(9000, model::rm::Tick{});
  const Story story = StoryOf(app);
  EXPECT_FALSE(story.ended());
  EXPECT_EQ(story.sums().waited_ms, kEpochMs + 9000 - story.Chapters().back().from.ms);
  EXPECT_GE(story.sums().waited_ms, 4000);
}

TEST_F(PastTest, AStoryThatBeganBeforeWhatIsKeptSaysSo) {
  world_.AddNode(10, "n1", 4096, 4);
  const auto app = RunOne(1000);
  BeginSegment();
  world_.Do(5000, model::rm::Tick{});
  (void)Kept();
  ASSERT_TRUE(disk().RemoveTree("/j/rm.journal.1").ok());
  const Story story = StoryOf(app);
  ASSERT_TRUE(story.found());
  EXPECT_TRUE(story.Chapters().front().before);
  EXPECT_FALSE(story.ended());
  EXPECT_EQ(story.sums().state, model::rm::AppState::kRunning);
}

TEST_F(PastTest, AStoryIsBoundedAndItsSumsAreWhole) {
  world_.AddNode(10, "n1", 8192, 8);
  const auto app = world_.Submit(1000, "ann", "root.a");
  world_.Register(2000, app);
  int64_t at = 3000;
  for (int i = 0; i < 300; ++i) {  // what somebody does parts what would be summed
    world_.Ask(at, app, 1024, 1);
    world_.Ask(at + 10, app, 1024, 0);
    world_.Start(at + 20, world_.Granted(app).back());
    world_.End(at + 30, world_.Granted(app).back(), i % 3 == 0 ? 1 : 0);
    world_.Do(at + 40, model::rm::SetPriority{1, app, 0});
    at += 1000;
  }
  world_.Finish(at, app);
  const Story story = StoryOf(app);
  const std::vector<Chapter> chapters = story.Chapters();
  EXPECT_LE(chapters.size(), Story::kMost);
  int64_t granted = 0, ended = 0, between = 0;
  for (const Chapter& chapter : chapters) {
    between += chapter.kind == Chapter::Kind::kBetween ? 1 : 0;
    if (chapter.kind != Chapter::Kind::kContainers && chapter.kind != Chapter::Kind::kBetween) continue;
    granted += chapter.count;
    for (const auto& [status, count] : chapter.ends) ended += count;
  }
  EXPECT_EQ(between, 1);
  EXPECT_EQ(granted, 300);
  EXPECT_EQ(ended, 300);
  EXPECT_EQ(story.sums().granted, 300);
}

}  // namespace
}  // namespace fairlead::shell

#include "shuffle/merge_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace fairlead::shuffle {
namespace {

using model::shuffle::MergeDirs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::spark_shuffle::FinalizeShuffleMerge;

MergeDirs Dirs(int32_t attempt = -1) {
  MergeDirs out;
  out.attempt = attempt;
  out.dirs.dirs = {{"/data/merge_manager", 0, "merge_manager"}};
  return out;
}

class MergeBookTest : public testing::Test {
 protected:
  MergeBookTest() { book_.Register("app", Dirs()); }
  ~MergeBookTest() override { EXPECT_EQ(book_.CheckInvariants(), ""); }

  static Push PushOf(int32_t map, int32_t reduce, int32_t merge = 0, int32_t shuffle = 0, int32_t attempt = -1) {
    Push out;
    out.header = {"app", attempt, shuffle, merge, map, reduce, 0};
    return out;
  }
  PushAnswer Whole(Push push, std::string_view bytes) {
    if (const auto over = book_.Begin(push)) return *over;
    book_.Bytes(push, bytes);
    return book_.End(push);
  }
  PushCode Code(int32_t map, int32_t reduce, int32_t merge = 0) {
    return Whole(PushOf(map, reduce, merge), "abc").code;
  }
  auto Finalize(int32_t merge = 0, int32_t attempt = -1) {
    return book_.Finalize(FinalizeShuffleMerge{"app", attempt, 0, merge});
  }
  std::string RemoveError(int32_t merge, int32_t attempt = -1) {
    const auto removed = book_.RemoveMerge({"app", attempt, 0, merge});
    return removed.ok() ? "" : removed.error().message;
  }

  MergeBook book_{MergeLimits{}};
};

TEST_F(MergeBookTest, ManyPushesOfNewMergesCostReadersOneCopy) {
  const auto before = book_.View();
  const uint64_t copies = book_.copies();
  for (int32_t shuffle = 0; shuffle < 1000; ++shuffle) {
    for (int32_t merge = 0; merge < 3; ++merge) Whole(PushOf(1, 0, merge, shuffle), "x");
  }
  const auto after = book_.View();
  EXPECT_EQ(book_.copies() - copies, 1U);
  EXPECT_EQ(after->at("app")->latest.Find(999)->merge_id, 2);
  EXPECT_EQ(before->at("app")->latest.size(), 0U) << "a view stays as it was";
  EXPECT_EQ(book_.View(), after) << "nothing has changed";
}

TEST_F(MergeBookTest, WhoDidNotRegisterAndOtherAttemptsAreRefusedAtOnce) {
  Push stranger = PushOf(1, 0);
  stranger.header.app_id = "other";
  const PushAnswer refused = Whole(stranger, "x");
  EXPECT_EQ(refused.failure,
            "java.lang.IllegalArgumentException: application other is not registered or NM was restarted.");
  EXPECT_TRUE(refused.closes);
  const PushAnswer old = Whole(PushOf(1, 0, 0, 0, 3), "x");
  EXPECT_EQ(old.code, PushCode::kTooOldAttempt);
  EXPECT_TRUE(old.closes);
  EXPECT_TRUE(Whole(PushOf(-2, 0), "x").closes);
}

TEST_F(MergeBookTest, AHigherMergeIdTakesThePlaceOfALower) {
  EXPECT_EQ(Code(1, 0, 1), PushCode::kSuccess);
  Push slow = PushOf(2, 0, 1);
  ASSERT_FALSE(book_.Begin(slow));
  Push slow_elsewhere = PushOf(2, 5, 1);
  ASSERT_FALSE(book_.Begin(slow_elsewhere));
  EXPECT_EQ(Code(1, 0, 2), PushCode::kSuccess);
  EXPECT_EQ(Code(1, 0, 1), PushCode::kStale);
  book_.Bytes(slow, "xyz");
  EXPECT_EQ(book_.End(slow).code, PushCode::kStale);
  EXPECT_EQ(book_.End(slow_elsewhere).code, PushCode::kTooLate) << "the newer merge has no such partition";
  EXPECT_EQ(book_.Find("app")->latest.Find(0)->merge_id, 2);
  EXPECT_EQ(book_.open_partitions(), 1u);
  const auto outdated = book_.TakeOutdated();
  ASSERT_EQ(outdated.dropped.size(), 2u);
  for (const auto& entry : outdated.dropped) book_.Release(*entry);
}

TEST_F(MergeBookTest, ALaterMergeTakesTheStoredEndOfAnEarlierOneAway) {
  EXPECT_EQ(Code(1, 0), PushCode::kSuccess);
  const auto finishing = Finalize();
  ASSERT_TRUE(finishing.ok());
  book_.Release(*finishing->entries[0]);
  Push later = PushOf(1, 0);
  later.header.shuffle_merge_id = 1;
  ASSERT_FALSE(book_.Begin(later));
  const auto outdated = book_.TakeOutdated();
  ASSERT_EQ(outdated.rows.size(), 1u);
  EXPECT_TRUE(outdated.rows[0].remove);
  EXPECT_FALSE(book_.Finished({"app", -1, 0, 0}, {0})) << "replaced while it ended";
  book_.Cut(later);
}

TEST_F(MergeBookTest, AfterTheEndPushesAreTooLate) {
  EXPECT_EQ(Code(1, 0), PushCode::kSuccess);
  Push slow = PushOf(2, 0);
  ASSERT_FALSE(book_.Begin(slow));
  book_.Bytes(slow, "half");
  const auto finishing = Finalize();
  ASSERT_TRUE(finishing.ok());
  ASSERT_EQ(finishing->entries.size(), 1u);
  EXPECT_EQ(finishing->entries[0]->name, "shuffleMerged_app_0_0_0");
  EXPECT_EQ(finishing->entries[0]->partition.bytes(), 3);
  EXPECT_EQ(book_.End(slow).code, PushCode::kTooLate);
  EXPECT_EQ(Code(3, 0), PushCode::kTooLate);
  EXPECT_THAT(Finalize().error().message, HasSubstr("is stale shuffle finalize request"));
  EXPECT_THAT(Finalize(1).error().message, HasSubstr("is stale shuffle finalize request")) << "as Spark has it";
  EXPECT_THAT(Finalize(2, 9).error().message, HasSubstr("attempt id 9 in this FinalizeShuffleMerge message"));
  book_.Release(*finishing->entries[0]);
  EXPECT_EQ(book_.memory_bytes(), 0u);
}

TEST_F(MergeBookTest, RemovalsAreOfTheLatestMergeOrALaterOne) {
  EXPECT_EQ(RemoveError(-1), "");
  EXPECT_EQ(Code(1, 4, 3), PushCode::kSuccess);
  EXPECT_THAT(RemoveError(2), HasSubstr("Asked to remove old shuffle merged data"));
  EXPECT_THAT(RemoveError(3, 8), HasSubstr("RemoveShuffleMerge"));
  const auto finishing = Finalize(3);
  ASSERT_TRUE(finishing.ok());
  const FinalizeShuffleMerge request{"app", -1, 0, 3};
  EXPECT_EQ(book_.Finished(request, {4})->size(), 1u);
  const auto removed = book_.RemoveMerge({"app", -1, 0, -1});
  ASSERT_TRUE(removed.ok());
  EXPECT_THAT(removed->names, ElementsAre("shuffleMerged_app_0_3_4"));
  EXPECT_FALSE(book_.Finished(request, {4})) << "removed while it ended";
  EXPECT_EQ(Code(2, 4, 3), PushCode::kTooLate);
  EXPECT_EQ(RemoveError(7), "");
  EXPECT_EQ(Code(2, 4, 6), PushCode::kStale);
}

TEST_F(MergeBookTest, EachPushIsCountedByTheReasonForWhichItIsNotMerged) {
  EXPECT_EQ(Code(1, 0, 1), PushCode::kSuccess);
  EXPECT_EQ(Code(1, 0, 1), PushCode::kSuccess);
  EXPECT_EQ(Code(1, 0, 0), PushCode::kStale);
  EXPECT_EQ(Whole(PushOf(1, 0, 1, 0, 3), "x").code, PushCode::kTooOldAttempt);
  const auto finishing = Finalize(1);
  ASSERT_TRUE(finishing.ok());
  EXPECT_EQ(Code(2, 0, 1), PushCode::kTooLate);
  const MergeCounters& counters = book_.counters();
  EXPECT_EQ(counters.pushes_twice, 1u);
  EXPECT_EQ(counters.pushes_stale, 1u);
  EXPECT_EQ(counters.pushes_of_other_attempts, 1u);
  EXPECT_EQ(counters.pushes_late, 1u);
  EXPECT_EQ(counters.late_block_pushes, 3u) << "Spark's meter has all that was thrown away from its begin";
  EXPECT_EQ(counters.stale_block_pushes, 0u) << "and here what became stale on its way";
}

TEST_F(MergeBookTest, ALaterAttemptForgetsTheEarlier) {
  EXPECT_EQ(Code(1, 0), PushCode::kSuccess);
  EXPECT_FALSE(book_.Register("app", Dirs()).changed) << "the first executor decides";
  const auto later = book_.Register("app", Dirs(2));
  EXPECT_TRUE(later.changed);
  EXPECT_EQ(later.dropped.size(), 1u);
  for (const auto& entry : later.dropped) book_.Release(*entry);
  EXPECT_EQ(Whole(PushOf(1, 0), "x").code, PushCode::kTooOldAttempt);
  EXPECT_EQ(Whole(PushOf(1, 0, 0, 0, 2), "x").code, PushCode::kSuccess);
}

TEST_F(MergeBookTest, WhatIsStoredComesBackAndNothingElse) {
  std::vector<model::StoreRow> rows = MergeBook{MergeLimits{}}.Register("app", Dirs(1)).rows;
  MergeBook before{MergeLimits{}};
  before.Register("app", Dirs(1));
  Push push = PushOf(1, 4, 3, 0, 1);
  ASSERT_FALSE(before.Begin(push));
  EXPECT_EQ(before.End(push).code, PushCode::kSuccess);
  ASSERT_TRUE(before.Finalize({"app", 1, 0, 3}).ok());
  const auto ended = before.Finished({"app", 1, 0, 3}, {4});
  ASSERT_TRUE(ended);
  rows.insert(rows.end(), ended->begin(), ended->end());
  MergeBook after{MergeLimits{}};
  const std::vector<std::string> roots = {"/data"};
  for (const model::StoreRow& row : rows) ASSERT_TRUE(after.Restore(row.table, row.key, row.value, roots).ok());
  after.Restored();
  EXPECT_FALSE(after.Restore(MergeBook::kDirsTable, "x", "y", roots).ok());
  EXPECT_EQ(after.Find("app")->latest.Find(0)->merge_id, 3);
  Push late = PushOf(2, 4, 3, 0, 1);
  ASSERT_FALSE(after.Begin(late));
  EXPECT_EQ(after.End(late).code, PushCode::kTooLate);
  EXPECT_THAT(after.RemoveMerge({"app", 1, 0, 3})->names, ElementsAre("shuffleMerged_app_0_3_4"));
}

TEST_F(MergeBookTest, PartitionsThatCannotBeWrittenAreLostAfterAFewTries) {
  MergeBook book(MergeLimits{.memory_bytes = 4096});
  book.Register("app", Dirs());
  Push push = PushOf(1, 0);
  ASSERT_FALSE(book.Begin(push));
  book.Bytes(push, std::string(3000, 'x'));
  EXPECT_EQ(book.End(push).code, PushCode::kSuccess);
  for (int failures = 1; failures <= 5; ++failures) {
    ASSERT_TRUE(book.wants_writing()) << failures;
    auto writes = book.TakeWrites();
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].unwritten.bytes.size(), 3000u) << "nothing is lost while it is tried again";
    book.Written(std::move(writes[0]), false);
  }
  EXPECT_FALSE(book.wants_writing());
  EXPECT_EQ(book.counters().partitions_lost, 1u);
  Push next = PushOf(2, 0);
  EXPECT_THAT(book.Begin(next)->failure,
              HasSubstr("IOExceptions exceeded the threshold when merging shufflePush_0_0_2_0"));
  EXPECT_EQ(book.CheckInvariants(), "");
}

TEST_F(MergeBookTest, TenThousandOpenPartitionsFitIntoTheirMemory) {
  size_t most = 0;
  for (int map = 0; map < 40; ++map) {
    for (int reduce = 0; reduce < 10'000; ++reduce) {
      EXPECT_EQ(Whole(PushOf(map * 250, reduce), std::string(512, 'x')).code, PushCode::kSuccess);
      while (book_.wants_writing()) {
        auto writes = book_.TakeWrites();
        ASSERT_FALSE(writes.empty());
        most = std::max(most, book_.memory_bytes());
        for (auto& write : writes) book_.Written(std::move(write), true);
      }
    }
  }
  EXPECT_EQ(book_.open_partitions(), 10'000u);
  EXPECT_LE(most, size_t{64} << 20);
  EXPECT_GT(most, size_t{20} << 20) << "memory is used";
}

TEST_F(MergeBookTest, AHostilePusherIsBoundedAndHarmsNobody) {
  MergeBook book(MergeLimits{.memory_bytes = 1 << 20, .partitions_per_app = 500});
  book.Register("app", Dirs());
  book.Register("good", Dirs());
  std::vector<Push> open;
  for (int i = 0; i < 2000; ++i) {  // partitions without end, each with a block that does not end and one that waits
    for (int map = 0; map < 2; ++map) {
      open.push_back(PushOf(map, i));
      if (!book.Begin(open.back())) book.Bytes(open.back(), std::string(700, 'x'));
    }
    while (book.wants_writing()) {
      auto writes = book.TakeWrites();
      if (writes.empty()) break;
      for (auto& write : writes) book.Written(std::move(write), true);
    }
    ASSERT_LE(book.memory_bytes(), size_t{1} << 20);
  }
  EXPECT_EQ(book.Use()["app"].open_partitions, 500u);
  EXPECT_GT(book.counters().pushes_limited, 0u);
  Push good = PushOf(0, 0);
  good.header.app_id = "good";
  ASSERT_FALSE(book.Begin(good));
  book.Bytes(good, "abc");
  EXPECT_EQ(book.End(good).code, PushCode::kSuccess);
  for (Push& push : open) book.Cut(push);
  EXPECT_EQ(book.deferred_bytes(), 0u);
  EXPECT_EQ(book.CheckInvariants(), "");
}

/// Ends, removals and pushes that name one shuffle after another; each would be kept and shown to readers.
TEST_F(MergeBookTest, AnApplicationHasSoManyMergesAndForgetsRemovedOnesFirst) {
  MergeBook book(MergeLimits{.shuffles_per_app = 3});
  book.Register("app", Dirs());
  const auto push = [&](int32_t shuffle) {
    Push one = PushOf(1, 0, 0, shuffle);
    return book.Begin(one) ? PushCode::kTooOldAttempt : book.End(one).code;
  };
  EXPECT_TRUE(book.Finalize({"app", -1, 10, 0}).ok());
  EXPECT_EQ(push(11), PushCode::kSuccess);
  EXPECT_TRUE(book.RemoveMerge({"app", -1, 12, 0}).ok());
  EXPECT_EQ(push(13), PushCode::kSuccess) << "in the place of the removed";
  const auto forgotten = book.TakeOutdated().rows;
  ASSERT_EQ(forgotten.size(), 1u);
  EXPECT_TRUE(forgotten[0].remove);
  EXPECT_EQ(push(14), PushCode::kTooLate);
  EXPECT_EQ(push(11), PushCode::kSuccess) << "those that are known go on";
  EXPECT_EQ(book.counters().pushes_limited, 1u);
  EXPECT_THAT(book.Finalize({"app", -1, 15, 0}).error().message, HasSubstr("has 3 merged shuffles"));
  EXPECT_TRUE(book.RemoveMerge({"app", -1, 16, 0})->rows.empty());
  EXPECT_EQ(book.Find("app")->latest.size(), 3u);
  EXPECT_TRUE(book.Finalize({"app", -1, 11, 0}).ok());
  book.Register("other", Dirs());
  EXPECT_TRUE(book.Finalize({"other", -1, 10, 0}).ok()) << "it is a limit for each";
}

/// Each change with a view of its own: what walks all that are known takes minutes for this.
TEST_F(MergeBookTest, AHundredThousandMergesMakeNoChangeDear) {
  constexpr int32_t kMany = 100'000;
  MergeBook book(MergeLimits{.shuffles_per_app = kMany});
  book.Register("app", Dirs());
  for (int32_t shuffle = 0; shuffle < kMany; ++shuffle) {
    // All but the last few are kept: those that are forgotten are behind them.
    const bool ok = shuffle < kMany - 10 ? book.Finalize({"app", -1, shuffle, 0}).ok()
                                         : book.RemoveMerge({"app", -1, shuffle, 0}).ok();
    ASSERT_TRUE(ok) << shuffle;
  }
  for (int32_t i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(book.RemoveMerge({"app", -1, kMany + i, 0}).ok());
    ASSERT_EQ(book.TakeOutdated().rows.size(), 1U);
    Push push = PushOf(1, 0, i + 1, kMany + i);
    ASSERT_FALSE(book.Begin(push)) << "a new merge, of which readers hear";
    book.Cut(push);
    ASSERT_EQ(book.Find("app")->latest.size(), static_cast<size_t>(kMany));
    ASSERT_TRUE(book.RemoveMerge({"app", -1, kMany + i, -1}).ok());
    for (const MergeEntryRef& entry : book.TakeOutdated().dropped) book.Release(*entry);
  }
  EXPECT_EQ(book.CheckInvariants(), "");
}

TEST_F(MergeBookTest, WhoFloodsItWithoutWaitingIsToldToTryAgain) {
  MergeBook book(MergeLimits{.memory_bytes = 1 << 20});
  book.Register("app", Dirs());
  int collisions = 0;
  for (int i = 0; i < 5000; ++i) {  // nothing is written
    Push push = PushOf(i, 0);
    if (book.Begin(push)) continue;
    book.Bytes(push, std::string(1000, 'x'));
    collisions += book.End(push).code == PushCode::kCollision ? 1 : 0;
  }
  EXPECT_GT(collisions, 0);
  EXPECT_LE(book.memory_bytes(), size_t{5} << 19);
  EXPECT_EQ(book.CheckInvariants(), "");
}

/// Random pushes, cuts, ends and failing writes: what the files hold is what was answered with success.
TEST_F(MergeBookTest, FilesHoldExactlyWhatWasAcknowledged) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    base::Rng rng(seed);
    MergeBook book(MergeLimits{.chunk_bytes_min = 50, .write_failures_max = 1000, .memory_bytes = 6000});
    book.Register("app", Dirs());
    std::map<std::string, std::string> files;
    std::map<int32_t, std::map<int32_t, std::string>> acknowledged;
    std::vector<std::pair<Push, std::string>> open;
    const auto write = [&](const MergeEntry& entry, const MergedPartition::Unwritten& unwritten) {
      std::string& file = files[entry.name];
      file.resize(std::max(file.size(), static_cast<size_t>(unwritten.offset) + unwritten.bytes.size()));
      file.replace(static_cast<size_t>(unwritten.offset), unwritten.bytes.size(), unwritten.bytes);
    };
    for (int step = 0; step < 400; ++step) {
      const uint64_t what = rng.Below(10);
      if (what < 3 || open.empty()) {
        Push push = PushOf(static_cast<int32_t>(rng.Below(30)), static_cast<int32_t>(rng.Below(4)));
        if (!book.Begin(push)) open.emplace_back(std::move(push), "");
      } else {
        const size_t at = rng.Below(open.size());
        auto& [push, bytes] = open[at];
        if (what < 7) {
          const std::string more(rng.Below(60) + 1, static_cast<char>('a' + rng.Below(26)));
          book.Bytes(push, more);
          bytes += more;
          continue;
        }
        if (what == 7) {
          book.Cut(push);
        } else {
          const uint64_t merged = book.counters().blocks_merged;
          const PushAnswer answer = book.End(push);
          if (book.counters().blocks_merged > merged) {
            EXPECT_EQ(answer.code, PushCode::kSuccess);
            acknowledged[push.header.reduce_id][push.header.map_index] = bytes;
          }
        }
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (book.wants_writing()) {
        for (auto& one : book.TakeWrites()) {
          const bool ok = rng.Below(3) > 0;
          if (ok) write(*one.entry, one.unwritten);
          book.Written(std::move(one), ok);
        }
      }
      ASSERT_EQ(book.CheckInvariants(), "") << seed;
    }
    const auto finishing = book.Finalize({"app", -1, 0, 0});
    ASSERT_TRUE(finishing.ok());
    for (const MergeEntryRef& entry : finishing->entries) {
      const MergedFiles ended = entry->partition.Finish();
      write(*entry, entry->partition.Take());
      size_t bytes = 0;
      const auto& blocks = acknowledged[entry->reduce_id];
      EXPECT_EQ(entry->partition.maps().size(), blocks.size()) << seed;
      std::string_view meta = ended.meta;
      for (size_t chunk = 0; chunk + 1 < ended.offsets.size(); ++chunk) {
        const auto maps = wire::spark_shuffle::MapBitmap::Read(meta);
        ASSERT_TRUE(maps.ok());
        size_t of_chunk = 0;
        for (const int32_t map : maps->Indices()) of_chunk += blocks.at(map).size();
        EXPECT_EQ(static_cast<size_t>(ended.offsets[chunk + 1] - ended.offsets[chunk]), of_chunk) << seed;
      }
      for (const auto& [map, block] : blocks) {
        bytes += block.size();
        EXPECT_THAT(files[entry->name].substr(0, static_cast<size_t>(ended.offsets.back())), HasSubstr(block)) << seed;
      }
      EXPECT_EQ(static_cast<size_t>(ended.offsets.back()), bytes) << seed;
      book.Release(*entry);
    }
  }
}

}  // namespace
}  // namespace fairlead::shuffle

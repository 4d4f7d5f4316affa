#include "shuffle/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::shuffle {
namespace {

namespace ms = model::shuffle;
using testing::HasSubstr;

class ShuffleCore : public testing::Test {
 protected:
  explicit ShuffleCore(Config config = {.local_roots = {"/data1", "/data2/spark"}}) : core_(std::move(config)) {}

  void Step(std::vector<ms::Event> events) {
    effects_.clear();
    core_.Step(now_, events, effects_);
    EXPECT_EQ(core_.CheckInvariants(), "");
  }
  template <class T>
  const T* Effect() const {
    for (const auto& effect : effects_) {
      if (const T* found = std::get_if<T>(&effect)) return found;
    }
    return nullptr;
  }
  static ms::RegisterExecutor Registration(uint64_t token, std::string app, std::string executor,
                                           std::vector<std::string> dirs = {"/data1/blockmgr-a"}) {
    return {token, std::move(app), std::move(executor), std::move(dirs), 64, "sort"};
  }
  /// Registers and stores.
  void Register(std::string app, std::string executor) {
    Step({Registration(1, std::move(app), std::move(executor))});
    const uint64_t txn = Effect<ms::Persist>()->txn;
    for (const auto& row : Effect<ms::Persist>()->rows) stored_.push_back(row);
    Step({ms::Persisted{txn, ""}});
  }

  Core core_;
  base::Instant now_{1};
  Core::Effects effects_;
  std::vector<ms::StoreRow> stored_;
};

TEST_F(ShuffleCore, IsKnownOnlyOnceStored) {
  Step({Registration(7, "app", "1")});
  ASSERT_NE(Effect<ms::Persist>(), nullptr);
  EXPECT_EQ(Effect<ms::Answered>(), nullptr);
  EXPECT_EQ(core_.View()->Find("app", "1"), nullptr);
  Step({ms::Persisted{1, ""}});
  ASSERT_NE(Effect<ms::Answered>(), nullptr);
  EXPECT_EQ(Effect<ms::Answered>()->token, 7u);
  EXPECT_EQ(Effect<ms::Answered>()->error, "");
  ASSERT_NE(core_.View()->Find("app", "1"), nullptr);
  EXPECT_EQ(core_.View()->Find("app", "2"), nullptr);
  EXPECT_EQ(core_.View()->Find("other", "1"), nullptr);
}

TEST_F(ShuffleCore, AFailedStoreIsNotAcknowledged) {
  Step({Registration(7, "app", "1")});
  Step({ms::Persisted{1, "disk full"}});
  EXPECT_THAT(Effect<ms::Answered>()->error, HasSubstr("disk full"));
  EXPECT_EQ(core_.View()->Find("app", "1"), nullptr);
}

TEST_F(ShuffleCore, TheLastRegistrationWins) {
  Register("app", "1");
  const uint64_t first = core_.View()->Find("app", "1")->generation;
  Register("app", "1");
  EXPECT_EQ(core_.View()->executors(), 1u);
  EXPECT_GT(core_.View()->Find("app", "1")->generation, first);
}

TEST_F(ShuffleCore, OldViewsStay) {
  Register("app", "1");
  const auto before = core_.View();
  Step({ms::StopApp{9, "app", false}});
  EXPECT_NE(before->Find("app", "1"), nullptr);
  EXPECT_EQ(core_.View()->Find("app", "1"), nullptr);
}

TEST_F(ShuffleCore, DirectoriesMustLieBelowARoot) {
  for (const char* dir : {"/data1/../etc", "relative", "/data11/x", "/data2/other", "/", "/data1/a/../../data2"}) {
    Step({Registration(7, "app", "1", {dir})});
    ASSERT_NE(Effect<ms::Answered>(), nullptr) << dir;
    EXPECT_EQ(Effect<ms::Answered>()->error,
              std::string("java.lang.IllegalArgumentException: localDirs entry is not under any of the service's local "
                          "directories: ") +
                  dir);
  }
  Step({Registration(7, "app", "1", {std::string("/data1/a\0b", 10)})});
  EXPECT_EQ(
      Effect<ms::Answered>()->error,
      std::string("java.lang.IllegalArgumentException: localDirs entry could not be canonicalized: /data1/a\0b", 90));
  Step({Registration(7, "app", "1", {"/data2//spark/./x/../blockmgr-1/"})});
  Step({ms::Persisted{Effect<ms::Persist>()->txn, ""}});
  const ms::LocalDir& dir = core_.View()->Find("app", "1")->dirs[0];
  EXPECT_EQ(dir.root, 1u);
  EXPECT_EQ(dir.below_root, "blockmgr-1");
  EXPECT_EQ(dir.path, "/data2//spark/./x/../blockmgr-1/");
}

TEST_F(ShuffleCore, PlaceTakesTheLongestRoot) {
  const std::vector<std::string> roots = {"/", "/a", "/a/b"};
  EXPECT_EQ(PlaceDir("/a/b/c", roots).root, 2u);
  EXPECT_EQ(PlaceDir("/a/c", roots).root, 1u);
  EXPECT_EQ(PlaceDir("/x", roots).below_root, "x");
  EXPECT_EQ(PlaceDir(std::string("/a/\0b", 5), roots).root, ms::LocalDir::kNoRoot);
}

TEST_F(ShuffleCore, SurvivesARestart) {
  Register("app", "1");
  Register("app", "2");
  Register("other", "1");
  Step({ms::StartApp{3, "app", "secret"}});
  stored_.push_back(Effect<ms::Persist>()->rows[0]);
  Step({ms::Persisted{Effect<ms::Persist>()->txn, ""}});
  Core again({.local_roots = {"/data1", "/data2/spark"}});
  std::vector<ms::Event> rows;
  for (const auto& row : stored_) rows.push_back(ms::Restore{row.table, row.key, row.value});
  rows.push_back(ms::Restore{"shuffle_executors", "rubbish", "\xff\xff"});
  Core::Effects out;
  again.Step(now_, rows, out);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(again.CheckInvariants(), "");
  EXPECT_EQ(again.View()->executors(), 3u);
  EXPECT_EQ(again.View()->FindApp("app")->secret, "secret");
  EXPECT_EQ(again.View()->Find("other", "1")->dirs[0].below_root, "blockmgr-a");
}

TEST_F(ShuffleCore, StopRemovesEverythingAndWhatIsOnItsWay) {
  Register("app", "1");
  Register("other", "1");
  Step({Registration(8, "app", "2")});
  const uint64_t on_its_way = Effect<ms::Persist>()->txn;
  Step({ms::StopApp{9, "app", true}});
  EXPECT_EQ(Effect<ms::Answered>()->token, 8u);
  EXPECT_THAT(Effect<ms::Answered>()->error, HasSubstr("has ended"));
  ASSERT_NE(Effect<ms::RemoveDirs>(), nullptr);
  EXPECT_EQ(Effect<ms::RemoveDirs>()->dirs.size(), 1u);
  EXPECT_EQ(Effect<ms::Persist>()->rows.size(), 3u);  // two executors, one secret
  const uint64_t removal = Effect<ms::Persist>()->txn;
  Step({ms::Persisted{on_its_way, ""}, ms::Persisted{removal, ""}});
  EXPECT_EQ(core_.View()->FindApp("app"), nullptr);
  EXPECT_EQ(Effect<ms::Answered>()->token, 9u);
  EXPECT_NE(core_.View()->Find("other", "1"), nullptr);
}

TEST_F(ShuffleCore, ExecutorGoneKeepsTheRegistration) {
  Register("app", "1");
  Step({ms::ExecutorGone{"app", "1"}, ms::ExecutorGone{"app", "77"}});
  EXPECT_EQ(effects_.size(), 1u);
  EXPECT_NE(Effect<ms::RemoveUnserved>(), nullptr);
  EXPECT_NE(core_.View()->Find("app", "1"), nullptr);
}

TEST_F(ShuffleCore, SweepForgetsOnlyWhatNobodyCanAskFor) {
  Register("app", "1");
  now_ = core_.NextDeadline();
  Step({});
  ASSERT_NE(Effect<ms::Probe>(), nullptr);
  EXPECT_EQ(Effect<ms::Probe>()->app, "app");
  Step({ms::Probed{"app", false, 0, {}}});
  EXPECT_NE(core_.View()->FindApp("app"), nullptr) << "one look is not enough";
  Step({ms::Probed{"app", false, 1, {}}});
  Step({ms::Probed{"app", false, 0, {}}});
  EXPECT_NE(core_.View()->FindApp("app"), nullptr) << "a connection was open in between";
  Step({ms::Probed{"app", false, 0, {}}});
  EXPECT_EQ(core_.View()->FindApp("app"), nullptr);
  EXPECT_NE(Effect<ms::Forgotten>(), nullptr);
  EXPECT_EQ(Effect<ms::RemoveDirs>(), nullptr);
}

TEST_F(ShuffleCore, IdleLimitIsTheLastResort) {
  Register("app", "1");
  const base::Duration long_idle = base::Duration::Seconds(8 * 24 * 3600);
  Step({ms::Probed{"app", true, 2, long_idle}});
  EXPECT_NE(core_.View()->FindApp("app"), nullptr);
  Step({ms::Probed{"app", true, 0, long_idle}});
  EXPECT_EQ(core_.View()->FindApp("app"), nullptr);
}

class SmallShuffleCore : public ShuffleCore {
 protected:
  SmallShuffleCore() : ShuffleCore({.local_roots = {"/data1"}, .bytes_max = 16'000, .app_bytes_max = 4000}) {}
  /// The refusal; empty: it is registered.
  std::string Try(const std::string& app, int executor) {
    Step({Registration(1, app, std::to_string(executor))});
    if (const auto* answer = Effect<ms::Answered>()) return answer->error;
    std::vector<ms::Event> stored;
    for (const auto& effect : effects_) {
      if (const auto* persist = std::get_if<ms::Persist>(&effect)) stored.emplace_back(ms::Persisted{persist->txn, ""});
    }
    const Core::Effects before = effects_;
    Step(stored);
    effects_ = before;
    return "";
  }
  int Fill(const std::string& app) {
    int taken = 0;
    while (Try(app, taken).empty()) ++taken;
    return taken;
  }
};

TEST_F(SmallShuffleCore, RegistrationsHaveABoundOfBytes) {
  const int of_one = Fill("greedy");
  EXPECT_GT(of_one, 5);
  EXPECT_THAT(Try("greedy", of_one), HasSubstr("of application greedy: they take more than 4000 bytes"));
  EXPECT_EQ(Try("greedy", 0), Try("greedy", 1)) << "in their own place either, while both are there";
  EXPECT_EQ(Try("another", 1), "");
  for (int i = 0; i < 10; ++i) Fill("stranger-" + std::to_string(i));
  EXPECT_THAT(Try("honest", 1), HasSubstr("of all applications: they take more than 16000 bytes"));
  EXPECT_LE(core_.View()->bytes(), 16'000u);
  EXPECT_GT(core_.refused(), 12u);
  // It looks soon which of them are gone, and these make room: the longest gone first.
  EXPECT_LE(core_.NextDeadline(), now_ + base::Duration::Seconds(10));
  now_ = core_.NextDeadline();
  Step({});
  EXPECT_NE(Effect<ms::Probe>(), nullptr);
  Step(
      {ms::Probed{"stranger-1", false, 0, {}}, ms::Probed{"greedy", true, 0, {}}, ms::Probed{"another", false, 1, {}}});
  now_ = now_ + base::Duration::Seconds(1);
  Step({ms::Probed{"stranger-0", false, 0, {}}});
  EXPECT_EQ(Try("honest", 1), "");
  ASSERT_NE(Effect<ms::Forgotten>(), nullptr);
  EXPECT_EQ(Effect<ms::Forgotten>()->app, "stranger-1");
  EXPECT_NE(core_.View()->Find("honest", "1"), nullptr);
  EXPECT_NE(core_.View()->FindApp("stranger-0"), nullptr);
  Step({ms::StopApp{9, "greedy", false}});
  EXPECT_EQ(core_.View()->FindApp("greedy"), nullptr);
}

TEST_F(ShuffleCore, DrainsUntilNothingIsAskedFor) {
  Register("app", "1");
  Register("other", "1");
  Step({ms::Drain{base::Duration::Seconds(60), base::Duration::Seconds(3600)}});
  EXPECT_NE(Effect<ms::Probe>(), nullptr) << "it looks at once";
  Step({Registration(8, "app", "2")});
  EXPECT_THAT(Effect<ms::Answered>()->error, HasSubstr("drains"));
  const auto long_ago = base::Duration::Seconds(61);
  Step({ms::Probed{"app", true, 0, long_ago}, ms::Probed{"other", true, 1, long_ago}});
  EXPECT_EQ(Effect<ms::Drained>(), nullptr) << "somebody is connected";
  Step({ms::Probed{"app", true, 0, base::Duration::Seconds(1)}, ms::Probed{"other", true, 0, long_ago}});
  EXPECT_EQ(Effect<ms::Drained>(), nullptr) << "the first was asked for again";
  EXPECT_NE(core_.View()->Find("app", "1"), nullptr) << "what is registered is served";
  Step({ms::Probed{"app", true, 0, long_ago}});
  ASSERT_NE(Effect<ms::Drained>(), nullptr);
  EXPECT_THAT(Effect<ms::Drained>()->reason, HasSubstr("nothing is asked"));
  Step({ms::Probed{"app", true, 0, long_ago}});
  EXPECT_EQ(Effect<ms::Drained>(), nullptr) << "once";
}

TEST_F(ShuffleCore, ADrainEndsAtItsLimitAndAtOnceWithoutExecutors) {
  Register("app", "1");
  Step({ms::Drain{base::Duration::Seconds(60), base::Duration::Seconds(5)}});
  for (int looks = 0; Effect<ms::Drained>() == nullptr; ++looks) {
    ASSERT_LT(looks, 10);
    now_ = core_.NextDeadline();
    Step({});
  }
  EXPECT_THAT(Effect<ms::Drained>()->reason, HasSubstr("time limit"));
  Core empty({.local_roots = {"/data1"}});
  Core::Effects out;
  const ms::Event drain = ms::Drain{base::Duration::Seconds(60), base::Duration::Seconds(5)};
  empty.Step(now_, {&drain, 1}, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NE(std::get_if<ms::Drained>(&out[0]), nullptr);
}

TEST_F(ShuffleCore, SameEventsSameHash) {
  Core other({.local_roots = {"/data1", "/data2/spark"}});
  const std::vector<ms::Event> events = {Registration(1, "b", "1"), Registration(2, "a", "2"), ms::Persisted{1, ""},
                                         ms::StartApp{3, "a", "s"}, ms::Persisted{2, ""},      ms::Persisted{3, ""}};
  Step(events);
  Core::Effects out;
  for (const auto& event : events) other.Step(now_, {&event, 1}, out);
  EXPECT_EQ(core_.StateHash(), other.StateHash());
}

class ScopedShuffleCore : public ShuffleCore {
 protected:
  ScopedShuffleCore() : ShuffleCore({.local_roots = {"/data1"}, .app_scoped_dirs = true}) {}
};
TEST_F(ScopedShuffleCore, OnYarnTheApplicationMustBeInThePath) {
  Step({Registration(7, "app_1", "1", {"/data1/usercache/u/appcache/app_2/blockmgr"})});
  EXPECT_THAT(Effect<ms::Answered>()->error, HasSubstr("is not within application app_1's directory: "));
  Step({Registration(8, "app_1", "1", {"/data1/usercache/u/appcache/app_1/blockmgr"})});
  EXPECT_EQ(Effect<ms::Answered>(), nullptr);
}

class TolerantShuffleCore : public ShuffleCore {
 protected:
  TolerantShuffleCore() : ShuffleCore({.local_roots = {"/data1"}, .refuse_foreign_dirs = false}) {}
};
TEST_F(TolerantShuffleCore, ForeignDirectoriesAreTakenButHaveNoRoot) {
  Step({Registration(7, "app", "1", {"some/dir", "/etc"})});
  Step({ms::Persisted{1, ""}});
  ASSERT_NE(core_.View()->Find("app", "1"), nullptr);
  for (const auto& dir : core_.View()->Find("app", "1")->dirs) EXPECT_EQ(dir.root, ms::LocalDir::kNoRoot);
}

}  // namespace
}  // namespace fairlead::shuffle

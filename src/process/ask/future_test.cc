#include "process/ask/future.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/test_seed.h"
#include "process/ask/world_for_tests.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/tdw/tdw.h"
#include "scheduler/yarn_capacity/from_tree.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"
#include "scheduler/yarn_fair/yarn_fair.h"

namespace fairlead::process::ask {

static scheduler::FairleadConfig TestBooks(const model::QueueTree& queues) {
  scheduler::FairleadConfig config;
  config.queues = queues;
  config.minimum_allocation = config.increment = model::Resources::Of(512, 1);
  config.maximum_allocation = model::Resources::Of(8192, 8);
  return config;
}

const std::array<TestProfile, 4> kTestProfiles = {{
    TestProfile{"fairlead", false,
                [](const model::QueueTree& queues) { return scheduler::MakeFairlead(TestBooks(queues)); }},
    TestProfile{"tdw", false,
                [](const model::QueueTree& queues) { return scheduler::MakeTdw({.base = TestBooks(queues)}); }},
    TestProfile{"yarn-fair", true,
                [](const model::QueueTree& queues) {
                  scheduler::yarn_fair::YarnFairConfig config;
                  config.minimum_allocation = config.increment = model::Resources::Of(512, 1);
                  return std::unique_ptr<scheduler::Scheduler>(scheduler::yarn_fair::MakeYarnFair(config, queues));
                }},
    TestProfile{"yarn-capacity", true,
                [](const model::QueueTree& queues) {
                  scheduler::yarn_capacity::YarnCapacityConfig config;
                  config.minimum_allocation = model::Resources::Of(512, 1);
                  auto made = scheduler::yarn_capacity::MakeYarnCapacity(
                      config, scheduler::yarn_capacity::CapacityQueuesFrom(queues));
                  FL_CHECK(made.ok(), "queues of the test");
                  return std::unique_ptr<scheduler::Scheduler>(std::move(*made));
                }},
}};

namespace {

std::string ProfileName(const testing::TestParamInfo<TestProfile>& profile) {
  std::string name = profile.param.name;
  std::erase(name, '-');
  return name;
}

class FutureTest : public testing::TestWithParam<TestProfile> {};
INSTANTIATE_TEST_SUITE_P(Profiles, FutureTest, testing::ValuesIn(kTestProfiles), ProfileName);

/// Run times are known, and masters end with the last of their tasks.
RunTimeOf Known(const World& world) {
  return [&world](const Running& one) { return std::optional(world.RunTime(one.id)); };
}

std::vector<World::Grant> GrantsOf(const Outcome& outcome) {
  std::vector<World::Grant> grants;
  for (const Outcome::Start& start : outcome.starts) grants.push_back({start.at.millis(), start.container, start.node});
  return grants;
}

/// How often a test is to try, where the variable says it.
uint64_t FromEnvironment(const char* variable, uint64_t unless_said) {
  const char* text = std::getenv(variable);
  return text == nullptr ? unless_said : std::strtoull(text, nullptr, 10);
}

TEST_P(FutureTest, WhatIsForeseenHappensAtThatNodeAndTime) {
  const uint64_t states = FromEnvironment("FAIRLEAD_ASK_STATES", 120);
  size_t grants = 0;
  for (uint64_t i = 0; i < states; ++i) {
    const uint64_t seed = base::TestSeed() * 1000 + i;
    World world = RandomWorld(GetParam(), seed);
    const Present present = world.Take();
    const uint64_t before = world.scheduler().StateHash();
    Future future(present, Known(world), {});
    ASSERT_TRUE(future.Run().ok());
    ASSERT_EQ(world.scheduler().StateHash(), before) << "a question changes nothing";
    const size_t known = world.grants().size();
    const auto ended = world.ended();
    world.RunTo(present.now.millis() + Bounds{}.ahead.millis());
    const std::vector<World::Grant> real(world.grants().begin() + static_cast<ptrdiff_t>(known), world.grants().end());
    std::vector<World::Grant> foreseen = GrantsOf(future.outcome());
    ASSERT_EQ(foreseen.size(), real.size()) << "seed " << seed;
    for (size_t at = 0; at < real.size(); ++at) {
      ASSERT_TRUE(foreseen[at] == real[at])
          << "seed " << seed << ": grant " << at << " of " << ToString(real[at].container) << " at " << real[at].at_ms
          << " on " << real[at].node.value << ", foreseen " << ToString(foreseen[at].container) << " at "
          << foreseen[at].at_ms << " on " << foreseen[at].node.value;
    }
    for (const auto& [app, at_ms] : world.ended()) {
      if (ended.contains(app)) continue;
      const auto found = future.outcome().apps_ended.find({app});
      ASSERT_NE(found, future.outcome().apps_ended.end()) << "seed " << seed << ": application " << app;
      ASSERT_EQ(found->second.millis(), at_ms) << "seed " << seed << ": application " << app;
    }
    grants += real.size();
    ASSERT_EQ(future.scheduler().CheckInvariants(), "");
  }
  EXPECT_GT(grants, states * 5) << "the states have something to come";
}

TEST_P(FutureTest, QuestionsChangeNothing) {
  const World world = RandomWorld(GetParam(), base::TestSeed() + 11);
  const uint64_t before = world.scheduler().StateHash();
  const std::string state = world.scheduler().State();
  const uint64_t questions = FromEnvironment("FAIRLEAD_ASK_QUESTIONS", 200);
  for (uint64_t i = 0; i < questions; ++i) {
    const Present present = world.Take();
    Future future(present, Known(world), {});
    const auto change = ParseChange(
        std::array{"lose-node n0", "drain n1", "add-nodes 2", "submit 9x1GiB,1x1m@root.b", "lose-rack /r0"}[i % 5]);
    ASSERT_TRUE(future.Apply({*change}).ok());
    ASSERT_TRUE(future.Run().ok());
    ASSERT_NE(future.scheduler().StateHash(), before) << "something happened there";
    ASSERT_EQ(world.scheduler().StateHash(), before);
  }
  EXPECT_EQ(world.scheduler().State(), state);
}

TEST_P(FutureTest, NothingStartsInAMaintenanceWindow) {
  World world(GetParam(), 1);
  world.AddNode(model::Resources::Of(8192, 8), 0);
  world.RunTo(1);
  world.Submit("root.a", 40, model::Resources::Of(1024, 1), "");
  world.RunTo(2000);
  world.Announce(0, 30'000, 90'000);
  world.RunTo(2001);
  const Present present = world.Take();
  Future future(present, Known(world), {});
  ASSERT_TRUE(future.Run().ok());
  size_t after = 0;
  for (const Outcome::Start& start : future.outcome().starts) {
    const int64_t at_ms = start.at.millis();
    EXPECT_TRUE(at_ms < 30'000 || at_ms >= 90'000) << at_ms;
    if (at_ms >= 90'000) ++after;
  }
  EXPECT_GT(after, 5U);
}

TEST_P(FutureTest, AFutureIsTheSameEachTime) {
  const World world = RandomWorld(GetParam(), base::TestSeed() + 7);
  const Present present = world.Take();
  Future one(present, Known(world), {});
  Future other(present, Known(world), {});
  ASSERT_TRUE(one.Run().ok());
  ASSERT_TRUE(other.Run().ok());
  EXPECT_TRUE(GrantsOf(one.outcome()) == GrantsOf(other.outcome()));
  EXPECT_EQ(one.scheduler().StateHash(), other.scheduler().StateHash());
}

TEST_P(FutureTest, WhoseEndNobodyKnowsRunsOn) {
  const World world = RandomWorld(GetParam(), base::TestSeed() + 3);
  const Present present = world.Take();
  Future future(present, [](const Running&) { return std::optional<base::Duration>(); }, {});
  ASSERT_TRUE(future.Run().ok());
  EXPECT_TRUE(future.outcome().ends.empty());
  EXPECT_GE(future.outcome().endless, 1);
  EXPECT_FALSE(future.outcome().cut);
}

/// The budget is spent, and its next period is a day ahead: hours in which nothing happens.
TEST(BudgetOfAFuture, TheNextPeriodOfABudgetIsSeen) {
  const TestProfile budget{"fairlead", false, [](const model::QueueTree& queues) {
                             scheduler::FairleadConfig config = TestBooks(queues);
                             config.fairness.budgets = {{"root.a", 1, 1000, base::Duration::Seconds(40'000), true}};
                             return scheduler::MakeFairlead(config);
                           }};
  World world(budget, 1);
  world.AddNode(model::Resources::Of(8192, 8), 0);
  world.RunTo(30'000'000);
  world.Submit("root.a", 4, model::Resources::Of(1024, 1), "");
  world.RunTo(30'100'000);
  const Present present = world.Take();
  ASSERT_EQ(present.apps.size(), 1U);
  Future future(present, Known(world), {.ahead = base::Duration::Seconds(80'000)});
  ASSERT_TRUE(future.Run().ok());
  ASSERT_FALSE(future.outcome().starts.empty());
  EXPECT_EQ(future.outcome().starts[0].at, base::Instant{} + base::Duration::Seconds(40'000));
  EXPECT_EQ(world.scheduler().NextPeriod(), base::Instant{} + base::Duration::Seconds(40'000));
}

TEST_P(FutureTest, AFutureIsBounded) {
  const World world = RandomWorld(GetParam(), base::TestSeed() + 5);
  const Present present = world.Take();
  Future future(present, Known(world), {.ahead = base::Duration::Seconds(7200), .events = 20});
  ASSERT_TRUE(future.Run().ok());
  EXPECT_TRUE(future.outcome().cut || future.outcome().starts.size() < 20);
  EXPECT_LE(future.outcome().until, present.now + base::Duration::Seconds(7200));
}

/// What waits for ever costs as much for a day as for a quarter of an hour.
TEST_P(FutureTest, AQuietDayIsCheap) {
  const World world = RandomWorld(GetParam(), base::TestSeed() + 3);
  const Present present = world.Take();
  Future future(present, [](const Running&) { return std::optional<base::Duration>(); },
                {.ahead = base::Duration::Seconds(86'400), .events = 5000});
  ASSERT_TRUE(future.Run().ok());
  EXPECT_FALSE(future.outcome().cut);
  EXPECT_EQ(future.outcome().until, present.now + base::Duration::Seconds(86'400));
}

/// Two jobs that need more than the cluster has.
class ChangeTest : public FutureTest {
 protected:
  ChangeTest() : world_(GetParam(), 1) {
    world_.AddNode(model::Resources::Of(8192, 8), 0);
    world_.AddNode(model::Resources::Of(8192, 8), 500);
    world_.RunTo(1);
    world_.Submit("root.a", 30, model::Resources::Of(1024, 1), "");
    world_.RunTo(5000);
    world_.Submit("root.b", 30, model::Resources::Of(1024, 1), "");
    world_.RunTo(9000);
    present_ = world_.Take();
  }
  Outcome After(const std::vector<std::string>& changes) {
    Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
    const base::Status applied = future.Apply(Parsed(changes));
    EXPECT_TRUE(applied.ok()) << (applied.ok() ? "" : applied.error().message);
    EXPECT_TRUE(future.Run().ok());
    EXPECT_EQ(future.scheduler().CheckInvariants(), "");
    return future.outcome();
  }
  std::string Refused(const std::vector<std::string>& texts) {
    Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
    base::Status applied = future.Apply(Parsed(texts));
    if (applied.ok()) applied = future.Run();
    return applied.ok() ? "" : applied.error().message;
  }
  static std::vector<Change> Parsed(const std::vector<std::string>& texts) {
    std::vector<Change> changes;
    for (const std::string& text : texts) {
      const auto change = ParseChange(text);
      EXPECT_TRUE(change.ok()) << text;
      if (change.ok()) changes.push_back(*change);
    }
    return changes;
  }

  World world_;
  Present present_;
};
INSTANTIATE_TEST_SUITE_P(Profiles, ChangeTest, testing::ValuesIn(kTestProfiles), ProfileName);

constexpr model::AppIndex kFirst{0};
constexpr model::AppIndex kSecond{1};

TEST_P(ChangeTest, MoreNodesEndJobsSoonerAndFewerLater) {
  const Outcome now = After({});
  ASSERT_TRUE(now.apps_ended.contains(kFirst) && now.apps_ended.contains(kSecond));
  const Outcome more = After({"add-nodes 4=n0"});
  EXPECT_LT(more.apps_ended.at(kSecond), now.apps_ended.at(kSecond));
  const Outcome drained = After({"drain n1:1"});
  EXPECT_GT(drained.apps_ended.at(kSecond), now.apps_ended.at(kSecond));
  for (const Outcome::Start& start : drained.starts) EXPECT_EQ(start.node.value, 0U);
}

TEST_P(ChangeTest, WhatALostNodeRanIsAskedForAgain) {
  const Outcome now = After({});
  const Outcome lost = After({"lose-node n1"});
  const auto gone = std::count_if(lost.ends.begin(), lost.ends.end(), [](const auto& end) { return end.lost; });
  EXPECT_GT(gone, 0);
  EXPECT_EQ(lost.apps_ended.size(), now.apps_ended.size());
  EXPECT_EQ(lost.starts.size(), now.starts.size() + static_cast<size_t>(gone));
}

TEST_P(ChangeTest, AKilledJobMakesRoom) {
  const Outcome now = After({});
  const Outcome killed = After({"kill application_1_0001"});
  EXPECT_EQ(killed.apps_ended.at(kFirst), present_.now);
  EXPECT_LT(killed.apps_ended.at(kSecond), now.apps_ended.at(kSecond));
  EXPECT_TRUE(killed.apps_killed.contains(kFirst));
}

TEST_P(ChangeTest, AQueueOfMoreWeightIsServedSooner) {
  const Outcome now = After({});
  Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
  model::QueueTree tree = TestQueues();
  tree.queues[0].weight = 100;
  ASSERT_TRUE(future.Apply({NewQueues{tree}}).ok());
  ASSERT_TRUE(future.Run().ok());
  const auto first_after = [](const Outcome& outcome, size_t starts) {
    return std::count_if(outcome.starts.begin(), outcome.starts.begin() + static_cast<ptrdiff_t>(starts),
                         [](const auto& start) { return start.app == kFirst; });
  };
  ASSERT_GE(std::min(now.starts.size(), future.outcome().starts.size()), 15U);
  EXPECT_GE(first_after(future.outcome(), 15), first_after(now, 15));
  EXPECT_LE(future.outcome().apps_ended.at(kFirst), now.apps_ended.at(kFirst));
}

TEST_P(ChangeTest, ASubmittedJobRunsAndEnds) {
  Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
  ASSERT_TRUE(future.Apply(Parsed({"submit 5x1GiB,1x1m@root.c"})).ok());
  ASSERT_TRUE(future.Run().ok());
  const model::AppIndex job = future.submitted().at(0).app;
  EXPECT_EQ(std::count_if(future.outcome().starts.begin(), future.outcome().starts.end(),
                          [&](const auto& start) { return start.app == job && !start.master; }),
            5);
  EXPECT_TRUE(future.outcome().apps_ended.contains(job));
}

TEST_P(ChangeTest, EachSubmittedJobIsOneOfItsOwn) {
  Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
  ASSERT_TRUE(future.Apply(Parsed({"submit 5x1GiB,1x1m@root.c", "submit 3x1GiB,1x5m@root.c"})).ok());
  ASSERT_TRUE(future.Run().ok());
  ASSERT_EQ(future.submitted().size(), 2U);
  std::set<model::ApplicationId> ids;
  for (const auto& [job, tasks] : {std::pair(future.submitted()[0].app, 5), {future.submitted()[1].app, 3}}) {
    int own = 0;
    for (const Outcome::Start& start : future.outcome().starts) {
      if (start.app != job) continue;
      ids.insert(start.container.attempt.app);
      if (!start.master) ++own;
    }
    EXPECT_EQ(own, tasks);
  }
  EXPECT_EQ(ids.size(), 2U);
}

/// Both nodes go at once: what the first had does not start on the second.
TEST_P(ChangeTest, SeveralChangesAreOne) {
  const Outcome none = After({"lose-node n0", "lose-node n1"});
  EXPECT_TRUE(none.starts.empty());
  EXPECT_EQ(none.memory_mib, 0);
  const Outcome instead = After({"lose-node n0", "lose-node n1", "add-nodes 1=n0"});
  EXPECT_EQ(instead.memory_mib, 8192);
  EXPECT_FALSE(instead.starts.empty());
  for (const Outcome::Start& start : instead.starts) EXPECT_EQ(start.node.value, 2U);
}

TEST_P(ChangeTest, WhoMayNotSubmitIsRefused) {
  model::QueueTree tree = TestQueues();
  tree.queues.emplace_back();
  tree.queues.back().name = "root";
  tree.queues.back().submit_acl = tree.queues.back().administer_acl = model::AccessList{};
  tree.queues[1].submit_acl = model::AccessList{false, {"ann"}, {"staff"}};
  present_.acls = true;
  present_.queues = std::make_shared<const model::QueueSet>(tree);
  const auto submit = [this](const char* user, std::vector<std::string> groups) {
    Future future(present_, [](const Running&) { return std::optional(base::Duration::Seconds(60)); }, {});
    auto job = std::get<Submit>(*ParseChange("submit 1x1GiB,1x1m@root.b"));
    job.user = user;
    job.groups = std::move(groups);
    const base::Status applied = future.Apply({job});
    return applied.ok() ? "" : applied.error().message;
  };
  EXPECT_EQ(submit("ann", {}), "");
  EXPECT_EQ(submit("bob", {"users", "staff"}), "");
  EXPECT_NE(submit("mallory", {"users"}).find("User mallory does not have permission to submit it to queue root.b"),
            std::string::npos);
}

TEST_P(ChangeTest, WhatCannotBeIsRefused) {
  EXPECT_NE(Refused({"lose-node n9"}), "");
  EXPECT_NE(Refused({"lose-rack /nowhere"}), "");
  EXPECT_NE(Refused({"add-nodes 1=n9"}), "");
  EXPECT_NE(Refused({"kill application_1_0099"}), "");
  EXPECT_NE(Refused({"move application_1_0001=root.nowhere"}), "");
  EXPECT_NE(Refused({"submit 1x1TiB,1x1m@root"}), "") << "no leaf";
  EXPECT_NE(Refused({"lose-node n1", "lose-node n1:1"}).find("node n1:1 is lost or drained twice"), std::string::npos);
  EXPECT_NE(Refused({"drain n0", "drain n0"}).find("node n0 is lost or drained twice"), std::string::npos);
  EXPECT_NE(Refused({"lose-node n1", "drain n1"}), "");
  EXPECT_NE(Refused({"kill application_1_0001", "move application_1_0001=root.b"}), "");
  const std::string large = Refused({"drain n0", "submit 1x1TiB,1x1m@root.c"});
  if (!GetParam().by_heartbeat) {  // the others have no maximum here
    EXPECT_NE(large.find("the job in root.c is refused: "), std::string::npos) << large;
  }
}

}  // namespace
}  // namespace fairlead::process::ask

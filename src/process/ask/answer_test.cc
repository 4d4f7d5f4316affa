#include "process/ask/answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "process/ask/carry.h"
#include "process/ask/forecast.h"
#include "process/ask/learned.h"
#include "process/ask/world_for_tests.h"

namespace fairlead::process::ask {
namespace {

using nlohmann::json;

class AnswerTest : public testing::Test {
 protected:
  AnswerTest() : world_(OneFullNode()), present_(world_.Take()) {}
  /// Tasks of both jobs have run for a minute each time.
  void Learn() {
    for (int i = 0; i < 10; ++i) {
      const Present::App& app = present_.apps[0];
      LearnOne(*learned_, app, base::Duration::Seconds(60));
    }
  }
  json Ask(const std::vector<std::string>& texts) {
    std::vector<Change> changes;
    for (const std::string& text : texts) changes.push_back(*ParseChange(text));
    const auto answer = WhatIf(present_, learned_, changes, {});
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? json::parse(endpoints::v1::Text(*answer)) : json();
  }
  static std::string Said(const json& answer) {
    std::string all;
    for (const auto& sentence : answer.at("sentences")) all += sentence.get<std::string>() + "\n";
    return all;
  }

  World world_;
  Present present_;
  std::shared_ptr<scheduler::RunTimes> learned_ = std::make_shared<scheduler::RunTimes>();
};

TEST_F(AnswerTest, NoChangeMakesNoDifference) {
  Learn();
  EXPECT_NE(Said(Ask({})).find("Nothing is different within 2 h."), std::string::npos) << Said(Ask({}));
}

TEST_F(AnswerTest, AKilledJobLetsTheOtherEndSooner) {
  Learn();
  const json answer = Ask({"kill application_1_0001"});
  EXPECT_NE(Said(answer).find("application_1_0002 (job of ann, root.b) ends 59 s sooner, in 60 s."), std::string::npos)
      << Said(answer);
  EXPECT_NE(Said(answer).find("Queue root.b is served sooner: 1 application, by 59 s on the mean."), std::string::npos)
      << Said(answer);
  EXPECT_EQ(answer["apps"][0]["before"]["end_ms"].get<int64_t>() / 1000, 119);
  EXPECT_EQ(answer["apps"][0]["after"]["end_ms"].get<int64_t>() / 1000, 60);
  EXPECT_EQ(answer["unknown_run_times"], 0);
  EXPECT_EQ(answer["undecided"], 0);
  ASSERT_EQ(answer["users"].size(), 1U) << answer.dump(2);
  EXPECT_EQ(answer["users"][0]["name"], "ann");
  EXPECT_EQ(answer["users"][0]["apps_sooner"], 1);
  EXPECT_EQ(answer["users"][0]["mean_ms"], answer["queues"][0]["mean_ms"]);
}

TEST_F(AnswerTest, WhatNobodyMaySeeIsSummed) {
  Learn();
  present_.apps[1].visible = false;
  const std::string said = Said(Ask({"kill application_1_0001"}));
  EXPECT_EQ(said.find("application_1_0002"), std::string::npos) << said;
  EXPECT_NE(said.find("1 application is served sooner"), std::string::npos) << said;
  EXPECT_TRUE(Ask({"kill application_1_0001"})["users"].empty());
  const auto refused = WhatIf(present_, learned_, {*ParseChange("kill application_1_0002")}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "no application application_1_0002 runs or waits");
}

TEST_F(AnswerTest, SaysWhatItDoesNotKnow) {
  const json answer = Ask({"drain n0"});
  EXPECT_NE(Said(answer).find("containers nobody knows how long they run (75 % of those that run"), std::string::npos);
  EXPECT_EQ(answer["containers"], 8) << "the masters end with the last of their tasks";
  EXPECT_EQ(answer["unknown_run_times"], 6);
  EXPECT_EQ(answer["undecided"], 1) << "the second job waits, nobody knows for how long";
}

TEST_F(AnswerTest, WhoIsServedNoMoreIsLaterByAllThatIsLeft) {
  Learn();
  const json answer = Ask({"drain n0"});
  ASSERT_EQ(answer["queues"].size(), 1U) << answer.dump(2);
  const json& queue = answer["queues"][0];
  EXPECT_EQ(queue["name"], "root.b");
  EXPECT_EQ(queue["apps_later"], 1);
  EXPECT_EQ(queue["apps_no_more"], 1);
  EXPECT_EQ(queue["mean_ms"].get<int64_t>() / 1000, 7200 - 119 - 1) << "it ends after 119 s without the change";
  EXPECT_NE(Said(answer).find("Queue root.b is served later: 1 application, by at least 1 h 58 min on the mean."),
            std::string::npos)
      << Said(answer);
}

TEST_F(AnswerTest, NamesTheLimitsThatBeginToBind) {
  Learn();
  model::QueueTree tree = TestQueues();
  tree.queues[1].max_resources.emplace();
  tree.queues[1].max_resources->absolute = {{"vcores", 3}, {"memory-mb", 8192}};
  const auto answer = WhatIf(present_, learned_, {NewQueues{tree}}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const json told = json::parse(endpoints::v1::Text(*answer));
  ASSERT_EQ(told["limits"].size(), 1U) << told.dump(2);
  EXPECT_EQ(told["limits"][0]["queue"], "root.b");
  EXPECT_EQ(told["limits"][0]["reason"], "QUEUE_MAXIMUM");
  EXPECT_TRUE(told["limits_no_more"].empty());
  EXPECT_NE(Said(told).find("imit begins to bind in root.b: what the queue, or one above it, may use."),
            std::string::npos)
      << Said(told);
}

TEST_F(AnswerTest, TellsOfEachSubmittedJob) {
  Learn();
  const std::string said = Said(Ask({"submit 2x1GiB,1x10m@root.c"}));
  EXPECT_NE(said.find("The job in root.c starts in "), std::string::npos) << said;
  EXPECT_NE(said.find(" and ends in "), std::string::npos) << said;
  const std::string two = Said(Ask({"submit 2x1GiB,1x10m@root.c", "submit 1x1GiB,1x9d@root.b"}));
  EXPECT_NE(two.find("Job 1 in root.c starts in "), std::string::npos) << two;
  EXPECT_NE(two.find("Job 2 in root.b starts in "), std::string::npos) << two;
  EXPECT_NE(two.find(", and does not end within 2 h."), std::string::npos) << two;
}

/// By the memory that there is then.
TEST_F(AnswerTest, UseIsAPartOfTheClusterAsChanged) {
  const json more = Ask({"add-nodes 1", "submit 7x1GiB,1x30d@root.c"});
  EXPECT_GT(more["used_before"], 0.8);
  EXPECT_GT(more["used_after"], 0.8);
  EXPECT_LE(more["used_after"], 1.0);
  EXPECT_EQ(Ask({"lose-node n0"})["used_after"], 0.0);
}

TEST_F(AnswerTest, AnotherProfileTakesTheClusterAsItIs) {
  Learn();
  for (const TestProfile& profile : kTestProfiles) {
    SCOPED_TRACE(profile.name);
    const MakeOther other = [&](const std::string& name) -> base::Result<OtherProfile> {
      if (name != profile.name) return base::Error{"no profile " + name};
      return OtherProfile{name, profile.make(TestQueues()), profile.by_heartbeat, {}};
    };
    const auto answer = WhatIf(present_, learned_, {UseProfile{profile.name}}, {}, other, base::Duration::Seconds(1));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    const json told = json::parse(endpoints::v1::Text(*answer));
    ASSERT_EQ(told["apps"].size(), 2U);
    for (const json& app : told["apps"]) {
      ASSERT_TRUE(app["after"].contains("end_ms")) << told.dump(2);
      EXPECT_NEAR(app["after"]["end_ms"].get<double>(), app["before"]["end_ms"].get<double>(), 3000) << "it beats";
    }
    EXPECT_NE(Said(told).find("Not carried into the other profile: reservations"), std::string::npos);
    EXPECT_FALSE(WhatIf(present_, learned_, {UseProfile{"nosuch"}}, {}, other).ok());
  }
  EXPECT_FALSE(WhatIf(present_, learned_, {UseProfile{"tdw"}}, {}).ok());
}

TEST_F(AnswerTest, AsksOfTwoSizesUnderOneNumberAreBothCarried) {
  Learn();
  model::Ask larger;
  larger.priority = 1;
  larger.name = "*";
  larger.capability = model::Resources::Of(2048, 1);
  larger.count = 1;
  const std::shared_ptr<scheduler::Scheduler> live = present_.scheduler->Fork();
  scheduler::EffectSink effects;
  ms::Allocate call;
  call.app = {1};
  call.asks = {larger};
  std::vector<ms::Event> events = {call};
  live->Step(present_.now, events, effects);
  present_.scheduler = live;
  for (const TestProfile& profile : kTestProfiles) {
    SCOPED_TRACE(profile.name);
    OtherProfile other{profile.name, profile.make(TestQueues()), profile.by_heartbeat, {}};
    const Carried carried = Carry(present_, std::move(other), base::Duration::Seconds(1));
    std::multiset<int64_t> waits;
    for (const ms::Event& event : carried.present.first) {
      for (const model::Ask& ask : std::get<ms::Allocate>(event).asks) waits.insert(ask.capability[0]);
    }
    EXPECT_EQ(waits, (std::multiset<int64_t>{1024, 2048}));
  }
}

TEST_F(AnswerTest, NewNodesAreBoundedInAll) {
  const auto refused = WhatIf(present_, learned_, {*ParseChange("add-nodes 10000"), *ParseChange("add-nodes 1")}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "at most 10000 nodes can be added, in all");
}

TEST_F(AnswerTest, ContainersOfAllJobsAreBoundedTogether) {
  const Change half = *ParseChange("submit 50000x1GiB,1x10m@root.a");
  EXPECT_TRUE(WhatIf(present_, learned_, {half, half}, {}).ok());
  const auto refused = WhatIf(present_, learned_, {half, half, *ParseChange("submit 1x1GiB,1x10m@root.b")}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "at most 100000 containers can be submitted, in all");
}

/// Ends in the midst of the question, at the call number `at`.
TEST_F(AnswerTest, EndsWhenItIsTold) {
  Learn();
  int calls = 0;
  int last = 0;
  const auto ask = [&](int at) {
    calls = 0;
    return WhatIf(present_, learned_, {*ParseChange("kill application_1_0001")},
                  {.ended = [&calls, at] { return ++calls > at; }});
  };
  const auto whole = ask(1'000'000);
  ASSERT_TRUE(whole.ok());
  last = calls;
  ASSERT_GT(last, 10);
  const auto none = ask(0);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "the answer takes longer than a question may; change less at once");
  EXPECT_EQ(none.error().code, kOutOfTime);
  EXPECT_LE(calls, 4);
  const auto part = ask(last - 1);
  ASSERT_TRUE(part.ok());
  EXPECT_LT(part->for_s, whole->for_s);
  EXPECT_NE(part->sentences.back().find("are told: more happens than a question may follow."), std::string::npos);
}

class ForecastTest : public AnswerTest {
 protected:
  AskWhen Second(bool visible = true) const {
    const Forecast forecast(std::make_shared<Present>(present_), learned_, {});
    const auto all = forecast.Of({1}, [visible](const Present::App&) { return visible; });
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? AskWhen{} : all.front();
  }
};

TEST_F(ForecastTest, SaysWhenAndAfterWhom) {
  Learn();
  const AskWhen when = Second();
  EXPECT_EQ(when.count, 4);
  ASSERT_TRUE(when.first.p50 && when.first.p90 && when.all.p90);
  EXPECT_EQ(when.first.p50->millis() / 1000, 59);
  EXPECT_EQ(when.reason, "after a container of application_1_0001 ends, in about 59 s");
  EXPECT_EQ(Second(false).reason, "after a container of somebody else's ends, in about 59 s");
}

/// Of its kind nothing is known, of its user something: the first future, which goes by kinds, never starts it.
TEST_F(ForecastTest, TheReasonIsOfAnyFutureThatStartsIt) {
  const Present::App& app = present_.apps[0];
  for (int i = 0; i < 10; ++i) {
    const Kinds kinds = KindsOf(app.user, app.kind, 1, false, model::Resources::Of(1024, 1));
    learned_->Learn(kinds[2], base::Duration::Seconds(60), {});
  }
  const AskWhen when = Second();
  ASSERT_TRUE(when.first.p50);
  EXPECT_EQ(when.reason, "after a container of application_1_0001 ends, in about 59 s");
}

TEST_F(ForecastTest, SaysThatItDoesNotKnow) {
  const AskWhen when = Second();
  EXPECT_FALSE(when.first.p50);
  EXPECT_FALSE(when.all.p90);
  EXPECT_EQ(when.reason.substr(0, 8), "unknown:");
}

TEST_F(ForecastTest, SaysNothingWhereItTakesTooLong) {
  Learn();
  int64_t looks = 0;
  Bounds bounds;
  bounds.ended = [&] { return ++looks > 10; };
  const Forecast forecast(std::make_shared<Present>(present_), learned_, bounds);
  EXPECT_LT(looks, 100) << "it goes on";
  EXPECT_TRUE(forecast.nexts().empty());
  EXPECT_EQ(forecast.ahead().ns, 0);
  const auto all = forecast.Of({1}, [](const Present::App&) { return true; });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].first.p50);
  EXPECT_EQ(all[0].reason, "unknown: it takes longer than a question may");
}

/// What waits for a container's end has no estimate while only other users' containers have ended; `learn_own`: those
/// of the present as well. How many asks waited so, and how many of them had an estimate.
std::pair<int, int> AsksAndEstimates(uint64_t seed, bool learn_own) {
  auto present = std::make_shared<Present>(RandomWorld(kTestProfiles[0], seed).Take());
  const auto closes = [](const Present::Node& node) { return !node.windows.empty(); };
  if (std::any_of(present->nodes.begin(), present->nodes.end(), closes)) return {};  // room comes without an end
  auto learned = std::make_shared<scheduler::RunTimes>();
  Present::App stranger = present->apps.front();
  stranger.user = "bob";
  stranger.kind = "other";
  for (int i = 1; i <= 50; ++i) {
    LearnOne(*learned, stranger, base::Duration::Seconds(i));
    if (learn_own) LearnOne(*learned, present->apps.front(), base::Duration::Seconds(i));
  }
  const Forecast forecast(present, learned, {});
  std::pair<int, int> found;
  for (const Present::App& app : present->apps) {
    for (const AskWhen& when : forecast.Of(app.index, [](const Present::App&) { return true; })) {
      // Waits for a place alone, or for room that is kept for a large ask.
      if (when.first.p50 && !when.reason.starts_with("after a container of ")) continue;
      ++found.first;
      found.second += when.first.p50 ? 1 : 0;
      EXPECT_TRUE(when.first.p50 || when.reason.starts_with("unknown:")) << seed << ": " << when.reason;
    }
  }
  return found;
}

TEST_F(ForecastTest, WhatStrangersTookSaysNothingOfThoseThatNobodyHasSeenEnd) {
  std::pair<int, int> unknown;
  int known = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto [asks, estimates] = AsksAndEstimates(seed, false);
    unknown = {unknown.first + asks, unknown.second + estimates};
    known += AsksAndEstimates(seed, true).second;
  }
  EXPECT_GT(unknown.first, 30);
  EXPECT_EQ(unknown.second, 0);
  EXPECT_GT(known, 30);
}

TEST_F(ForecastTest, TheLaterOfTenCasesIsLaterThanTheMiddle) {
  for (int i = 1; i <= 60; ++i) {
    LearnOne(*learned_, present_.apps[0], base::Duration::Seconds(i * 10));
  }
  const AskWhen when = Second();
  ASSERT_TRUE(when.first.p50 && when.first.p90 && when.all.p50);
  EXPECT_LT(*when.first.p50, *when.first.p90);
  EXPECT_LT(*when.first.p50, *when.all.p50);
}

}  // namespace
}  // namespace fairlead::process::ask

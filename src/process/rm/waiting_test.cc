#include "process/rm/waiting.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

namespace m = model::rm;
using model::scheduler::Pending;
using Reason = model::scheduler::PendingReason;

/// Applications that wait for their masters on a cluster without nodes.
class WaitingTest : public ::testing::Test {
 protected:
  WaitingTest() : machine_(fairlead::rm::Config{}, scheduler::MakeFairlead({})) { Do(m::Started{1000, 0, {}, {}}); }

  void Do(m::OuterEvent event) {
    std::vector<m::OuterEvent> events = {std::move(event)};
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_.Step({}, base::WallTime{5000}, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) {
        if (const auto* persist = std::get_if<m::Persist>(&effect)) {
          events.emplace_back(m::Persisted{persist->txn, true, ""});
        }
      }
    }
    summary_.Refresh(machine_, base::WallTime{5000});
  }
  void Submit(int32_t number) {
    m::Submit submit;
    submit.call = static_cast<m::CallToken>(number);
    submit.submission.id = {1000, number};
    submit.submission.user = "ann";
    submit.submission.queue = "a";
    model::Ask& ask = submit.submission.master_asks.emplace_back();
    ask.name = "*";
    ask.capability = model::Resources::Of(1024, 1);
    Do(submit);
  }
  /// One step of the survey; how many were asked.
  size_t Survey() {
    size_t asked = 0;
    waiting_.Survey(summary_.Rows(), [&](const AppRow& row) {
      ++asked;
      return machine_.scheduler().Why(row.app.index, {});
    });
    return asked;
  }

  ResourceMachine machine_;
  Summary summary_{[](const App&) { return LogStatuses{}; }};
  Waiting waiting_;
};

TEST_F(WaitingTest, EveryContainerThatWaitsIsCountedUnderItsReason) {
  for (int32_t i = 1; i <= 3; ++i) Submit(i);
  EXPECT_EQ(Survey(), 3u);
  EXPECT_EQ(waiting_.counts(), (Waiting::Counts{{Reason::kNoNodes, 3}}));
}

TEST_F(WaitingTest, AFewAreAskedEachTimeAndAllInARound) {
  const int32_t apps = 2 * Waiting::kAppsATime + 1;
  for (int32_t i = 1; i <= apps; ++i) Submit(i);
  EXPECT_EQ(Survey(), Waiting::kAppsATime);
  EXPECT_EQ(Survey(), Waiting::kAppsATime);
  EXPECT_EQ(Survey(), 1u);
  EXPECT_EQ(waiting_.counts().at(Reason::kNoNodes), apps);
}

TEST_F(WaitingTest, WhoWaitsNoMoreIsNotCountedAfterTheRound) {
  Submit(1);
  Submit(2);
  Survey();
  Do(m::KillApp{9, {1000, 1}, "no more"});
  EXPECT_EQ(Survey(), 1u);
  EXPECT_EQ(waiting_.counts().at(Reason::kNoNodes), 1);
  Do(m::KillApp{9, {1000, 2}, "no more"});
  EXPECT_EQ(Survey(), 0u);
  EXPECT_TRUE(waiting_.counts().empty());
}

}  // namespace
}  // namespace fairlead::process::rm

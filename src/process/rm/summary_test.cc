#include "process/rm/summary.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/fairlead.h"

// Random steps of every profile are in contract_test.cc; here is what a reader holds.

namespace fairlead::process::rm {
namespace {

namespace m = model::rm;

std::vector<std::string> NamesIn(const AppRows& rows) {
  std::vector<std::string> names;
  rows.ForEach([&](const AppRow& row) { names.push_back(row.app.submission.name); });
  return names;
}

class SummaryTest : public ::testing::Test {
 protected:
  SummaryTest() : machine_(fairlead::rm::Config{}, scheduler::MakeFairlead({})) { Do(m::Started{1000, 0, {}, {}}); }

  /// With a store that takes everything.
  void Do(m::OuterEvent event) {
    std::vector<m::OuterEvent> events = {std::move(event)};
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_.Step({}, wall_, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) {
        if (const auto* persist = std::get_if<m::Persist>(&effect)) {
          events.emplace_back(m::Persisted{persist->txn, true, ""});
        }
        if (const auto* answer = std::get_if<m::AllocateAnswer>(&effect)) answered_ = answer->response_id;
      }
    }
  }
  void Submit(int32_t number, const std::string& name) {
    m::Submit submit;
    submit.call = static_cast<m::CallToken>(number);
    submit.submission.id = {1000, number};
    submit.submission.user = "ann";
    submit.submission.queue = "a";
    submit.submission.name = name;
    submit.submission.unmanaged = true;
    Do(submit);
  }
  void Refresh() {
    summary_.Refresh(machine_, wall_);
    EXPECT_EQ(summary_.Check(machine_, wall_), "");
  }

  base::WallTime wall_{5000};
  int32_t answered_ = 0;  // to the last allocate call
  ResourceMachine machine_;
  Summary summary_{[](const App&) { return LogStatuses{}; }};
};

TEST_F(SummaryTest, WhatAReaderHoldsDoesNotChange) {
  for (int32_t i = 1; i <= 300; ++i) Submit(i, "app" + std::to_string(i));
  Refresh();
  const AppRows before = summary_.Rows();
  Submit(301, "later");
  Do(m::KillApp{1, {1000, 7}, "no more"});
  Refresh();
  EXPECT_EQ(NamesIn(before).size(), 300u);
  const std::vector<std::string> now = NamesIn(summary_.Rows());
  ASSERT_EQ(now.size(), 301u);
  EXPECT_EQ(now.front(), "app1");
  EXPECT_EQ(now.back(), "later");
}

TEST_F(SummaryTest, SumsStandUnderTheQueueAndAboveIt) {
  Submit(1, "one");
  Submit(2, "two");
  Refresh();
  int64_t below = 0;
  for (const int64_t apps : summary_.queues().at("root").apps) below += apps;
  EXPECT_EQ(below, 2);
  EXPECT_EQ(summary_.cluster().all, summary_.queues().at("root"));
  EXPECT_EQ(summary_.cluster().all.without_master, 2);
}

TEST_F(SummaryTest, ACallThatSaysNothingNewMakesNoRowAnew) {
  Submit(1, "one");
  m::AllocateCall call;
  call.attempt = {{1000, 1}, 1};
  Do(m::RegisterMaster{9, call.attempt, "host", 1, ""});
  Refresh();
  call.call = 10;
  Do(call);
  ASSERT_EQ(answered_, 1) << "it was no idle call";
  EXPECT_TRUE(machine_.TakeTouchedApps().empty());
  call.call = 11;
  call.response_id = 1;
  call.progress = 0.5F;
  Do(call);
  EXPECT_EQ(machine_.TakeTouchedApps().size(), 1u);
}

TEST_F(SummaryTest, ANodeThatIsHealthyAgainIsCountedAgain) {
  m::RegisterNode node;
  node.call = 1;
  node.address = {"n1", 1};
  node.capacity = model::Resources::Of(4096, 4);
  Do(node);
  Refresh();
  m::Heartbeat beat;
  beat.call = 2;
  beat.address = node.address;
  for (const bool healthy : {false, true}) {
    beat.healthy = healthy;
    Do(beat);
    ++beat.response_id;
    Refresh();
    EXPECT_EQ(summary_.cluster().running_capacity.memory_mib(), healthy ? 4096 : 0);
  }
  beat.healthy = false;
  Do(beat);
  Refresh();
  EXPECT_EQ(summary_.cluster().running_capacity.memory_mib(), 0);
}

TEST_F(SummaryTest, UsageGoesOnWithTimeWithoutANewRow) {
  UsageRecord record;
  record.at = base::WallTime{1000};
  record.used = model::Resources::Of(100, 2);
  record.memory_ms = 500;
  EXPECT_EQ(UsageAt(record, base::WallTime{11'000}).memory_seconds, 1000);
  EXPECT_EQ(UsageAt(record, base::WallTime{11'000}).vcore_seconds, 20);
  EXPECT_EQ(UsageAt(record, base::WallTime{0}).memory_seconds, 0);
}

}  // namespace
}  // namespace fairlead::process::rm

#include "process/rm/lately.h"

#include <gtest/gtest.h>

#include "model/exit_status.h"

namespace fairlead::process::rm {
namespace {

using fairlead::rm::Core;
namespace ms = model::scheduler;

Happening Of(HappeningKind kind, int32_t app, const std::string& queue, const std::string& node = "") {
  Happening one;
  one.kind = kind;
  one.app = {1000, app};
  one.queue = queue;
  one.node = node;
  return one;
}

TEST(Lately, AFloodOfOneKindLeavesTheOthers) {
  Lately lately;
  lately.Add(Of(HappeningKind::kPreempted, 1, "root.a"));
  for (size_t i = 0; i < Lately::kMostOfAKind * 2; ++i) lately.Add(Of(HappeningKind::kGranted, 2, "root.b"));
  const auto all = lately.Find({}, SIZE_MAX);
  ASSERT_EQ(all.size(), Lately::kMostOfAKind + 1);
  EXPECT_GT(all[0]->number, all[1]->number);
  EXPECT_EQ(all.back()->kind, HappeningKind::kPreempted);
  EXPECT_EQ(lately.Count(HappeningKind::kGranted), Lately::kMostOfAKind * 2);
}

TEST(Lately, FiltersByApplicationQueueNodeKindAndNumber) {
  Lately lately;
  lately.Add(Of(HappeningKind::kGranted, 1, "root.a", "n1:1"));
  lately.Add(Of(HappeningKind::kEnded, 1, "root.a.x", "n2:1"));
  lately.Add(Of(HappeningKind::kGranted, 2, "root.ab", "n1:1"));
  Lately::Filter filter;
  filter.queue = "root.a";
  EXPECT_EQ(lately.Find(filter, 9).size(), 2U);  // with what is below, without what begins alike
  filter.kind = "ended";
  EXPECT_EQ(lately.Find(filter, 9).size(), 1U);
  filter = {};
  filter.node = "n1:1";
  EXPECT_EQ(lately.Find(filter, 9).size(), 2U);
  EXPECT_EQ(lately.Find(filter, 1).size(), 1U);
  filter.app = {1000, 2};
  EXPECT_EQ(lately.Find(filter, 9).size(), 1U);
  filter = {};
  filter.after = 2;
  EXPECT_EQ(lately.Find(filter, 9).size(), 1U);
}

TEST(Lately, TellsOfTheSchedulersEffectsWithoutKnowingTheApplication) {
  Lately lately;
  const Core core{fairlead::rm::Config{}};
  ms::Finished taken;
  taken.exit_status = model::kExitPreempted;
  ms::Finished ended;
  ended.exit_status = 139;
  const std::vector<ms::Effect> effects = {ms::Granted{}, taken, ended, ms::AllocateAnswered{}, ms::Reserved{}};
  lately.Record(base::WallTime{77}, core, effects);
  const auto all = lately.Find({}, 9);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3]->kind, HappeningKind::kGranted);
  EXPECT_EQ(all[2]->kind, HappeningKind::kPreempted);
  EXPECT_EQ(all[1]->exit_status, 139);
  EXPECT_EQ(all[0]->kind, HappeningKind::kHeld);
  EXPECT_EQ(all[0]->at.ms, 77);
}

TEST(Lately, StatesNameTheirApplicationOrNode) {
  Lately lately;
  const Core core{fairlead::rm::Config{}};
  lately.Record({}, core, {"appattempt_1000_0007_000001", "NEW", "LAUNCHED", "", {1000, 7}});
  lately.Record({}, core, {"n1:4000", "RUNNING", "LOST", "silent", {}});
  const auto all = lately.Find({}, 9);
  EXPECT_EQ(all[1]->app.number, 7);
  EXPECT_EQ(all[0]->node, "n1:4000");
  EXPECT_EQ(all[0]->detail, "n1:4000 is LOST: silent");
}

}  // namespace
}  // namespace fairlead::process::rm

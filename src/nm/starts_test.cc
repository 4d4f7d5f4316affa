#include "nm/starts.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

const model::ContainerId kId{{{1000, 1}, 1}, 7};

std::vector<model::StoreRow> Written(Rows& rows) {
  EffectSink out;
  rows.Commit(0, out);
  return out.empty() ? std::vector<model::StoreRow>{} : std::get<model::nm::Persist>(out.front()).rows;
}

TEST(Starts, ATokenIsKeptWhileItIsGoodAlsoWhenItsContainerIsForgotten) {
  Starts starts(base::Duration::Seconds(10));
  Rows rows;
  starts.Note(kId, {5000});
  starts.Stopped(kId, {}, {4000}, rows);
  std::vector<model::StoreRow> written = Written(rows);
  ASSERT_EQ(written.size(), 2u);
  EXPECT_TRUE(written[0].table == kContainersTable && written[0].remove);
  EXPECT_TRUE(written[1].table == kSpentTokensTable && !written[1].remove);

  starts.ForgetTokens(
      {5000}, [](const auto&) { return false; }, rows);
  EXPECT_TRUE(starts.Has(kId)) << "good until then";
  starts.ForgetTokens(
      {5001}, [](const auto&) { return true; }, rows);
  EXPECT_TRUE(starts.Has(kId)) << "its container is known";
  starts.ForgetTokens(
      {5001}, [](const auto&) { return false; }, rows);
  EXPECT_FALSE(starts.Has(kId));
  written = Written(rows);
  ASSERT_EQ(written.size(), 1u);
  EXPECT_TRUE(written[0].table == kSpentTokensTable && written[0].remove);
}

TEST(Starts, ATokenThatIsGoodNoMoreLeavesNoRow) {
  Starts starts(base::Duration::Seconds(10));
  Rows rows;
  starts.Note(kId, {5000});
  starts.DropRow(kId, {5001}, rows);
  EXPECT_EQ(Written(rows).size(), 1u);
}

TEST(Starts, CountsAsStoppedForAWhile) {
  Starts starts(base::Duration::Seconds(10));
  Rows rows;
  starts.Stopped(kId, {}, {}, rows);
  starts.ForgetStopped(base::Instant{} + base::Duration::Millis(9999));
  EXPECT_TRUE(starts.RecentlyStopped(kId));
  starts.ForgetStopped(base::Instant{} + base::Duration::Seconds(10));
  EXPECT_FALSE(starts.RecentlyStopped(kId));
}

}  // namespace
}  // namespace fairlead::nm

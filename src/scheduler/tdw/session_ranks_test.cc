#include "scheduler/tdw/session_ranks.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::scheduler::tdw {
namespace {

model::ApplicationId Id(int32_t number) { return {1'700'000'000'000, number}; }

TEST(SessionRanksTest, EarlierStartThenNameAsText) {
  SessionRanks ranks;
  ranks.Enter({5}, Id(9999));
  ranks.Enter({5}, Id(10'000));
  ranks.Enter({4}, Id(3));
  ranks.Enter({5}, Id(7));
  EXPECT_LT(ranks.Of({4}, Id(3)), ranks.Of({5}, Id(7)));
  EXPECT_LT(ranks.Of({5}, Id(7)), ranks.Of({5}, Id(10'000)));
  EXPECT_LT(ranks.Of({5}, Id(10'000)), ranks.Of({5}, Id(9999)));  // "1..." comes before "9..."
}

TEST(SessionRanksTest, NumbersAreGivenAnewWhenNoneIsLeft) {
  SessionRanks ranks;
  ranks.Enter({1}, Id(1));
  ranks.Enter({1'000'000}, Id(2));
  bool anew = false;
  // Each comes between the first and the one before it.
  for (int64_t start = 100'000; start > 99'900; --start) anew |= ranks.Enter({start}, Id(3));
  EXPECT_TRUE(anew);
  for (int64_t start = 100'000; start > 99'901; --start) {
    EXPECT_LT(ranks.Of({start - 1}, Id(3)), ranks.Of({start}, Id(3)));
  }
  EXPECT_LT(ranks.Of({1}, Id(1)), ranks.Of({99'901}, Id(3)));
  EXPECT_LT(ranks.Of({100'000}, Id(3)), ranks.Of({1'000'000}, Id(2)));
}

}  // namespace
}  // namespace fairlead::scheduler::tdw

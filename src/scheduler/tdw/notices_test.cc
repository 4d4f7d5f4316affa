#include "scheduler/tdw/notices.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::tdw {
namespace {

model::ContainerId Id(int32_t app, int64_t container) { return {{{1'700'000'000'000, app}, 1}, container}; }

TEST(NoticesTest, HashIsJavas) {
  EXPECT_EQ(JavaHash(""), 0);
  EXPECT_EQ(JavaHash("hello"), 99162322);
  EXPECT_EQ(JavaHash("application_1700000000000_0001"), JavaHash("application_1700000000000_0002") - 1);
}

TEST(NoticesTest, OneMessageASessionInTheOrderOfItsFirstNotice) {
  Notices notices(1);
  notices.Granted({2}, Id(2, 1));
  notices.Granted({1}, Id(1, 1));
  notices.Preempted({2}, Id(2, 1));
  notices.Granted({2}, Id(2, 2));
  const std::vector<Notices::Message> told = notices.Take();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].session.value, 2u);
  EXPECT_EQ(told[0].granted, (std::vector{Id(2, 1), Id(2, 2)}));
  EXPECT_EQ(told[0].preempted, std::vector{Id(2, 1)});
  EXPECT_EQ(told[1].session.value, 1u);
  EXPECT_TRUE(notices.Take().empty());
}

TEST(NoticesTest, ASessionBelongsToOneThread) {
  Notices notices(2);
  for (int32_t app = 1; app <= 4; ++app) notices.Granted({static_cast<uint32_t>(app)}, Id(app, 1));
  const std::vector<Notices::Message> told = notices.Take();
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0].thread, told[1].thread);
  EXPECT_EQ(told[0].session.value + 2, told[1].session.value);  // hashes of neighbours are neighbours
  EXPECT_NE(told[1].thread, told[2].thread);
}

}  // namespace
}  // namespace fairlead::scheduler::tdw

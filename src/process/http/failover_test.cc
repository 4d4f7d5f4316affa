#include "process/http/failover.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::process::http {
namespace {

TEST(FailoverTest, TheNextIsAskedAtOnceAndLaterOnesAfterAWaitThatDoubles) {
  Failover turns(2, 1);
  std::vector<int64_t> waits;
  std::vector<size_t> asked = {turns.at()};
  while (const auto wait = turns.Next()) {
    waits.push_back(wait->millis());
    asked.push_back(turns.at());
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{0, 1000, 2000, 4000, 8000, 15000, 15000, 15000, 15000, 15000, 15000, 15000,
                                         15000, 15000, 15000}));
  EXPECT_EQ((std::vector<size_t>(asked.begin(), asked.begin() + 3)), (std::vector<size_t>{1, 0, 1}));
}

TEST(FailoverTest, OneServerAloneIsAskedOnce) { EXPECT_FALSE(Failover(1, 0).Next()); }

TEST(RemoteExceptionTest, IsReadWhateverComes) {
  const auto standby = ReadRemoteException(
      R"({"RemoteException":{"exception":"StandbyException","message":"Operation category READ is not supported"}})");
  ASSERT_TRUE(standby);
  EXPECT_TRUE(standby->is_standby());
  EXPECT_EQ(standby->message, "Operation category READ is not supported");
  for (const char* other : {"", "x", "7", "{}", R"({"RemoteException":7})"}) EXPECT_FALSE(ReadRemoteException(other));
  EXPECT_EQ(ReadRemoteException(R"({"RemoteException":{"exception":7}})")->name, "");
}

}  // namespace
}  // namespace fairlead::process::http

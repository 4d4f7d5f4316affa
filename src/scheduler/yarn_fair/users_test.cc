#include "scheduler/yarn_fair/users.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::yarn_fair {
namespace {

using hadoop::AttemptId;

uint64_t HashOf(const Users& users) {
  base::StateHasher hash;
  users.Mix(hash);
  return hash.value();
}

TEST(Users, AreCountedWhileTheirApplicationsRun) {
  Users users;
  const uint64_t nobody = HashOf(users);
  users.Run("ann");
  users.Run("ann");
  EXPECT_EQ(users.Running("ann"), 2);
  EXPECT_EQ(users.Running("bob"), 0);
  users.StopRunning("ann");
  EXPECT_EQ(users.Running("ann"), 1);
  EXPECT_NE(HashOf(users), nobody);
  users.StopRunning("ann");
  EXPECT_EQ(HashOf(users), nobody) << "forgotten";
}

TEST(Users, ApplicationsWaitInOrderOfArrival) {
  Users users;
  const uint64_t nobody = HashOf(users);
  users.Wait("ann", AttemptId{3});
  users.Wait("ann", AttemptId{1});
  EXPECT_EQ(users.Waiting("ann"), (std::vector<AttemptId>{{3}, {1}}));
  users.StopWaiting("ann", AttemptId{3});
  users.StopWaiting("ann", AttemptId{9});
  users.StopWaiting("bob", AttemptId{1});
  EXPECT_EQ(users.Waiting("ann"), (std::vector<AttemptId>{{1}}));
  users.StopWaiting("ann", AttemptId{1});
  EXPECT_EQ(HashOf(users), nobody) << "forgotten";
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_fair

// env::Alive and env::Timer: what waits ends with its owner.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "env/alive.h"
#include "env/timer.h"
#include "env_sim/world.h"

namespace fairlead::env_sim {
namespace {

class Owners : public testing::Test {
 protected:
  void RunAll() {
    while (world_.Step()) {
    }
  }

  World world_{1};
  env::Loop& loop_ = world_.AddMachine("here").loop();
  std::vector<int> ran_;
};

TEST_F(Owners, ACallbackThatIsWrappedEndsWithItsOwner) {
  auto alive = std::make_unique<env::Alive>();
  loop_.Post((*alive)([this] { ran_.push_back(1); }));
  RunAll();
  EXPECT_EQ(ran_, (std::vector<int>{1}));

  loop_.Post((*alive)([this] { ran_.push_back(2); }));
  const env::Alive::Watch watch = alive->watch();
  EXPECT_TRUE(watch);
  alive.reset();
  EXPECT_FALSE(watch);
  RunAll();
  EXPECT_EQ(ran_, (std::vector<int>{1}));
}

TEST_F(Owners, TheEndMayBeEarlierThanTheOwners) {
  env::Alive alive;
  std::function<void(int)> tell = alive([this](int what) { ran_.push_back(what); });
  tell(1);
  alive.End();
  tell(2);
  EXPECT_EQ(ran_, (std::vector<int>{1}));
}

TEST_F(Owners, ACallbackMayEndItsOwner) {
  auto alive = std::make_unique<env::Alive>();
  std::function<void()> end = (*alive)([this, &alive] {
    alive.reset();
    ran_.push_back(1);
  });
  end();
  end();
  EXPECT_EQ(ran_, (std::vector<int>{1}));
}

TEST_F(Owners, ATimerRunsOnceForEachStart) {
  env::Timer timer(loop_);
  EXPECT_FALSE(timer.waits());
  EXPECT_EQ(timer.due(), base::Instant::Max());
  timer.After(base::Duration::Seconds(1), [&] {
    EXPECT_FALSE(timer.waits());
    ran_.push_back(1);
    timer.After(base::Duration::Seconds(1), [this] { ran_.push_back(2); });
  });
  EXPECT_EQ(timer.due(), loop_.Now() + base::Duration::Seconds(1));
  RunAll();
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  EXPECT_FALSE(timer.waits());
}

TEST_F(Owners, ATimerThatIsStartedAgainIsMoved) {
  env::Timer timer(loop_);
  timer.After(base::Duration::Seconds(1), [this] { ran_.push_back(1); });
  timer.After(base::Duration::Seconds(2), [this] { ran_.push_back(2); });
  RunAll();
  EXPECT_EQ(ran_, (std::vector<int>{2}));

  timer.After(base::Duration::Seconds(1), [this] { ran_.push_back(3); });
  timer.At(base::Instant::Max(), [this] { ran_.push_back(4); });
  EXPECT_FALSE(timer.waits());
  RunAll();
  EXPECT_EQ(ran_, (std::vector<int>{2}));
}

TEST_F(Owners, ATimerEndsWithItsOwner) {
  std::optional<env::Timer> timer(std::in_place, loop_);
  timer->After(base::Duration::Seconds(1), [this] { ran_.push_back(1); });
  timer.reset();
  RunAll();
  EXPECT_TRUE(ran_.empty());
}

}  // namespace
}  // namespace fairlead::env_sim

#include "process/driver/executor_server.h"

#include <gtest/gtest.h>

#include "env_sim/world.h"
#include "process/driver/no_plans_for_test.h"
#include "process/executor/driver_connection.h"

namespace fairlead::process::driver {
namespace {

class Pair : public testing::Test {
 protected:
  Pair() {
    ExecutorServer::Callbacks callbacks;
    callbacks.admit = [](const wire::engine::Hello& hello) -> base::Result<ExecutorInfo> {
      return ExecutorInfo{hello.executor_id, "e", "", 1, "", 0};
    };
    callbacks.on_ready = [this](const std::string&, model::tasks::ExecutorIndex) { ready_ = true; };
    callbacks.on_lost = [this](const std::string&, model::tasks::ExecutorIndex, const std::string& why) {
      lost_ = why;
      return false;
    };
    server_ = std::make_unique<ExecutorServer>(driver_.loop(), driver_.net(), jobs_, "secret", "build", callbacks);
    EXPECT_TRUE(server_->Listen({"d", 7000}).ok());
    Connect("secret");
  }
  void Connect(const std::string& secret) {
    wire::engine::Hello hello;
    hello.build_id = "build";
    hello.executor_id = "1";
    executor::DriverConnection::Callbacks callbacks;
    callbacks.on_welcome = [](const wire::engine::Welcome&) {};
    callbacks.on_message = [this](const wire::engine::Message&) { ++messages_; };
    callbacks.on_end = [this](const std::string& why, bool) { ended_ = why; };
    connection_ = std::make_unique<executor::DriverConnection>(executor_.loop(), executor_.net(), secret, hello,
                                                               std::move(callbacks));
    connection_->Connect({"d", 7000});
  }
  void Run(int seconds) {
    world_.RunUntil(world_.now() + base::Duration::Seconds(seconds), [] { return false; });
  }

  env_sim::World world_{1};
  env_sim::Machine& driver_ = world_.AddMachine("d");
  env_sim::Machine& executor_ = world_.AddMachine("e");
  NoPlans plans_;
  JobDriver jobs_{driver_.loop(), tasks::Config{}, plans_};
  std::unique_ptr<ExecutorServer> server_;
  std::unique_ptr<executor::DriverConnection> connection_;
  bool ready_ = false;
  int messages_ = 0;
  std::string lost_;
  std::string ended_;
};

TEST_F(Pair, LongQuietIsNoLoss) {
  Run(3600);
  EXPECT_TRUE(ready_);
  EXPECT_EQ(server_->connected(), 1u);
  EXPECT_EQ(lost_ + ended_, "");
  EXPECT_EQ(messages_, 0) << "signs of life are nobody else's business";
}

TEST_F(Pair, APeerThatFallsSilentIsGone) {
  Run(15);
  ASSERT_TRUE(ready_);
  world_.faults().half_open = 1;
  Run(135);
  EXPECT_EQ(server_->connected(), 0u);
  EXPECT_EQ(jobs_.live_executors(), 0);
  EXPECT_EQ(lost_, "nothing was heard of it");
  EXPECT_EQ(ended_, "nothing was heard of the driver");
}

TEST_F(Pair, WrongSecretIsRefused) {
  Run(1);
  Connect("another");
  Run(1);
  EXPECT_EQ(ended_, "the driver refused this executor: wrong secret");
}

}  // namespace
}  // namespace fairlead::process::driver

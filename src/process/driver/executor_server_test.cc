#include "process/driver/executor_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env_sim/world.h"
#include "process/driver/no_plans_for_test.h"
#include "process/executor/driver_connection.h"

namespace fairlead::process::driver {
namespace {

/// Who answers where a driver is expected, and knows no secret: a challenge, then orders to whoever says hello.
class Impostor : public env::StreamHandler {
 public:
  explicit Impostor(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) {
    stream_->Start(this);
    Say(wire::engine::Challenge{std::string(32, 'n')});
  }
  void OnData(std::string_view) override {
    for (const wire::engine::Message& order :
         {wire::engine::Message(wire::engine::Welcome{}), wire::engine::Message(wire::engine::Forget{}),
          wire::engine::Message(wire::engine::Kill{})}) {
      Say(order);
    }
  }
  void OnClosed(const std::string&) override {}

 private:
  void Say(const wire::engine::Message& message) {
    std::string frame;
    AppendFrame(frame, message);
    stream_->Write(std::move(frame));
  }
  std::unique_ptr<env::Stream> stream_;
};

/// Who sits on the wire between both, hears everything, and may change a byte that the driver sends.
class Wire {
 public:
  Wire(env_sim::Machine& at, env::Endpoint driver) : at_(at), driver_(std::move(driver)) {
    auto listener =
        at.net().Listen({"w", 7000}, [this](std::unique_ptr<env::Stream> stream) { Join(std::move(stream)); });
    EXPECT_TRUE(listener.ok());
    listener_ = std::move(*listener);
  }
  const std::string& heard() const { return heard_; }
  void ChangeWhatFollows() { changes_ = true; }

 private:
  struct Side : public env::StreamHandler {
    Side(Wire& of, std::unique_ptr<env::Stream> from, bool is_drivers)
        : wire(of), stream(std::move(from)), drivers(is_drivers) {}
    void OnData(std::string_view bytes) override {
      std::string passed(bytes);
      wire.heard_ += passed;
      if (drivers && wire.changes_) passed.back() = static_cast<char>(passed.back() ^ 1);
      (drivers ? wire.executor_ : wire.driver_side_)->stream->Write(std::move(passed));
    }
    void OnClosed(const std::string&) override { (drivers ? wire.executor_ : wire.driver_side_)->stream->Close(); }
    Wire& wire;
    std::unique_ptr<env::Stream> stream;
    const bool drivers;
  };
  void Join(std::unique_ptr<env::Stream> executor) {
    executor_ = std::make_unique<Side>(*this, std::move(executor), false);
    at_.net().Connect(driver_, base::Duration::Seconds(5), [this](base::Result<std::unique_ptr<env::Stream>> driver) {
      ASSERT_TRUE(driver.ok());
      driver_side_ = std::make_unique<Side>(*this, std::move(*driver), true);
      driver_side_->stream->Start(driver_side_.get());
      executor_->stream->Start(executor_.get());
    });
  }

  env_sim::Machine& at_;
  const env::Endpoint driver_;
  std::unique_ptr<env::Listener> listener_;
  std::unique_ptr<Side> executor_;
  std::unique_ptr<Side> driver_side_;
  std::string heard_;
  bool changes_ = false;
};

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
  void Connect(const std::string& secret, const env::Endpoint& driver = {"d", 7000}) {
    wire::engine::Hello hello;
    hello.build_id = "build";
    hello.executor_id = "1";
    executor::DriverConnection::Callbacks callbacks;
    callbacks.on_welcome = [](const wire::engine::Welcome&) {};
    callbacks.on_message = [this](const wire::engine::Message&) { ++messages_; };
    callbacks.on_end = [this](const std::string& why, bool orderly) {
      ended_ = why;
      orderly_ = orderly;
    };
    connection_ = std::make_unique<executor::DriverConnection>(executor_.loop(), executor_.net(), secret, hello,
                                                               std::move(callbacks));
    connection_->Connect(driver);
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
  bool orderly_ = false;
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

TEST_F(Pair, WhoComesLateIsToldThatTheJobIsDone) {
  Run(1);
  server_->ShutDown("the job is done");
  Run(1);
  ended_.clear();
  Connect("secret");
  Run(1);
  EXPECT_EQ(ended_, "the job is done");
  EXPECT_TRUE(orderly_);
}

TEST_F(Pair, ADriverThatIsNotThereIsTriedUntilItsExecutorWouldHaveBeenEnded) {
  server_.reset();
  Connect("secret");
  Run(5);
  EXPECT_EQ(ended_, "") << "its node ends it together with its application";
  Run(30);
  EXPECT_THAT(ended_, testing::HasSubstr("cannot reach the driver: "));
  EXPECT_FALSE(orderly_);
}

TEST_F(Pair, WrongSecretIsRefused) {
  Run(1);
  Connect("another");
  Run(1);
  EXPECT_EQ(ended_, "the driver refused this executor: wrong secret");
}

TEST_F(Pair, WhoDoesNotKnowTheSecretGivesNoOrders) {
  std::unique_ptr<Impostor> impostor;
  auto listener = driver_.net().Listen({"d", 7001}, [&impostor](std::unique_ptr<env::Stream> stream) {
    impostor = std::make_unique<Impostor>(std::move(stream));
  });
  ASSERT_TRUE(listener.ok());
  Connect("secret", {"d", 7001});
  Run(1);
  EXPECT_TRUE(impostor);
  EXPECT_EQ(messages_, 0);
  EXPECT_EQ(ended_, "what answers at the driver's address has not shown that it knows the application's secret");
}

TEST_F(Pair, WhoHearsThemReadsNothing) {
  Run(1);
  Wire wire(world_.AddMachine("w"), {"d", 7000});
  ready_ = false;
  Connect("secret", {"w", 7000});
  Run(1);
  EXPECT_TRUE(ready_) << ended_;
  server_->ShutDown("what nobody else reads");
  Run(1);
  EXPECT_EQ(ended_, "what nobody else reads");
  EXPECT_GT(wire.heard().size(), 100u);
  EXPECT_EQ(wire.heard().find("nobody"), std::string::npos);
}

TEST_F(Pair, WhoChangesAByteBetweenThemEndsThem) {
  Run(1);
  Wire wire(world_.AddMachine("w"), {"d", 7000});
  Connect("secret", {"w", 7000});
  Run(1);
  wire.ChangeWhatFollows();
  server_->ShutDown("all is well");
  Run(1);
  EXPECT_EQ(ended_,
            "the driver sent something malformed: a sealed record was changed on its way, or is not the next one");
}

}  // namespace
}  // namespace fairlead::process::driver

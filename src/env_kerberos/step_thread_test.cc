#include "env_kerberos/step_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::env_kerberos {
namespace {

/// Keeps what other threads post.
class Posts final : public env::Loop {
 public:
  base::Instant Now() const override { return {}; }
  base::WallTime Wall() const override { return {}; }
  TimerId At(base::Instant, Callback) override { return 0; }
  void Cancel(TimerId) override {}
  void Post(Callback callback) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  void Offload(Callback, Callback) override {}
  void RandomBytes(std::span<uint8_t>) override {}

  void Run() {
    const std::lock_guard lock(mutex_);
    for (const Callback& one : std::exchange(posted_, {})) one();
  }

 private:
  std::mutex mutex_;
  std::vector<Callback> posted_;
};

/// The thread is busy until Order(); what waits then is done in turns.
class StepThreadTest : public testing::Test {
 protected:
  StepThreadTest() {
    std::promise<void> begun;
    const auto wait = [&]() -> env::Loop::Callback {
      begun.set_value();
      open_.get_future().wait();
      return [] {};
    };
    thread_.Do("busy", wait, [] {});
    begun.get_future().wait();
  }
  void Add(const std::string& address, int number) {
    const std::string name = address + std::to_string(number);
    const auto note = [this, name]() -> env::Loop::Callback {
      order_.push_back(name);
      if (order_.size() == added_ - refused_.size()) done_.set_value();
      return [] {};
    };
    ++added_;
    thread_.Do(address, note, [this, name] { refused_.push_back(name); });
    loop_.Run();
  }
  /// In which order all were done.
  const std::vector<std::string>& Order() {
    open_.set_value();
    done_.get_future().wait();
    return order_;
  }

  Posts loop_;
  std::promise<void> open_, done_;
  size_t added_ = 0;
  std::vector<std::string> order_;  // the thread's, until done_
  std::vector<std::string> refused_;
  StepThread thread_{loop_};
};

TEST_F(StepThreadTest, AddressesTakeTurns) {
  for (int i = 0; i < 500; ++i) Add("10.0.0.1/", i);
  for (int i = 0; i < 2; ++i) Add("10.0.0.2/", i);
  const auto& order = Order();
  ASSERT_EQ(order.size(), 502U);
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 5),
            (std::vector<std::string>{"10.0.0.1/0", "10.0.0.2/0", "10.0.0.1/1", "10.0.0.2/1", "10.0.0.1/2"}));
  EXPECT_EQ(order.back(), "10.0.0.1/499");
}

TEST_F(StepThreadTest, WhoHasMostIsRefused) {
  constexpr int kMost = StepThread::kWaitingMost;
  for (int i = 0; i < kMost; ++i) Add("10.0.0.1/", i);
  EXPECT_TRUE(refused_.empty());
  Add("10.0.0.2/", 0);
  EXPECT_EQ(refused_, (std::vector{"10.0.0.1/" + std::to_string(kMost - 1)}));
  Add("10.0.0.1/", kMost);
  EXPECT_EQ(refused_.back(), "10.0.0.1/" + std::to_string(kMost));
  const auto& order = Order();
  EXPECT_EQ(order.size(), static_cast<size_t>(kMost));
  EXPECT_EQ(order[1], "10.0.0.2/0");
}

}  // namespace
}  // namespace fairlead::env_kerberos

#include "process/shuffle/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace fairlead::process::shuffle {
namespace {

using base::Duration;
using testing::ElementsAre;
using testing::IsEmpty;

/// A loop whose work off it runs when the test says so.
class HeldLoop final : public env::Loop {
 public:
  base::Instant Now() const override { return now; }
  base::WallTime Wall() const override { return {}; }
  TimerId At(base::Instant, Callback) override { return 0; }
  void Cancel(TimerId) override {}
  void Post(Callback callback) override { posted.push_back(std::move(callback)); }
  void Offload(Callback work, Callback done) override { held.emplace_back(std::move(work), std::move(done)); }
  void RandomBytes(std::span<uint8_t>) override {}

  void RunPosted() {
    while (!posted.empty()) {
      const Callback callback = std::move(posted.front());
      posted.pop_front();
      callback();
    }
  }
  /// Ends the work that has run longest.
  void FinishOne() {
    const auto [work, done] = std::move(held.front());
    held.pop_front();
    work();
    done();
    RunPosted();
  }

  base::Instant now;
  std::deque<Callback> posted;
  std::deque<std::pair<Callback, Callback>> held;
};

class ReadAheadTest : public testing::Test {
 protected:
  void Read(uint32_t disk, const std::string& file, int64_t offset = 0) {
    ahead_.Read(
        disk, {file, -1, offset}, [this, file] { worked_.push_back(file); },
        [this, file](bool answered) { done_.push_back(file + (answered ? "" : " unanswered")); });
  }
  HeldLoop loop_;
  ReadAhead ahead_{loop_, 2, Duration::Seconds(60)};
  std::vector<std::string> worked_;
  std::vector<std::string> done_;
};

TEST_F(ReadAheadTest, OneDiskGoesInOneDirection) {
  for (const char* file : {"m", "z", "b", "n", "a"}) Read(0, file);
  while (!loop_.held.empty()) loop_.FinishOne();
  EXPECT_THAT(worked_, ElementsAre("m", "n", "z", "a", "b"));
  EXPECT_EQ(done_, worked_);
}

TEST_F(ReadAheadTest, TheSamePlaceIsReadOnce) {
  for (int i = 0; i < 3; ++i) Read(0, "running");
  for (int i = 0; i < 3; ++i) Read(0, "waiting");
  while (!loop_.held.empty()) loop_.FinishOne();
  EXPECT_THAT(worked_, ElementsAre("running", "waiting"));
  EXPECT_EQ(done_.size(), 6u);
}

TEST_F(ReadAheadTest, ASilentDiskFailsItsReadersAlone) {
  Read(0, "stuck");
  Read(0, "behind it");
  loop_.now = loop_.now + Duration::Seconds(59);
  Read(1, "other disk");
  EXPECT_THAT(ahead_.FindSilent(), IsEmpty());
  loop_.now = loop_.now + Duration::Seconds(1);
  EXPECT_THAT(ahead_.FindSilent(), ElementsAre(0));
  EXPECT_THAT(ahead_.FindSilent(), IsEmpty()) << "told once";
  Read(0, "later");
  loop_.RunPosted();
  EXPECT_THAT(done_, ElementsAre("stuck unanswered", "behind it unanswered", "later unanswered"));
  // The disk answers after all: it is used again, and nobody is told twice.
  done_.clear();
  loop_.FinishOne();
  EXPECT_THAT(done_, IsEmpty());
  Read(0, "again");
  loop_.FinishOne();
  loop_.FinishOne();
  EXPECT_THAT(done_, ElementsAre("other disk", "again"));
  EXPECT_EQ(ahead_.counters().waiting, 0u);
}

}  // namespace
}  // namespace fairlead::process::shuffle

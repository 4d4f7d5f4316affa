#include "process/driver/kept_blocks.h"

#include <gtest/gtest.h>

namespace fairlead::process::driver {
namespace {

namespace we = wire::engine;

class KeptBlocksTest : public testing::Test {
 protected:
  void Ask(uint32_t asker, uint64_t token, std::vector<uint32_t> holders) {
    std::vector<we::Place> places;
    for (const uint32_t holder : holders) places.push_back({holder, std::to_string(holder), "h", 7337});
    blocks_.Ask(asker, {3, 1, token}, places);
  }
  /// What was sent since the last call: "TO:publish", "TO:TOKEN=HOLDER/BYTES" or "TO:TOKEN=none".
  std::string Sent() { return std::exchange(sent_, {}); }

  KeptBlocks blocks_{[this](uint32_t to, const we::Message& message) {
    sent_ += (sent_.empty() ? "" : " ") + std::to_string(to) + ":";
    if (const auto* place = std::get_if<we::KeptPlace>(&message)) {
      sent_ += std::to_string(place->token) + "=" +
               (place->known ? place->place.executor_id + "/" + std::to_string(place->bytes) : "none");
    } else if (const auto* publish = std::get_if<we::PublishKept>(&message)) {
      EXPECT_EQ(publish->dataset, 3);
      EXPECT_EQ(publish->partition, 1);
      sent_ += "publish";
    }
  }};
  std::string sent_;
};

TEST_F(KeptBlocksTest, TheBestHolderIsAskedOnceForAll) {
  Ask(0, 10, {7, 8});
  Ask(1, 11, {7, 8});
  EXPECT_EQ(Sent(), "7:publish");
  blocks_.OnPublished(7, {3, 1, true, 100, 5});
  EXPECT_EQ(Sent(), "0:10=7/100 1:11=7/100");
  Ask(2, 12, {8, 7});  // 8 is better, but what 7 wrote is there
  EXPECT_EQ(Sent(), "2:12=7/100");
}

TEST_F(KeptBlocksTest, WithoutAHolderTheAskerComputes) {
  Ask(0, 10, {});
  EXPECT_EQ(Sent(), "0:10=none");
  Ask(0, 11, {7});
  blocks_.OnPublished(7, {3, 1, false, 0, 0});
  EXPECT_EQ(Sent(), "7:publish 0:11=none");
  Ask(0, 12, {7});  // it may keep it again
  EXPECT_EQ(Sent(), "7:publish");
}

TEST_F(KeptBlocksTest, AHolderThatGoesLeavesNobodyWaiting) {
  Ask(0, 10, {7});
  blocks_.OnLost(7);
  EXPECT_EQ(Sent(), "7:publish 0:10=none");
  blocks_.OnPublished(7, {3, 1, true, 100, 5});
  Ask(0, 11, {8});
  blocks_.Forget(3);
  EXPECT_EQ(Sent(), "8:publish 0:11=none");
}

TEST_F(KeptBlocksTest, WhatIsEvictedIsNotNamedAgain) {
  Ask(0, 10, {7});
  blocks_.OnPublished(7, {3, 1, true, 100, 5});
  blocks_.OnChanged(7, 3, 1);
  Sent();
  Ask(0, 11, {7});
  EXPECT_EQ(Sent(), "7:publish");
}

TEST_F(KeptBlocksTest, AnAnswerNobodyWaitsForChangesNothing) {
  blocks_.OnPublished(7, {3, 1, true, 100, 5});
  Ask(0, 10, {7});
  EXPECT_EQ(Sent(), "7:publish");
}

}  // namespace
}  // namespace fairlead::process::driver

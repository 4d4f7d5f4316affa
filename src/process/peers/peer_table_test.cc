#include "process/peers/peer_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace fairlead::process::peers {
namespace {

struct Guest : Peer {
  Guest(PeerTable& table, std::string name, std::vector<std::string>& gone, const std::string& address)
      : seat(table, *this, address), name_(std::move(name)), gone_(gone) {}
  void Evict() override { gone_.push_back(name_); }
  size_t HeldBytes() const override { return bytes; }
  void Hold(size_t held) {
    bytes = held;
    seat.Count();
  }
  size_t bytes = 0;
  PeerTable::Seat seat;

 private:
  std::string name_;
  std::vector<std::string>& gone_;
};

class PeerTableTest : public testing::Test {
 protected:
  PeerTable& Make(PeerLimits limits, bool one_large_aside = false) {
    table_ = std::make_unique<PeerTable>(limits, one_large_aside);
    return *table_;
  }
  Guest& Come(PeerTable& table, const std::string& name, const std::string& address = "a") {
    EXPECT_TRUE(table.MakeRoom(address));
    guests_.push_back(std::make_unique<Guest>(table, name, gone_, address));
    return *guests_.back();
  }
  using Names = std::vector<std::string>;
  Names gone_;
  std::unique_ptr<PeerTable> table_;
  std::vector<std::unique_ptr<Guest>> guests_;
};

TEST_F(PeerTableTest, StrangersGoFirstThenTheLongestSilentThenWhoWaitsAndNoMember) {
  PeerTable& table = Make({.connections_max = 4, .per_address_max = 4});
  Come(table, "member").seat.Become(Standing::kMember);
  Guest& moved = Come(table, "moved");
  moved.seat.Become(Standing::kIdle);
  Come(table, "silent").seat.Become(Standing::kIdle);
  Come(table, "stranger").seat.Move();
  moved.seat.Move();
  for (const char* name : {"1", "2", "3", "4"}) Come(table, name).seat.Become(Standing::kBusy);
  EXPECT_EQ(gone_, (Names{"stranger", "silent", "moved", "1"}));
  guests_.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_FALSE(Make({.connections_max = 0}).MakeRoom("a"));
}

TEST_F(PeerTableTest, AStrangerIsNoYoungerByDrippingBytes) {
  PeerTable& table = Make({.connections_max = 2, .per_address_max = 2});
  Guest& drips = Come(table, "drips");
  Come(table, "stranger");
  drips.seat.Heard();
  drips.seat.Move();
  Come(table, "new");
  EXPECT_EQ(gone_, (Names{"drips"}));
}

TEST_F(PeerTableTest, WhoWaitsIsNoYoungerByAskingForMore) {
  PeerTable& table = Make({.connections_max = 2});
  Guest& asks_on = Come(table, "asks on");
  asks_on.seat.Become(Standing::kBusy);
  Come(table, "waits").seat.Become(Standing::kBusy);
  asks_on.Hold(1);
  asks_on.seat.Heard();
  Come(table, "new");
  EXPECT_EQ(gone_, (Names{"asks on"}));
  guests_.clear();
  Guest& idle = Come(Make({.connections_max = 2}), "idle");
  idle.seat.Become(Standing::kIdle);
  Come(*table_, "silent").seat.Become(Standing::kIdle);
  idle.seat.Heard();
  Come(*table_, "new");
  EXPECT_EQ(gone_, (Names{"asks on", "silent"}));
}

TEST_F(PeerTableTest, AnAddressBeyondItsShareLosesItsOwn) {
  PeerTable& table = Make({.connections_max = 10, .per_address_max = 2});
  Come(table, "other", "b");
  for (const char* name : {"1", "2", "3", "4"}) Come(table, name);
  EXPECT_EQ(gone_, (Names{"1", "2"}));
  EXPECT_EQ(table.size(), 3U);
}

TEST_F(PeerTableTest, OneLargeOneIsBesideTheBound) {
  PeerTable& table = Make({.bytes_max = 100}, true);
  Guest& large = Come(table, "large");
  large.Hold(500);
  Guest& small = Come(table, "small", "b");
  small.Hold(20);
  table.Relieve(&small.seat);
  Come(table, "more", "b").Hold(50);
  table.Relieve(nullptr);
  EXPECT_EQ(gone_, Names{}) << "70 of 100";
  Guest& most = Come(table, "most", "b");
  most.Hold(40);
  table.Relieve(&most.seat);
  EXPECT_EQ(gone_, (Names{"small"})) << "the bound of the others holds";
  Guest& later = Come(table, "later", "c");
  later.Hold(200);
  table.Relieve(&later.seat);
  EXPECT_EQ(gone_, (Names{"small", "large"})) << "the last one takes its place";
  later.Hold(10);
  EXPECT_EQ(table.held_bytes(), 100U);
  table.Relieve(nullptr);
  EXPECT_EQ(gone_.size(), 2U);
}

TEST_F(PeerTableTest, ALargeOneIsLikeAnyWhereRequestsAreLarge) {
  PeerTable& table = Make({.bytes_max = 100});
  Come(table, "large").Hold(500);
  Guest& small = Come(table, "small", "b");
  small.Hold(20);
  table.Relieve(&small.seat);
  EXPECT_EQ(gone_, (Names{"large"}));
}

TEST_F(PeerTableTest, OfStrangersThoseGoWhoseAddressHasMost) {
  PeerTable& table = Make({.connections_max = 6, .per_address_max = 6});
  Come(table, "first", "honest");
  for (const char* name : {"1", "2", "3"}) Come(table, name, "crowd");
  for (const char* name : {"4", "5"}) Come(table, name, "second crowd");
  Come(table, "6", "crowd");
  Come(table, "7", "second crowd");
  Come(table, "8", "third");
  EXPECT_EQ(gone_, (Names{"1", "2", "4"}));
  Come(table, "another", "honest").seat.Become(Standing::kIdle);
  Come(table, "9", "fourth");
  EXPECT_EQ(gone_.size(), 5U);
  EXPECT_EQ(std::ranges::count(gone_, "first"), 0);
}

TEST_F(PeerTableTest, WhoComesHasTimeToSpeakWhereAllPlacesAreOfThoseWhoHaveSpoken) {
  for (const PeerLimits limits : {PeerLimits{.connections_max = 16, .per_address_max = 16},
                                  PeerLimits{.connections_max = 100, .per_address_max = 16}}) {
    guests_.clear();
    gone_.clear();
    PeerTable& table = Make(limits);
    for (int i = 1; i <= 16; ++i) Come(table, std::to_string(i)).seat.Become(Standing::kBusy);
    Come(table, "slow to speak");
    Come(table, "other");
    EXPECT_EQ(gone_, (Names{"1", "2"}));
    for (const char* name : {"crowd 1", "crowd 2"}) Come(table, name);
    EXPECT_EQ(gone_, (Names{"1", "2", "3", "slow to speak"})) << "an eighth of the places, and no more";
  }
}

TEST_F(PeerTableTest, WhoKeepsTooMuchIsToldByWhatItsAddressHolds) {
  PeerTable& table = Make({.bytes_max = 100});
  Guest& small = Come(table, "small", "b");
  Guest& large = Come(table, "large");
  small.Hold(30);
  large.Hold(60);
  EXPECT_FALSE(table.HoldsTooMuch(large.seat));
  Guest& more = Come(table, "more");
  more.Hold(20);
  EXPECT_TRUE(table.HoldsTooMuch(more.seat));
  EXPECT_FALSE(table.HoldsTooMuch(small.seat));
}

TEST_F(PeerTableTest, WhoHoldsLittleStaysWhereOthersOfItsAddressHoldMuch) {
  PeerTable& table = Make({.bytes_max = 100});
  Come(table, "waits for an answer").Hold(1);
  for (const char* name : {"crowd 1", "crowd 2"}) Come(table, name).Hold(45);
  Guest& served = Come(table, "crowd 3");
  served.Hold(45);
  table.Relieve(&served.seat);
  EXPECT_EQ(gone_, (Names{"crowd 1"})) << "what the first one holds is not the trouble";
}

TEST_F(PeerTableTest, MemoryIsTakenFromTheAddressThatHoldsMostAndFromWhoDoesNotMove) {
  PeerTable& table = Make({.bytes_max = 100});
  Guest& other = Come(table, "other", "b");
  Guest& moves = Come(table, "moves");
  Guest& stuck = Come(table, "stuck");
  Guest& served = Come(table, "served");
  other.Hold(30);
  moves.Hold(40);
  stuck.Hold(40);
  served.Hold(80);
  moves.bytes = 35;  // seen when it is looked at
  table.Relieve(&served.seat);
  EXPECT_EQ(gone_, (Names{"stuck", "moves", "other"}));
  EXPECT_EQ(table.held_bytes(), 80U);
  served.Hold(200);
  table.Relieve(&served.seat);
  EXPECT_EQ(gone_.size(), 3U);  // one that is served alone is bounded by what a call may be
}

TEST_F(PeerTableTest, WantOfOpenFilesTakesAPartOfTheSilent) {
  PeerTable& table = Make({});
  for (int i = 0; i < 64; ++i) Come(table, std::to_string(i));
  Come(table, "busy").seat.Become(Standing::kBusy);
  table.Thin();
  EXPECT_EQ(gone_, (Names{"0", "1", "2", "3", "4"}));
}

}  // namespace
}  // namespace fairlead::process::peers

#include "scheduler/books/reservations.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "scheduler/books/gangs.h"
#include "scheduler/books/hash_of.h"
#include "scheduler/books/timers.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

class ReservationsTest : public ::testing::Test {
 protected:
  ReservationsTest() { nodes_.Add({{0}, "n0", 1, "/r", Resources::Of(10, 10), {}}, places_); }
  ReservationId Add(int64_t memory, uint64_t serial) {
    Reservation made;
    made.node = NodeIndex{0};
    made.app = AppSlot{1};
    made.serial = serial;
    made.size = Resources::Of(memory, 1);
    return reservations_.Add(nodes_, made);
  }
  Places places_;
  Nodes nodes_{2};
  Reservations reservations_;
};

TEST_F(ReservationsTest, KeepsRoomOnItsNode) {
  const ReservationId id = Add(4, 1);
  EXPECT_EQ(nodes_[NodeIndex{0}].free(), Resources::Of(6, 9));
  EXPECT_EQ(nodes_[NodeIndex{0}].reservations, std::vector<ReservationId>{id});
  EXPECT_EQ(reservations_.Check(nodes_), "");
  reservations_.Remove(nodes_, id);
  EXPECT_EQ(nodes_[NodeIndex{0}].free(), Resources::Of(10, 10));
  EXPECT_EQ(reservations_.count(), 0u);
}

TEST_F(ReservationsTest, ANumberThatWasReusedIsAnotherReservation) {
  const ReservationId id = Add(4, 1);
  EXPECT_TRUE(reservations_.Has(id, 1));
  reservations_.Remove(nodes_, id);
  EXPECT_EQ(Add(4, 2), id);
  EXPECT_FALSE(reservations_.Has(id, 1));
}

TEST_F(ReservationsTest, VictimsAreTakenOnce) {
  const ReservationId id = Add(4, 1);
  reservations_.AddVictim(id, {{{1, 1}, 1}, 5});
  EXPECT_EQ(reservations_.TakeVictims(id).size(), 1u);
  EXPECT_TRUE(reservations_.TakeVictims(id).empty());
}

TEST_F(ReservationsTest, EveryChangeIsInTheHash) {
  ReservationId id;
  const std::function<void()> changes[] = {
      [&] { id = Add(4, 1); },
      [&] {
        reservations_.AddVictim(id, {{{1, 1}, 1}, 5});
      },
      [&] { Add(4, 2); },
      [&] { reservations_.Remove(nodes_, id); },
  };
  std::set<uint64_t> seen = {HashOf(reservations_)};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(HashOf(reservations_)).second) << seen.size();
  }
}

TEST(TimersTest, TheEarliestComesFirstEqualOnesByKindAndOwner) {
  Timers timers;
  timers.Push({{5}, TimerKind::kGangEnds, 1, 1});
  timers.Push({{5}, TimerKind::kLocality, 2, 1});
  timers.Push({{3}, TimerKind::kGangEnds, 3, 1});
  std::vector<uint32_t> owners;
  for (; !timers.empty(); timers.Pop()) owners.push_back(timers.first().owner);
  EXPECT_EQ(owners, (std::vector<uint32_t>{3, 2, 1}));
}

TEST(TimersTest, TheHashIsOfWhatIsPendingNotOfHowItCame) {
  Timers one;
  Timers other;
  for (uint32_t i = 0; i < 5; ++i) one.Push({{i}, TimerKind::kLocality, i, 1});
  for (uint32_t i = 5; i-- > 0;) other.Push({{i}, TimerKind::kLocality, i, 1});
  EXPECT_EQ(HashOf(one), HashOf(other));
  other.Pop();
  EXPECT_NE(HashOf(one), HashOf(other));
}

TEST(GangsTest, AGangIsWorthATryWhenSomethingGotRoomOrItsMembersChanged) {
  Gangs gangs;
  EXPECT_TRUE(gangs.Enter(AppSlot{1}, 7, 100));
  EXPECT_TRUE(gangs.WorthATry(0));
  gangs.NoteFailure(0);
  EXPECT_FALSE(gangs.WorthATry(0));
  gangs.NoteRoom();
  EXPECT_TRUE(gangs.WorthATry(0));
  gangs.NoteFailure(0);
  EXPECT_FALSE(gangs.Enter(AppSlot{1}, 7, 101)) << "it is there already";
  EXPECT_TRUE(gangs.WorthATry(0));
  EXPECT_TRUE(gangs.Has(100));
  gangs.RemoveOf(AppSlot{1});
  EXPECT_FALSE(gangs.Has(100));
}

TEST(GangsTest, EveryChangeIsInTheHash) {
  Gangs gangs;
  const std::function<void()> changes[] = {
      [&] { gangs.Enter(AppSlot{1}, 7, 100); },
      [&] { gangs.NoteFailure(0); },
      [&] { gangs.NoteRoom(); },
      [&] { gangs.Enter(AppSlot{1}, 8, 101); },
  };
  std::set<uint64_t> seen = {HashOf(gangs)};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(HashOf(gangs)).second) << seen.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler::native

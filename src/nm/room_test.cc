#include "nm/room.h"

#include <gtest/gtest.h>

namespace fairlead::nm {
namespace {

model::ContainerId Id(int64_t n) { return {{{1000, 1}, 1}, n}; }
model::Resources Of(int64_t mib, int64_t cores) { return model::Resources::Of(mib, cores); }

TEST(Room, NobodyOvertakes) {
  Room room(Of(4096, 4), false);
  EXPECT_TRUE(room.Take(Id(1), Of(3072, 1)));
  EXPECT_TRUE(room.Take(Id(1), Of(3072, 1))) << "it holds room already";
  EXPECT_FALSE(room.Take(Id(2), Of(2048, 1)));
  EXPECT_FALSE(room.Take(Id(3), Of(512, 1))) << "it would fit, but another one waits";
  EXPECT_FALSE(room.TakeNext().has_value());
  room.Leave(Id(1));
  EXPECT_EQ(room.TakeNext(), Id(2));
  EXPECT_EQ(room.TakeNext(), Id(3));
  EXPECT_FALSE(room.TakeNext().has_value());
  EXPECT_TRUE(room.Holds(Id(2)) && room.Holds(Id(3)));
}

TEST(Room, WhoLeavesTheLineLetsTheNextOneIn) {
  Room room(Of(4096, 4), false);
  room.Hold(Id(1), Of(3072, 1));
  EXPECT_FALSE(room.Take(Id(2), Of(2048, 1)));
  EXPECT_FALSE(room.Take(Id(3), Of(1024, 1)));
  room.Leave(Id(2));
  EXPECT_EQ(room.TakeNext(), Id(3));
}

TEST(Room, SizesChangeOfHoldersOfThoseInLineAndOfTheNode) {
  Room room(Of(4096, 4), false);
  room.Hold(Id(1), Of(4096, 1));
  EXPECT_FALSE(room.Take(Id(2), Of(2048, 1)));
  room.Resize(Id(1), Of(3072, 1));
  EXPECT_FALSE(room.TakeNext().has_value());
  room.Resize(Id(2), Of(1024, 1));
  EXPECT_EQ(room.TakeNext(), Id(2));
  EXPECT_FALSE(room.Take(Id(3), Of(1024, 1)));
  room.SetCapacity(Of(8192, 4));
  EXPECT_EQ(room.TakeNext(), Id(3));
}

TEST(Room, OneAloneStartsHoweverLargeItIs) {
  Room room(Of(1024, 1), true);
  EXPECT_TRUE(room.Take(Id(1), Of(4096, 4)));
  EXPECT_FALSE(room.Take(Id(2), Of(1, 1)));
}

TEST(Room, CoresCountWhereTheSchedulerCountsThem) {
  for (const bool all_types : {false, true}) {
    Room room(Of(4096, 1), all_types);
    EXPECT_TRUE(room.Take(Id(1), Of(1024, 1)));
    EXPECT_EQ(room.Take(Id(2), Of(1024, 1)), !all_types);
  }
}

}  // namespace
}  // namespace fairlead::nm

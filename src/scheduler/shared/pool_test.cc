#include "scheduler/shared/pool.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler {
namespace {

struct Thing {
  bool in_use = false;
  int value = 7;
};
using Things = Pool<Thing, struct ThingTag>;

std::vector<uint32_t> Numbers(const Things& things) {
  std::vector<uint32_t> numbers;
  for (const Things::Id id : things) numbers.push_back(id.value);
  return numbers;
}

TEST(PoolTest, ARemovedNumberIsGivenToTheNextOneLastFirst) {
  Things things;
  for (int i = 0; i < 4; ++i) things.Add();
  things.Remove({1});
  things.Remove({2});
  EXPECT_EQ(things.Add().value, 2u);
  EXPECT_EQ(things.Add().value, 1u);
  EXPECT_EQ(things.Add().value, 4u);
}

TEST(PoolTest, ANewValueIsNewWhateverWasThereBefore) {
  Things things;
  const Things::Id id = things.Add();
  things[id].value = 1;
  things.Remove(id);
  EXPECT_FALSE(things.Has(id));
  EXPECT_EQ(things.Add(), id);
  EXPECT_EQ(things[id].value, 7);
  EXPECT_TRUE(things.Has(id));
}

TEST(PoolTest, ALoopSeesThoseInUseInOrder) {
  Things things;
  EXPECT_TRUE(Numbers(things).empty());
  for (int i = 0; i < 5; ++i) things.Add();
  things.Remove({0});
  things.Remove({4});
  things.Remove({2});
  EXPECT_EQ(Numbers(things), (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(things.count(), 2u);
  EXPECT_EQ(things.size(), 5u);
}

}  // namespace
}  // namespace fairlead::scheduler

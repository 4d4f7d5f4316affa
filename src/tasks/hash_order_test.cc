#include "tasks/hash_order.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"

// The expected orders were printed by scala.collection.mutable.HashMap and HashSet of Scala 2.12.18.

namespace fairlead::tasks {
namespace {

TEST(HashOrderTest, JavaHashCodes) {
  EXPECT_EQ(JavaHash(""), 0);
  EXPECT_EQ(JavaHash("abc"), 96354);
  EXPECT_EQ(JavaHash("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(LongHash(7), 7);
  EXPECT_EQ(LongHash(int64_t{1} << 32), 1);
}

TEST(HashOrderTest, MapOfNames) {
  HashMapOrder map;
  const auto insert = [&](uint32_t i) { map.Insert(i, JavaHash("host" + std::to_string(i))); };
  for (uint32_t i = 0; i < 40; ++i) insert(i);
  EXPECT_EQ(map.Keys(),
            (std::vector<uint32_t>{18, 7, 35, 38, 17, 23, 1,  11, 32, 26, 4, 29, 14, 20, 3,  34, 6,  28, 9,  16,
                                   37, 0, 22, 31, 25, 10, 19, 13, 8,  39, 2, 30, 24, 27, 12, 5,  33, 15, 36, 21}));
  for (uint32_t i = 0; i < 40; i += 3) map.Erase(i);
  for (uint32_t i = 40; i < 44; ++i) insert(i);
  EXPECT_EQ(map.Keys(), (std::vector<uint32_t>{41, 7,  35, 38, 17, 23, 1,  11, 32, 26, 4,  29, 14, 20, 40,
                                               34, 28, 43, 16, 37, 22, 31, 25, 10, 19, 13, 42, 8,  2,  5}));
}

TEST(HashOrderTest, MapOfTaskIds) {
  HashMapOrder map;
  for (uint32_t i = 5; i < 30; ++i) map.Insert(i, LongHash(i * 7));
  std::vector<uint32_t> ids;
  for (const uint32_t key : map.Keys()) ids.push_back(key * 7);
  EXPECT_EQ(ids, (std::vector<uint32_t>{182, 119, 77,  140, 35,  98,  56, 175, 133, 196, 91,  154, 49,
                                        112, 70,  189, 147, 168, 105, 63, 126, 84,  42,  203, 161}));
}

TEST(HashOrderTest, SetOfTaskIds) {
  TaskIdHashSet set;
  for (int64_t i = 0; i < 33; ++i) EXPECT_TRUE(set.Insert(i));
  EXPECT_FALSE(set.Insert(4));
  EXPECT_EQ(set.Keys(), (std::vector<int64_t>{0,  30, 9,  1,  31, 2,  32, 24, 3,  25, 4, 26, 27, 19, 20, 21, 22,
                                              14, 23, 15, 16, 17, 18, 10, 11, 12, 13, 5, 6,  28, 7,  29, 8}));
  for (int64_t i = 0; i < 33; i += 2) EXPECT_TRUE(set.Erase(i));
  EXPECT_FALSE(set.Erase(4));
  for (int64_t i = 100; i < 105; ++i) set.Insert(i);
  EXPECT_EQ(set.Keys(),
            (std::vector<int64_t>{102, 9, 1, 31, 103, 104, 3, 25, 27, 19, 100, 101, 21, 23, 15, 17, 11, 13, 5, 7, 29}));
}

TEST(HashOrderTest, SetOfNames) {
  NamedHashSet set;
  for (uint32_t i = 0; i < 20; ++i) set.Insert({i, JavaHash("e" + std::to_string(i))});
  std::vector<uint32_t> order;
  set.ForEach([&](const NamedKey& key) { order.push_back(key.id); });
  EXPECT_EQ(order, (std::vector<uint32_t>{15, 9, 2, 3, 16, 10, 4, 17, 5, 18, 19, 11, 12, 6, 0, 13, 7, 1, 14, 8}));
}

TEST(HashOrderTest, RandomSetsHoldWhatWasPutIn) {
  base::Rng rng(5);
  TaskIdHashSet set;
  std::vector<bool> expected(300);
  for (int step = 0; step < 20000; ++step) {
    const auto key = static_cast<int64_t>(rng.Below(300));
    const bool had = expected[static_cast<size_t>(key)];
    if (rng.Chance(0.5)) {
      EXPECT_EQ(set.Insert(key), !had);
      expected[static_cast<size_t>(key)] = true;
    } else {
      EXPECT_EQ(set.Erase(key), had);
      expected[static_cast<size_t>(key)] = false;
    }
    EXPECT_EQ(set.Contains(key), expected[static_cast<size_t>(key)]);
  }
  size_t count = 0;
  for (const bool in : expected) count += in ? 1 : 0;
  EXPECT_EQ(set.size(), count);
  EXPECT_EQ(set.Keys().size(), count);
}

}  // namespace
}  // namespace fairlead::tasks

#include "scheduler/hadoop/java.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace fairlead::scheduler::hadoop::java {
namespace {

using testing::ElementsAre;

TEST(Java, CastsTruncateAndSaturate) {
  EXPECT_EQ(ToLong(2.9), 2);
  EXPECT_EQ(ToLong(-2.9), -2);
  EXPECT_EQ(ToLong(1e300), INT64_MAX);
  EXPECT_EQ(ToLong(-1e300), INT64_MIN);
  EXPECT_EQ(ToLong(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(ToInt(3e9), INT32_MAX);
  EXPECT_EQ(Sign(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Java, RoundTakesHalvesUp) {
  EXPECT_EQ(Round(0.5), 1);
  EXPECT_EQ(Round(0.49999999999999994), 0);  // + 0.5 is 1.0 in doubles
  EXPECT_EQ(Round(-0.5), 0);
  EXPECT_EQ(Round(-1.5), -1);
  EXPECT_EQ(Round(-1e-20), 0);
  EXPECT_EQ(Round(4503599627370497.0), 4503599627370497);
  EXPECT_EQ(Round(1e300), INT64_MAX);
  EXPECT_EQ(Round(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Java, StringHashesAreJavas) {
  EXPECT_EQ(HashOfString(""), 0);
  EXPECT_EQ(HashOfString("hello"), 99162322);
  EXPECT_EQ(HashOfString("Aa"), HashOfString("BB"));
  EXPECT_EQ(HashOfString("\xc3\xa4"), 228);                           // one unit, U+00E4
  EXPECT_EQ(HashOfString("\xf0\x9f\x98\x80"), 31 * 0xd83d + 0xde00);  // a surrogate pair
}

TEST(Java, StringsCompareByUtf16Units) {
  EXPECT_LT(CompareStrings("application_1_10000", "application_1_9999"), 0);
  EXPECT_EQ(CompareStrings("a", "a"), 0);
  EXPECT_GT(CompareStrings("b", "a\xc3\xa4"), 0);
  // U+1F600 is below U+FFFD in units, above it in code points and in UTF-8.
  EXPECT_LT(CompareStrings("\xf0\x9f\x98\x80", "\xef\xbf\xbd"), 0);
}

TEST(Java, HashSetOrderIsJavas) {
  const std::vector<std::string> words = {"one", "two", "three", "four", "five", "six", "seven"};
  std::vector<int32_t> hashes;
  for (const std::string& word : words) hashes.push_back(HashOfString(word));
  std::vector<std::string> ordered;
  for (const uint32_t i : HashOrder(hashes, HashCapacity(words.size()))) ordered.push_back(words[i]);
  EXPECT_THAT(ordered, ElementsAre("six", "four", "one", "seven", "two", "three", "five"));
}

TEST(Java, HashTablesDoubleAboveThreeQuarters) {
  EXPECT_EQ(HashCapacity(0), 16U);
  EXPECT_EQ(HashCapacity(12), 16U);
  EXPECT_EQ(HashCapacity(13), 32U);
  EXPECT_EQ(HashCapacity(24), 32U);
  EXPECT_EQ(HashCapacity(25), 64U);
}

TEST(Java, TreeOrderSortsAndDropsEquals) {
  const std::vector<int> values = {5, 3, 9, 3, 1, 7, 5, 8, 2, 6, 4, 0};
  std::vector<int> sorted;
  for (const uint32_t i :
       TreeOrder(static_cast<uint32_t>(values.size()), [&](uint32_t a, uint32_t b) { return values[a] - values[b]; })) {
    sorted.push_back(values[i]);
  }
  EXPECT_THAT(sorted, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(Java, TreeOrderOfManyIsSorted) {
  constexpr uint32_t kCount = 1000;
  const auto value = [](uint32_t i) { return static_cast<int>((i * 7919) % kCount); };
  const std::vector<uint32_t> order = TreeOrder(kCount, [&](uint32_t a, uint32_t b) { return value(a) - value(b); });
  ASSERT_EQ(order.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(value(order[i]), static_cast<int>(i));
}

/// The orders below were printed by Java 17.
TEST(Java, HashSetOrderSurvivesResizes) {
  const std::vector<std::string> expected = {
      "root.queue12", "root.queue13", "root.queue10", "root.queue11", "root.queue16", "root.queue17",
      "root.queue14", "root.queue15", "root.queue18", "root.queue19", "root.queue20", "root.queue9",
      "root.queue7",  "root.queue23", "root.queue8",  "root.queue24", "root.queue5",  "root.queue21",
      "root.queue6",  "root.queue22", "root.queue27", "root.queue28", "root.queue25", "root.queue26",
      "root.queue29", "root.queue3",  "root.queue4",  "root.queue1",  "root.queue2",  "root.queue0"};
  std::vector<int32_t> hashes;
  for (int i = 0; i < 30; ++i) hashes.push_back(HashOfString("root.queue" + std::to_string(i)));
  std::vector<std::string> ordered;
  for (const uint32_t i : HashOrder(hashes, HashCapacity(hashes.size()))) {
    ordered.push_back("root.queue" + std::to_string(i));
  }
  EXPECT_EQ(ordered, expected);
}

TEST(Java, ConcurrentMapIteratesAsJavasDoes) {
  const std::vector<std::string> expected = {
      "host154.example", "host245.example", "host98.example",  "host21.example",  "host182.example", "host140.example",
      "host84.example",  "host231.example", "host112.example", "host189.example", "host56.example",  "host7.example",
      "host126.example", "host42.example",  "host91.example",  "host203.example", "host217.example", "host266.example",
      "host175.example", "host147.example", "host161.example", "host238.example", "host252.example", "host224.example",
      "host133.example", "host28.example",  "host77.example",  "host14.example",  "host0.example",   "host196.example",
      "host63.example",  "host70.example",  "host49.example",  "host105.example", "host210.example", "host259.example",
      "host273.example", "host119.example", "host168.example", "host35.example"};
  ConcurrentMap<std::string, int> map;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "host" + std::to_string(i * 7) + ".example";
    map.Insert(key, HashOfString(key), i);
  }
  std::vector<std::string> keys;
  map.ForEach([&](const std::string& key, int) { keys.push_back(key); });
  EXPECT_EQ(keys, expected);
}

TEST(Java, PriorityQueueKeepsJavasOrderAmongEquals) {
  PriorityQueue<std::pair<int, char>> queue;
  const auto compare = [](const auto& a, const auto& b) { return a.first - b.first; };
  for (const auto& item : {std::pair{1, 'a'}, {1, 'b'}, {1, 'c'}, {0, 'd'}, {1, 'e'}}) queue.Add(item, compare);
  std::string order;
  while (!queue.empty()) order += queue.Poll(compare).second;
  EXPECT_EQ(order, "debca");
}

/// Size-based weights: (float) (Math.log1p(mb) / Math.log(2)).
TEST(Java, Log1pGivesJavasFloats) {
  const auto weight = [](double mb) { return static_cast<float>(std::log1p(mb) / std::log(2.0)); };
  EXPECT_EQ(weight(1), 1.0F);
  EXPECT_EQ(weight(1024), 10.001409F);
  EXPECT_EQ(weight(3177), 11.6339035F);
  EXPECT_EQ(weight(65536), 16.000023F);
  EXPECT_EQ(weight(123456789), 26.87943F);
}

TEST(Java, SmallSortsAreStable) {
  std::vector<std::pair<int, int>> items = {{2, 0}, {1, 1}, {2, 2}, {1, 3}, {0, 4}, {2, 5}};
  SortSmall(std::span(items), [](const auto& a, const auto& b) { return a.first - b.first; });
  EXPECT_THAT(items, ElementsAre(std::pair(0, 4), std::pair(1, 1), std::pair(1, 3), std::pair(2, 0), std::pair(2, 2),
                                 std::pair(2, 5)));
}

TEST(Java, ConcurrentMapFindsWhatItHolds) {
  ConcurrentMap<int, int> map;
  std::vector<int32_t> slots;
  for (int i = 0; i < 200; ++i) slots.push_back(map.Insert(i, i * 17, i));
  for (int i = 0; i < 200; i += 2) map.Remove(slots[i]);
  EXPECT_EQ(map.size(), 100U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(map.Find(i, i * 17) >= 0, i % 2 == 1) << i;
  int seen = 0;
  map.ForEach([&](int key, int value) {
    EXPECT_EQ(key, value);
    ++seen;
  });
  EXPECT_EQ(seen, 100);
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop::java

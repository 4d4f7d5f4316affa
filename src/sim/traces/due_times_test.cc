#include "sim/traces/due_times.h"

#include <gtest/gtest.h>

#include <queue>
#include <vector>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

Due At(int64_t ms, uint64_t kind, uint32_t who) {
  return {static_cast<uint64_t>(ms) << Due::kKindBits | kind, who, who % 7};
}

/// Whatever is added when, what comes out is what one heap would give.
TEST(DueTimes, GivesWhatAHeapGives) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    base::Rng rng(seed);
    DueTimes times;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> heap;
    int64_t now = 0;
    const auto add = [&] {
      // Now, within a moment, within the wheel, at its edge, beyond it.
      const int64_t spans[] = {1, 50, 60'000, 131'073, 1'000'000};
      const int64_t at = now + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(spans[rng.Below(5)])));
      const Due due = At(at, rng.Below(4), static_cast<uint32_t>(rng.Below(100)));
      times.Add(due);
      heap.push(due);
    };
    for (int round = 0; round < 3000; ++round) {
      for (uint64_t i = rng.Below(5); i > 0; --i) add();
      if (heap.empty()) {
        ASSERT_EQ(times.Next(), INT64_MAX);
        continue;
      }
      ASSERT_EQ(times.Next(), heap.top().at_ms());
      // Time may stop before the next one, too.
      now = rng.Below(4) == 0 ? now : std::max(now, heap.top().at_ms());
      Due due;
      while (times.Take(now, due)) {
        ASSERT_FALSE(heap.empty());
        ASSERT_EQ(due, heap.top());
        heap.pop();
        if (rng.Below(3) == 0) add();
      }
      ASSERT_TRUE(heap.empty() || heap.top().at_ms() > now);
    }
  }
}

TEST(DueTimes, LooksAheadAtWholeMilliseconds) {
  DueTimes times;
  for (const int64_t ms : {5, 6, 6, 9, 70, 131'075}) times.Add(At(ms, 0, static_cast<uint32_t>(ms)));
  const auto seen = [&](int64_t from_ms, int64_t to_ms) {
    std::vector<int64_t> found;
    times.LookAhead(from_ms, to_ms, [&](const Due& due) { found.push_back(due.at_ms()); });
    return found;
  };
  EXPECT_EQ(seen(0, 5), (std::vector<int64_t>{5}));
  EXPECT_EQ(seen(5, 9), (std::vector<int64_t>{6, 6, 9}));
  EXPECT_EQ(seen(9, 69), std::vector<int64_t>{});
  Due due;
  ASSERT_TRUE(times.Take(5, due));
  EXPECT_EQ(seen(9, 130), (std::vector<int64_t>{70})) << "what is due when the wheel has turned is not due yet";
}

}  // namespace
}  // namespace fairlead::sim

#include "shuffle/known_merges.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"
#include "base/test_seed.h"

namespace fairlead::shuffle {
namespace {

TEST(KnownMerges, IsAMapWhoseCopiesStay) {
  base::Rng rng(base::TestSeed() + 7);
  KnownMerges merges;
  std::map<int32_t, KnownMerges::Latest> expected;
  std::pair<KnownMerges, std::map<int32_t, KnownMerges::Latest>> copy;
  const auto same = [](const KnownMerges& some, const std::map<int32_t, KnownMerges::Latest>& all) {
    ASSERT_EQ(some.size(), all.size());
    for (int32_t id = -2; id <= 1001; ++id) {
      const auto at = all.find(id);
      const KnownMerges::Latest* found = some.Find(id);
      ASSERT_EQ(found != nullptr, at != all.end()) << id;
      if (found != nullptr) {
        ASSERT_EQ(*found, at->second) << id;
      }
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<int32_t>(rng.Between(-1, 1000));
    const bool erases = rng.Between(0, i < 10'000 ? 3 : 1) == 0;
    const KnownMerges::Latest latest{i, i % 2 == 0};
    if (erases) {
      merges.Erase(id);
      expected.erase(id);
    } else {
      merges.Set(id, latest);
      expected[id] = latest;
    }
    if (i % 1000 != 0) continue;
    same(merges, expected);
    same(copy.first, copy.second);
    copy = {merges, expected};
  }
}

TEST(KnownMerges, AChangeCopiesFewOfMany) {
  constexpr int32_t kMany = 20'000;
  KnownMerges known;
  for (int32_t shuffle = 0; shuffle < kMany; ++shuffle) known.Set(shuffle, {});
  KnownMerges changed = known;
  changed.Set(kMany / 2, {.merge_id = 1});
  int32_t copied = 0;
  for (int32_t shuffle = 0; shuffle < kMany; ++shuffle) copied += known.Find(shuffle) != changed.Find(shuffle) ? 1 : 0;
  EXPECT_GE(copied, 1);
  EXPECT_LE(copied, 128);
}

}  // namespace
}  // namespace fairlead::shuffle

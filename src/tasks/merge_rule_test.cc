#include "tasks/merge_rule.h"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::tasks {
namespace {

constexpr MergeCase kMany{.maps = 1000, .reduces = 1000, .mean_block_bytes = 4096, .services = 2};

TEST(MergeRule, ManyShortBlocksAreMerged) { EXPECT_TRUE(PaysToMerge(kMany)); }

TEST(MergeRule, EachConditionAloneDecides) {
  struct Row {
    const char* what;
    MergeCase shuffle;
    bool pays;
  };
  const Row rows[] = {
      {"just enough maps", {300, 500, 4096, 1}, true},
      {"one map too few", {299, 1000, 4096, 1}, false},
      {"just enough blocks", {1000, 100, 4096, 1}, true},
      {"one reducer too few", {1000, 99, 4096, 1}, false},
      {"blocks as long as may be", {1000, 1000, 32 << 10, 1}, true},
      {"longer blocks", {1000, 1000, (32 << 10) + 1, 1}, false},
      {"nobody who merges", {1000, 1000, 4096, 0}, false},
      {"more blocks than 32 bits count", {100'000, 100'000, 100, 1}, true},
  };
  for (const Row& row : rows) EXPECT_EQ(PaysToMerge(row.shuffle), row.pays) << row.what;
}

TEST(MergeRule, ServicesShareThePartitionsEvenlyAndInRuns) {
  for (const int32_t reduces : {1, 2, 7, 100}) {
    for (const size_t services : {size_t{1}, size_t{3}, size_t{10}}) {
      std::map<size_t, int> shares;
      size_t last = 0;
      for (int32_t reduce = 0; reduce < reduces; ++reduce) {
        const size_t merger = MergerOf(reduce, reduces, services);
        ASSERT_LT(merger, services);
        ASSERT_GE(merger, last) << "not in runs";
        last = merger;
        ++shares[merger];
      }
      const int most = (reduces + static_cast<int>(services) - 1) / static_cast<int>(services);
      for (const auto& [merger, share] : shares) EXPECT_LE(share, most);
    }
  }
}

}  // namespace
}  // namespace fairlead::tasks

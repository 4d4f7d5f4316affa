#include "base/did_you_mean.h"

#include <gtest/gtest.h>

namespace fairlead::base {
namespace {

TEST(DidYouMean, NamesTheNearest) {
  EXPECT_EQ(DidYouMean("wieght", {"min", "weight"}), "; did you mean 'weight'?");
  EXPECT_EQ(DidYouMean("hots", {"host", "port"}), "; did you mean 'host'?");
  EXPECT_EQ(DidYouMean("ap", {"up", "app", "apps"}), "; did you mean 'app'?") << "of two as near, what begins alike";
}

TEST(DidYouMean, ListsWhatThereIsWhenNothingIsNear) {
  EXPECT_EQ(DidYouMean("completely-else", {"min", "weight"}), "; known here: min, weight");
  EXPECT_EQ(DidYouMean("xy", {"ab"}), "; known here: ab");
  EXPECT_EQ(DidYouMean("x", {}), "");
}

TEST(Nearest, IsNothingWhereNothingIsNear) {
  EXPECT_EQ(Nearest("wieght", {"min", "weight"}), "weight");
  EXPECT_EQ(Nearest("xy", {"ab"}), "");
}

TEST(DidYouMean, IsBounded) {
  const std::string text = DidYouMean(std::string(1 << 20, 'x'), std::vector<std::string>(100'000, "queue"));
  EXPECT_LT(text.size(), size_t{1000});
  EXPECT_TRUE(text.ends_with(", ...")) << text;
}

}  // namespace
}  // namespace fairlead::base

#include "model/wishes.h"

#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

TEST(WishesTest, NamesAllAndNothing) {
  EXPECT_EQ(*ParseWishes(""), Wishes{});
  EXPECT_EQ(*ParseWishes(ToString({})), Wishes{});
  EXPECT_EQ(ToString(*ParseWishes("park-masters, small-jobs")), "small-jobs,park-masters");
  EXPECT_EQ(ToString(*ParseWishes("all")),
            "small-jobs,park-masters,measured-use,measured-load,overcommit,queue-priority,learned-use");
  for (const std::string& name : WishNames()) EXPECT_EQ(ToString(*ParseWishes(name)), name);
}

TEST(WishesTest, AnUnknownNameIsRefusedWithWhatWasMeant) {
  EXPECT_EQ(ParseWishes("small-job").error().message, "there is no wish 'small-job'; did you mean 'small-jobs'?");
  EXPECT_FALSE(ParseWishes("small-jobs,,park-masters").ok());
  EXPECT_EQ(ParseWishes("all,small-jobs").error().message,
            "'all' stands alone; write it, or names with commas between");
}

}  // namespace
}  // namespace fairlead::model

#include "model/resource_words.h"

#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

TEST(ResourceWords, AsPeopleSayIt) {
  EXPECT_EQ(InWords(Resources::Of(1024, 1)), "1024 MiB and 1 core");
  EXPECT_EQ(InWords(Resources::Of(0, 12)), "0 MiB and 12 cores");
  EXPECT_EQ(InWords(Resources::Of(512, INT64_MAX)), "512 MiB and any cores");
}

}  // namespace
}  // namespace fairlead::model

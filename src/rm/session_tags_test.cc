#include "rm/session_tags.h"

#include <gtest/gtest.h>

namespace fairlead::rm {
namespace {

TEST(SessionTagsTest, SayWhatASessionIs) {
  const auto traits = TraitsOf({"nightly", "fairlead.not-preemptable", "fairlead.maps=40", "fairlead.reduces=3"});
  EXPECT_FALSE(traits.preemptable);
  EXPECT_EQ(traits.maps, 40);
  EXPECT_EQ(traits.reduces, 3);
}

TEST(SessionTagsTest, AKindIsANameWithoutDigits) {
  EXPECT_EQ(KindOf("report-2026-11-25"), KindOf("report-1999-01-01"));
  EXPECT_NE(KindOf("report-1"), KindOf("import-1"));
  EXPECT_EQ(KindOf("77"), "");
  EXPECT_EQ(KindOf(std::string(1 << 20, 'x')), std::string(64, 'x'));
}

TEST(SessionTagsTest, GangsHaveATagOfTheirOwn) {
  EXPECT_TRUE(AsksForGangs({"mine", "fairlead.gang"}));
  EXPECT_FALSE(AsksForGangs({"gang", "fairlead.gangs", ""}));
  EXPECT_FALSE(AsksForGangs({}));
}

TEST(SessionTagsTest, WhatIsNoNumberSaysNothing) {
  const auto traits =
      TraitsOf({"fairlead.maps=", "fairlead.maps=4x", "fairlead.reduces=-1", "fairlead.maps=999999999"});
  EXPECT_TRUE(traits.preemptable);
  EXPECT_EQ(traits.maps, 0);
  EXPECT_EQ(traits.reduces, 0);
}

}  // namespace
}  // namespace fairlead::rm

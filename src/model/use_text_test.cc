#include "model/use_text.h"

#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

TEST(UseText, ComesBackAndIsBounded) {
  MeasuredUse use;
  use.milli_cores = 1500;
  use.physical_bytes = 3 << 20;
  use.network_bytes = 0;
  EXPECT_EQ(ToText(use), "1500 3145728 -1 0 -1");
  EXPECT_EQ(ParseUse(ToText(use)), use);
  EXPECT_EQ(ParseUse("1500").milli_cores, 1500);
  for (const char* absurd : {"", " ", "x", "1500x", "1500 x", "-5 -5 -5 -5", "99999999999999999999", "1500\n3"}) {
    EXPECT_FALSE(ParseUse(absurd).told()) << absurd;
  }
  EXPECT_EQ(ParseUse("9223372036854775807 7 1 2 3 4 5").milli_cores, MeasuredUse::kUnknown);
  EXPECT_EQ(ParseUse("9223372036854775807 7 1 2 3 4 5").physical_bytes, 7);
  EXPECT_EQ(ParseUse("1 2 3 4 1000").disk_busy, 1000);
  EXPECT_EQ(ParseUse("1 2 3 4 1001").disk_busy, MeasuredUse::kUnknown) << "busier than always";
}

}  // namespace
}  // namespace fairlead::model

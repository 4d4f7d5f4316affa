#include "scheduler/hadoop/names.h"

#include <gtest/gtest.h>

#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {
namespace {

TEST(Names, AnyIsAlwaysThere) {
  const Names names;
  EXPECT_EQ(names.Find("*"), Names::kAny);
  EXPECT_EQ(names.Text(Names::kAny), "*");
  EXPECT_EQ(names.Hash(Names::kAny), java::HashOfString("*"));
}

TEST(Names, ANameIsKeptWhileSomebodyUsesIt) {
  Names names;
  const NameId host = names.Acquire("host");
  EXPECT_EQ(names.Acquire("host"), host);
  names.Release(host);
  EXPECT_EQ(names.Find("host"), host);
  names.Release(host);
  EXPECT_FALSE(names.Find("host").valid());
}

TEST(Names, StrangersFillNoMoreThanTheyUse) {
  Names names;
  for (int i = 0; i < 10'000; ++i) names.Release(names.Acquire("host" + std::to_string(i)));
  EXPECT_EQ(names.count(), 1U);
  EXPECT_EQ(names.Acquire("another").value, 1U) << "numbers are used again";
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop

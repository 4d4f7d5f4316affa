#include "base/numbered.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::base {
namespace {

TEST(Numbered, WhatIsDroppedIsGoneAndItsNumberStaysUsed) {
  Numbered<std::string> names;
  for (const char* name : {"a", "b", "c", "d"}) names.Add(name);
  names.Drop({0, 2, 9});
  EXPECT_EQ(names.next(), 4u);
  EXPECT_EQ(names.size(), 2u);
  names.Add("e");
  EXPECT_EQ(names[1] + names[3] + names[4], "bde");
  for (const uint32_t gone : {0u, 2u, 5u}) EXPECT_FALSE(names.contains(gone));
  EXPECT_EQ(names.begin()->first, 1u);
  names.Drop({4});
  EXPECT_EQ(names.Add("f"), "f");
  EXPECT_EQ(names[5], "f") << "not the number of what was dropped";
  EXPECT_DEATH(names[0], "dropped");
}

}  // namespace
}  // namespace fairlead::base

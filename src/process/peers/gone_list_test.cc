#include "process/peers/gone_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::process::peers {
namespace {

std::vector<uint32_t> Excess(GoneList& list) {
  std::vector<uint32_t> out;
  while (const auto number = list.TakeExcess()) out.push_back(*number);
  return out;
}

TEST(GoneList, TheLongestGoneOfTheAddressWithMostIsForgotten) {
  GoneList list({.count_max = 3, .bytes_max = 1000});
  list.Add(1, "honest", 10);
  for (uint32_t i = 2; i < 6; ++i) list.Add(i, "crowd", 10);
  EXPECT_EQ(Excess(list), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(list.size(), 3U);
  list.Remove(1);
  list.Remove(1);
  EXPECT_EQ(list.bytes(), 20U);
  EXPECT_TRUE(Excess(list).empty());
}

TEST(GoneList, BytesCountAsWell) {
  GoneList list({.count_max = 100, .bytes_max = 1000});
  for (uint32_t i = 0; i < 50; ++i) list.Add(i, "many small ones", 10);
  list.Add(50, "large", 900);
  EXPECT_EQ(Excess(list), (std::vector<uint32_t>{50}));
  list.Add(51, "larger than all", 2000);
  EXPECT_EQ(Excess(list), (std::vector<uint32_t>{51}));
  EXPECT_EQ(list.size(), 50U);
}

TEST(GoneList, NothingIsKeptWhereNothingMayBe) {
  GoneList list({});
  list.Add(7, "", 0);
  EXPECT_EQ(Excess(list), (std::vector<uint32_t>{7}));
}

}  // namespace
}  // namespace fairlead::process::peers

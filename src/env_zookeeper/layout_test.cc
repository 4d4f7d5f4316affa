#include "env_zookeeper/layout.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::env_zookeeper {
namespace {

TEST(Layout, NamesOfRowsAreReadBack) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const RowName names[] = {{"rm/app", "application_1_0001", 7, std::nullopt},
                           {"rm/epoch", "", UINT64_MAX, std::nullopt},
                           {"t", every_byte, 1, 3}};
  for (const RowName& name : names) EXPECT_EQ(ParseRowName(ToString(name)), name) << ToString(name);
  EXPECT_EQ(ToString(names[0]), "rm%2fapp,application_1_0001,7");
}

TEST(Layout, OtherNamesAreNone) {
  for (const char* name : {"", "a", "a,b", "a,b,x", "a,b,1,", "a,b,1,2,3", "a,%2,1", "a,%zz,1", "a b,c,1", "a,b,1 ",
                           "a,b,01", "a,b,A", "a,%41,1", "a,b,1,02"}) {
    EXPECT_EQ(ParseRowName(name), std::nullopt) << name;
  }
}

TEST(Layout, NodesSayHowTheyHoldARow) {
  EXPECT_EQ(PartsOf(InlineValue("p3")), 0u);
  EXPECT_EQ(PartsOf(PartedValue(3)), 3u);
  for (const char* node : {"", "p", "p0", "p3x", "w"}) EXPECT_EQ(PartsOf(node), std::nullopt) << node;
}

}  // namespace
}  // namespace fairlead::env_zookeeper

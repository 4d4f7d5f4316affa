#include "config/machine_list.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

MachineList Of(std::string_view text) {
  const auto parsed = MachineList::Parse(text, [](const std::string& name) -> std::vector<std::string> {
    if (name == "gateway.example.com") return {"10.1.2.3", "fd00::3"};
    return {};
  });
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? *parsed : MachineList();
}

TEST(MachineListTest, AStarAloneIsEverywhere) {
  EXPECT_TRUE(Of(" * ").Includes("10.9.9.9"));
  EXPECT_FALSE(Of("*,10.0.0.1").Includes("10.9.9.9"));  // there is no machine of that name
  EXPECT_FALSE(Of("").Includes("10.9.9.9"));
}

TEST(MachineListTest, AddressesNamesAndRanges) {
  const MachineList list = Of("10.0.0.1, gateway.example.com, nobody.example.com, 192.168.4.0/22,fd01::/16");
  for (const char* in : {"10.0.0.1", "10.1.2.3", "fd00::3", "192.168.7.255", "fd01:2::1", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(list.Includes(in)) << in;
  }
  for (const char* out : {"10.0.0.2", "192.168.8.0", "fd02::1", "gateway.example.com", ""}) {
    EXPECT_FALSE(list.Includes(out)) << out;
  }
  EXPECT_TRUE(Of("0.0.0.0/0").Includes("8.8.8.8"));
  EXPECT_FALSE(Of("0.0.0.0/0").Includes("fd00::3"));
}

TEST(MachineListTest, ARangeThatCannotBeReadIsAnError) {
  for (const char* text : {"10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8x", "host/8", "10.0.0.0/-1"}) {
    const auto parsed = MachineList::Parse(text, [](const std::string&) { return std::vector<std::string>(); });
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("is no range of addresses"), std::string::npos);
  }
}

}  // namespace
}  // namespace fairlead::config

#include "config/host_list.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

using Names = std::vector<std::string>;

TEST(HostListTest, LinesHoldNamesAndComments) {
  const HostList list = ParseHostList("a b\tc\r\n# d e\nf # g\nh#i\n\n j");
  EXPECT_EQ(list.names, (Names{"a", "b", "c", "f", "h#i", "j"}));
  EXPECT_TRUE(list.timeouts_s.empty());
  EXPECT_TRUE(ParseHostList("").names.empty());
}

TEST(HostListTest, XmlHoldsNamesAndTimeouts) {
  const auto list = ParseHostListXml(
      "<?xml version=\"1.0\"?><hosts><host><name>a, b</name><timeout> 60 </timeout></host>"
      "<host><name>c</name></host><host/></hosts>");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->names, (Names{"a", "b", "c"}));
  EXPECT_EQ(list->timeouts_s, (std::map<std::string, int64_t>{{"a", 60}, {"b", 60}}));
}

TEST(HostListTest, WhatCannotBeReadIsAnError) {
  EXPECT_FALSE(ParseHostListXml("a\nb\n").ok());
  EXPECT_FALSE(ParseHostListXml("<hosts><host><name>a</name><timeout>soon</timeout></host></hosts>").ok());
  EXPECT_FALSE(ParseHostListXml("<hosts><host>").ok());
}

}  // namespace
}  // namespace fairlead::config

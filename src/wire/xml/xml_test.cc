#include "wire/xml/xml.h"

#include <gtest/gtest.h>

namespace fairlead::wire::xml {
namespace {

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string Refusal(const std::string& text, const base::BudgetKind& kind = kRequest) {
  pugi::xml_document document;
  const auto loaded = Load(document, text, kind);
  if (loaded.ok()) return "";
  EXPECT_TRUE(loaded.error().too_large);
  return loaded.error().message;
}

TEST(Xml, IsRead) {
  pugi::xml_document document;
  ASSERT_TRUE(Load(document, "<?xml version='1.0'?><!-- a --><app id='1'><name>a &lt; b</name></app>", kRequest).ok());
  EXPECT_STREQ(document.child("app").child_value("name"), "a < b");
}

TEST(Xml, WhatIsNoXmlIsToldWithItsPlace) {
  pugi::xml_document document;
  const auto loaded = Load(document, "<app><name></app>", kRequest);
  ASSERT_FALSE(loaded.ok());
  EXPECT_FALSE(loaded.error().too_large);
  EXPECT_EQ(loaded.error().message, "Start-end tags mismatch");
  EXPECT_EQ(loaded.error().at, 13);
}

TEST(Xml, DepthIsBounded) {
  const auto nested = [](size_t depth) { return Repeated("<a>", depth) + Repeated("</a>", depth); };
  EXPECT_EQ(Refusal(nested(33)), "");  // a root and 32 levels below
  EXPECT_EQ(Refusal(nested(34)), "an XML request of 238 bytes is refused: it is nested deeper than 32");
  EXPECT_EQ(Refusal("<b/><c><a/></c>" + nested(34)),
            "an XML request of 253 bytes is refused: it is nested deeper than 32");
  EXPECT_EQ(Refusal(nested(1'000'000), kFile), "an XML file of 7000000 bytes is refused: it is nested deeper than 128");
}

TEST(Xml, BytesTagsAndMemoryAreBounded) {
  EXPECT_NE(Refusal(std::string(50 << 20, ' '), kFile).find("it may have 16777216"), std::string::npos);
  EXPECT_NE(Refusal("<a>" + Repeated("<b/>", 50'000) + "</a>").find("is refused"), std::string::npos);
  EXPECT_NE(Refusal("<a" + Repeated(" b=''", 300'000) + "/>").find("takes more than 8388608 bytes"), std::string::npos);
  EXPECT_EQ(Refusal("<a>" + Repeated("<queue name='production'><weight>2</weight></queue>", 10'000) + "</a>", kFile),
            "");
}

/// pugixml knows no entities but XML's own five.
TEST(Xml, EntitiesOfADocumentAreNotExpanded) {
  std::string text = "<!DOCTYPE a [<!ENTITY x0 \"xxxxxxxxxx\">";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "&x" + std::to_string(i - 1) + ";";
    text += "<!ENTITY x" + std::to_string(i) + " \"" + Repeated(before, 10) + "\">";
  }
  pugi::xml_document document;
  ASSERT_TRUE(Load(document, text + "]><a>&x9;</a>", kRequest).ok());
  EXPECT_STREQ(document.child("a").child_value(), "&x9;");
}

}  // namespace
}  // namespace fairlead::wire::xml

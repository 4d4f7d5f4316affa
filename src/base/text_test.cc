#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"

namespace fairlead::base {
namespace {

TEST(VisibleText, LettersStayAndOrdersToTheTerminalAreSeen) {
  EXPECT_EQ(VisibleText("Zähler №1 数 \U0001F600"), "Zähler №1 数 \U0001F600");
  EXPECT_EQ(VisibleText("\x1b[2J\x07\x7f\r"), "\\u001b[2J\\u0007\\u007f\\u000d");
  EXPECT_EQ(VisibleText("a\u009b31m\u202egnp\u2028\u2066\ufeff"), "a\\u009b31m\\u202egnp\\u2028\\u2066\\ufeff");
  EXPECT_EQ(VisibleText(std::string_view("a\0b", 3)), "a\\u0000b");
}

TEST(VisibleText, BytesThatAreNoUtf8AreSeen) {
  EXPECT_EQ(VisibleText("\x9b"
                        "a\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82"),
            "\\u009ba\\u00ff\\u00c0\\u00af\\u00ed\\u00a0\\u0080\\u00f4\\u0090\\u0080\\u0080\\u00e2\\u0082");
}

TEST(Counted, OneIsNoPlural) {
  EXPECT_EQ(Counted(0, "slot"), "0 slots");
  EXPECT_EQ(Counted(1, "slot"), "1 slot");
  EXPECT_EQ(Counted(21, "slot"), "21 slots");
}

TEST(VisibleText, LinesStayWhereTheyMay) {
  EXPECT_EQ(VisibleText("a\n\tb"), "a\\n\\tb");
  EXPECT_EQ(VisibleText("a\n\tb\r\n", Lines::kKept), "a\n\tb\\u000d\n");
}

TEST(VisibleText, EveryByteAndPairOfBytesBecomesHarmless) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const std::string seen = VisibleText(text);
      for (std::string_view rest = seen; !rest.empty(); rest.remove_prefix(Utf8Length(rest))) {
        ASSERT_NE(Utf8Length(rest), 0u) << first << " " << second;
        ASSERT_FALSE(IsControl(rest.substr(0, Utf8Length(rest)))) << first << " " << second;
      }
      EXPECT_EQ(VisibleText(seen), seen);
      std::string json;
      AppendJsonString(json, text);
      EXPECT_EQ(VisibleText(json), json) << "JSON has none either";
    }
  }
}

TEST(Split, PartsAsJavaTrimsThem) {
  EXPECT_EQ(Trimmed(" \t a b\n\r "), "a b");
  EXPECT_EQ(Trimmed(" \n"), "");
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(SplitTrimmed(" a , ,b,"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(SplitTrimmed(" , "), (std::vector<std::string>{}));
}

TEST(Joined, NothingStandsBeforeTheFirst) {
  const std::vector<std::string> parts{"", "b"};
  EXPECT_EQ(Joined(parts, ", "), ", b");
  EXPECT_EQ(Joined(std::vector<std::string>{}, ", "), "");
}

TEST(Letters, OnlyThoseOfAsciiChange) {
  EXPECT_EQ(Lowered("AzZ\xc3\x84"), "azz\xc3\x84");
  EXPECT_EQ(Uppered("Az1_"), "AZ1_");
  EXPECT_EQ(Hex(std::string_view("\x00\x7f\xff", 3)), "007fff");
}

}  // namespace
}  // namespace fairlead::base

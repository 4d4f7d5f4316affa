#include "endpoints/spark/id_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::endpoints::spark {
namespace {

using ::testing::HasSubstr;

const std::vector<IdPattern::Argument> kOf = {"20260131235959", int64_t{42}};

std::string Formatted(std::string_view pattern) {
  const auto parsed = IdPattern::Parse(pattern, kOf);
  return parsed.ok() ? parsed->Format(kOf) : "refused: " + parsed.error().message;
}

TEST(IdPattern, FormatsAsJava) {
  EXPECT_EQ(Formatted("app-%s-%04d"), "app-20260131235959-0042");
  EXPECT_EQ(Formatted("%2$d.%1$s.%2$x"), "42.20260131235959.2a");
  EXPECT_EQ(Formatted("a%%%s%o"), "a%2026013123595952");
  EXPECT_EQ(Formatted("%2$06X"), "00002A");
  EXPECT_EQ(Formatted("fixed"), "fixed");
}

TEST(IdPattern, RefusesWhatJavaWouldOrADirectoryCannotBe) {
  EXPECT_THAT(Formatted("%d-%d"), HasSubstr("a number of what is none"));
  EXPECT_THAT(Formatted("%s-%d-%d"), HasSubstr("more conversions than there are values"));
  EXPECT_THAT(Formatted("%3$s"), HasSubstr("more conversions than there are values"));
  EXPECT_THAT(Formatted("%s-%"), HasSubstr("other than %s"));
  EXPECT_THAT(Formatted("%s-%f"), HasSubstr("other than %s"));
  EXPECT_THAT(Formatted("%s-%99999d"), HasSubstr("width"));
  EXPECT_THAT(Formatted("%s-%99999999999999999999d"), HasSubstr("other than %s"));
  EXPECT_THAT(Formatted("%s-%0d"), HasSubstr("without a width"));
  EXPECT_THAT(Formatted("%020s-%d"), HasSubstr("text with zeros"));
  EXPECT_THAT(Formatted("my app %s-%d"), HasSubstr("blanks"));
  EXPECT_THAT(Formatted("%s-%20d"), HasSubstr("blanks"));
  EXPECT_THAT(Formatted("../%s-%d"), HasSubstr("slashes"));
  EXPECT_THAT(Formatted(".."), HasSubstr("dots alone"));
  EXPECT_THAT(Formatted(""), HasSubstr("dots alone"));
}

TEST(IdPattern, NumbersTellIdsApart) {
  EXPECT_THAT(NumberedIds("app-%s").error().message, HasSubstr("has no number"));
  EXPECT_EQ(NumberedIds("a%2$d")->Format({"", int64_t{7}}), "a7");
  EXPECT_EQ(WorkerIds("w-%2$s")->Format({"", "host", int64_t{1}}), "w-host");
}

}  // namespace
}  // namespace fairlead::endpoints::spark

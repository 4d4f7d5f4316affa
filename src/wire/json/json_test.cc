#include "wire/json/json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace fairlead::wire::json {
namespace {

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string Nested(size_t depth) { return Repeated("[", depth) + Repeated("]", depth); }

std::string Refusal(const std::string& text, const base::BudgetKind& kind = kRequest) {
  const auto parsed = Parse(text, kind);
  const auto ordered = ParseOrdered(text, kind);
  EXPECT_EQ(parsed.ok(), ordered.ok()) << text.substr(0, 100);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(Json, IsWhatTheLibraryReads) {
  for (const char* text : {"{}", "[]", "null", "true", "-1", "18446744073709551615", "1.5e3", R"("a\u00e9\n")",
                           R"({"b": [1, {"c": {}}, [[]], "x"], "a": {"z": null, "y": -2}})"}) {
    EXPECT_EQ(*Parse(text, kRequest), nlohmann::json::parse(text)) << text;
    EXPECT_EQ(ParseOrdered(text, kRequest)->dump(), nlohmann::ordered_json::parse(text).dump()) << text;
  }
}

TEST(Json, OfEqualMembersTheLastCountsWhereTheFirstStood) {
  const char* text = R"({"b": 1, "a": 2, "b": {"c": 1}, "d": 3, "b": 4, "a": 5})";
  EXPECT_EQ(Parse(text, kRequest)->dump(), R"({"a":5,"b":4,"d":3})");
  EXPECT_EQ(ParseOrdered(text, kRequest)->dump(), R"({"b":4,"a":5,"d":3})");
}

TEST(Json, WhatIsNoJsonIsToldByItsPlace) {
  EXPECT_EQ(Refusal("{\n \"a\": x}"), "no JSON: wrong at byte 9, line 2");
  for (const char* text : {"", " ", "{", "[1,]", "1 2", "{\"a\"}", "\"\xff\"", "1e999", "nul", "]"}) {
    EXPECT_TRUE(Refusal(text).starts_with("no JSON: wrong at byte ")) << text;
  }
}

TEST(Json, DepthIsBounded) {
  EXPECT_EQ(Refusal(Nested(32)), "");
  EXPECT_EQ(Refusal(Nested(33)), "a JSON request of 66 bytes is refused: it is nested deeper than 32");
  EXPECT_EQ(Refusal(Repeated("[", 1'000'000)),
            "a JSON request of 1000000 bytes is refused: it is nested deeper than 32");
  EXPECT_NE(Refusal(Repeated("{\"a\":", 400'000)).find("nested deeper"), std::string::npos);
}

TEST(Json, BytesNodesAndMemoryAreBounded) {
  EXPECT_NE(Refusal("\"" + std::string(2 << 20, 'a') + "\"").find("it may have 2097152"), std::string::npos);
  EXPECT_NE(Refusal("[" + Repeated("1,", 50'000) + "1]").find("more than 50000 elements"), std::string::npos);
  EXPECT_NE(Refusal("[" + Repeated("{},", 49'000) + "1]").find("takes more than"), std::string::npos);
  EXPECT_EQ(Refusal("\"" + std::string((2 << 20) - 2, 'a') + "\""), "");
}

/// 128 s with the members of nlohmann's ordered object.
TEST(Json, ManyMembersAreReadInTimeInProportionToTheirNumber) {
  std::string text = "{\"0\": {}";
  for (int i = 1; i < 150'000; ++i) text += ",\"" + std::to_string(i) + "\":\"\"";
  text += "}";
  EXPECT_NE(Refusal(text), "");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ParseOrdered(text, kAnswer)->size(), 150'000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// What is parsed can be copied, written and freed, however deep it is.
TEST(Json, TheDeepestValueCanBeWritten) {
  const auto parsed = Parse(Nested(64), kFile);
  ASSERT_TRUE(parsed.ok());
  const nlohmann::json copy = *parsed;
  EXPECT_EQ(copy.dump(), Nested(64));
}

}  // namespace
}  // namespace fairlead::wire::json

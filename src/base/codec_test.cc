#include "base/codec.h"

#include <gtest/gtest.h>

namespace fairlead::base {
namespace {

constexpr BudgetKind kKind = DecodedKind("a value of tests", 1 << 20, 1024);

// Nothing from outside is decoded without a budget: such a decoder does not compile.
static_assert(!std::is_constructible_v<ByteReader, std::string_view>);
static_assert(!std::is_constructible_v<ByteReader, std::string&>);
static_assert(std::is_constructible_v<ByteReader, std::string_view, Budget&>);
static_assert(!std::is_copy_constructible_v<Budget>);  // a copy would be a second allowance

struct Inner {
  static constexpr std::string_view kName = "inner";
  int32_t number = 0;
  std::string text;
  FL_FIELDS(number, text)
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Empty {
  static constexpr std::string_view kName = "empty";
  FL_NO_FIELDS()
  friend bool operator==(const Empty&, const Empty&) = default;
};

struct Outer {
  std::vector<std::variant<Inner, Empty>> events;
  std::map<std::string, int64_t> counts;
  std::optional<double> ratio;
  bool flag = false;
  FL_FIELDS(events, counts, ratio, flag)
  friend bool operator==(const Outer&, const Outer&) = default;
};

Outer Sample() { return {{Inner{-7, "seven"}, Empty{}}, {{"a", INT64_MIN}, {"b", INT64_MAX}}, 0.25, true}; }

TEST(Codec, RoundTripGivesTheSameValue) {
  std::string bytes;
  Encode(bytes, Sample());
  Budget budget(kKind, bytes.size());
  ByteReader in(bytes, budget);
  Outer back;
  Decode(in, back);
  EXPECT_TRUE(in.done());
  EXPECT_EQ(back, Sample());
}

TEST(Codec, EveryTruncationIsNoticed) {
  std::string bytes;
  Encode(bytes, Sample());
  for (size_t n = 0; n < bytes.size(); ++n) {
    Budget budget(kKind, bytes.size());
    ByteReader in(std::string_view(bytes).substr(0, n), budget);
    Outer back;
    Decode(in, back);
    EXPECT_TRUE(in.failed()) << "cut at " << n;
  }
}

TEST(Codec, AnUnknownAlternativeFails) {
  const std::string bytes("\x01\x09", 2);
  Budget budget(kKind, bytes.size());
  ByteReader in(bytes, budget);
  Outer back;
  Decode(in, back);
  EXPECT_TRUE(in.failed());
}

TEST(Codec, JsonNamesFieldsAndAlternatives) {
  std::string json;
  ToJson(json, Sample());
  EXPECT_EQ(json, R"({"events":[{"inner":{"number":-7,"text":"seven"}},{"empty":{}}],)"
                  R"("counts":[["a",-9223372036854775808],["b",9223372036854775807]],"ratio":0.25,"flag":true})");
}

TEST(Codec, JsonStringsAreAlwaysUtf8) {
  const auto json = [](std::string_view text) {
    std::string out;
    AppendJsonString(out, text);
    return out;
  };
  EXPECT_EQ(json("h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"), "\"h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  EXPECT_EQ(json("\xA2\xC3"), "\"\\u00a2\\u00c3\"");
  EXPECT_EQ(json("\xC0\x80\xED\xA0\x80"), "\"\\u00c0\\u0080\\u00ed\\u00a0\\u0080\"");
}

}  // namespace
}  // namespace fairlead::base

#include "base/stored.h"

#include <gtest/gtest.h>

namespace fairlead::base {
namespace {

enum class Colour : uint8_t { kRed, kBlue = 200 };

// One struct inside of another, as two releases know it.
struct InnerBefore {
  int32_t number = 0;
  std::string text;
  FL_FIELDS(number, text)
};
struct OuterBefore {
  std::string name;
  std::vector<InnerBefore> items;
  std::map<std::string, InnerBefore> by_name;
  std::optional<InnerBefore> maybe;
  std::variant<std::string, InnerBefore> either;
  std::array<InnerBefore, 2> pair;
  int64_t last = 0;
  FL_FIELDS(name, items, by_name, maybe, either, pair, last)
};
struct Inner {
  int32_t number = 0;
  std::string text;
  Colour colour = Colour::kBlue;
  std::vector<int64_t> more = {7};
  FL_FIELDS(number, text, colour, more)
  friend bool operator==(const Inner&, const Inner&) = default;
};
struct Outer {
  std::string name;
  std::vector<Inner> items;
  std::map<std::string, Inner> by_name;
  std::optional<Inner> maybe;
  std::variant<std::string, Inner> either;
  std::array<Inner, 2> pair;
  int64_t last = 0;
  bool added = true;
  FL_FIELDS(name, items, by_name, maybe, either, pair, last, added)
  friend bool operator==(const Outer&, const Outer&) = default;
};

Outer Sample() {
  const Inner inner{-3, "three", Colour::kRed, {INT64_MIN, INT64_MAX}};
  return {"name", {inner, {}}, {{"k", inner}}, inner, inner, {Inner{}, inner}, 1, false};
}

template <class T>
std::string Refusal(std::string_view bytes) {
  const auto read = DecodeStored<T>(bytes);
  return read.ok() ? "" : read.error().message;
}

TEST(Stored, TheSameValueComesBack) {
  EXPECT_EQ(*DecodeStored<Outer>(EncodeStored(Sample())), Sample());
  EXPECT_EQ(*DecodeStored<int64_t>(EncodeStored(int64_t{-5})), -5);
  const Inner large{0, std::string(100'000, 'x'), Colour::kBlue, {}};  // a length of several bytes
  EXPECT_EQ(*DecodeStored<Inner>(EncodeStored(large)), large);
}

TEST(Stored, AStructThatGrewInTheMiddleOfAnotherIsReadWithDefaults) {
  const InnerBefore inner{-3, "three"};
  const OuterBefore before{"name", {inner, inner}, {{"k", inner}}, inner, inner, {inner, inner}, 9};
  const auto read = DecodeStored<Outer>(EncodeStored(before));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Inner expected{-3, "three"};
  EXPECT_EQ(expected.more, std::vector<int64_t>{7});
  EXPECT_EQ(*read,
            (Outer{"name", {expected, expected}, {{"k", expected}}, expected, expected, {expected, expected}, 9}));
}

TEST(Stored, WhatALaterReleaseWroteIsRefused) {
  EXPECT_NE(Refusal<InnerBefore>(EncodeStored(Inner{})).find("later release"), std::string::npos);
  EXPECT_NE(Refusal<OuterBefore>(EncodeStored(Sample())).find("later release"), std::string::npos);
  using Later = std::variant<int64_t, Inner>;
  EXPECT_NE(Refusal<std::variant<int64_t>>(EncodeStored(Later(Inner{}))).find("later release"), std::string::npos);
  std::string other = EncodeStored(Sample());
  other[0] = 2;
  EXPECT_NE(Refusal<Outer>(other).find("its format is 2 and this release reads 1"), std::string::npos);
}

TEST(Stored, WhatALaterReleaseWroteIsToldFromDamage) {
  EXPECT_TRUE(IsOfLaterRelease<InnerBefore>(EncodeStored(Inner{})));
  const std::string grown = EncodeStored(Sample());
  EXPECT_TRUE(IsOfLaterRelease<OuterBefore>(grown)) << "wherever the struct is nested";
  std::string other = grown;
  other[0] = 2;
  EXPECT_TRUE(IsOfLaterRelease<Outer>(other));
  for (size_t n = 0; n < grown.size(); ++n) EXPECT_FALSE(IsOfLaterRelease<OuterBefore>(grown.substr(0, n))) << n;
  EXPECT_FALSE(IsOfLaterRelease<OuterBefore>(grown + "x"));
  EXPECT_FALSE(IsOfLaterRelease<Outer>("\x01\xff\xff"));
}

TEST(Stored, NoTruncationAndNoExtensionIsMisread) {
  const std::string bytes = EncodeStored(Sample());
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(DecodeStored<Outer>(bytes.substr(0, n)).ok()) << n;
  EXPECT_FALSE(DecodeStored<Outer>(bytes + '\0').ok());
}

TEST(Stored, CountsAreBoundedByTheBytesThatAreThere) {
  // 2^60 items in ten bytes.
  std::string bytes(1, static_cast<char>(kStoredFormat));
  PutVarint(bytes, uint64_t{1} << 60);
  EXPECT_FALSE(DecodeStored<std::vector<Inner>>(bytes + "abc").ok());
  EXPECT_FALSE((DecodeStored<std::map<std::string, Inner>>(bytes + "abc").ok()));
  EXPECT_FALSE(DecodeStored<std::set<int64_t>>(bytes + "abc").ok());
  EXPECT_FALSE(DecodeStored<std::string>(bytes + "abc").ok());
}

TEST(Stored, NumbersThatDoNotFitAreRefused) {
  EXPECT_FALSE(DecodeStored<int32_t>(EncodeStored(int64_t{1} << 40)).ok());
  EXPECT_FALSE(DecodeStored<uint8_t>(EncodeStored(int64_t{-1})).ok());
  EXPECT_EQ(*DecodeStored<uint64_t>(EncodeStored(UINT64_MAX)), UINT64_MAX);
  EXPECT_FALSE(DecodeStored<bool>(std::string("\x01\x02", 2)).ok());
  EXPECT_FALSE(DecodeStored<Colour>(std::string("\x01\x80\x02", 3)).ok()) << "256 is no uint8_t";
  EXPECT_FALSE(DecodeStored<uint64_t>("\x01" + std::string(9, '\xff') + "\x7f").ok()) << "more than 64 bits";
}

TEST(Stored, HashesKeepThePlainForm) {
  std::string plain;
  Encode(plain, InnerBefore{-3, "three"});
  EXPECT_EQ(plain, "\x05\x05three");
  EXPECT_EQ(EncodeStored(InnerBefore{-3, "three"}), "\x01\x07\x05\x05three");
}

TEST(Sealed, EveryFlippedByteAndEveryTruncationIsNoticed) {
  const std::string bytes = EncodeSealed(Sample());
  EXPECT_EQ(*DecodeSealed<Outer>(bytes), Sample());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      EXPECT_FALSE(DecodeSealed<Outer>(damaged).ok()) << i;
    }
    EXPECT_FALSE(DecodeSealed<Outer>(bytes.substr(0, i)).ok()) << i;
  }
}

TEST(Checksum, KnowsWhereAPartEnds) {
  EXPECT_NE(Checksum({"ab", "c"}), Checksum({"a", "bc"}));
  EXPECT_NE(Checksum({"", "abc"}), Checksum({"abc", ""}));
  EXPECT_NE(Checksum({"abc"}), Checksum({"abc", ""}));
}

}  // namespace
}  // namespace fairlead::base

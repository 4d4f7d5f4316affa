#include "wire/digest_md5/digest_md5.h"

#include <gtest/gtest.h>

#include "wire/digest_md5/sealer.h"

namespace fairlead::wire::digest_md5 {
namespace {

TEST(DigestMd5, FieldsAreReadAsTheyAreQuoted) {
  const auto fields = ParseFields(R"( a="x,\"y", b=2,,c="" )");
  ASSERT_TRUE(fields);
  EXPECT_EQ(*fields, (Fields{{"a", "x,\"y"}, {"b", "2"}, {"c", ""}}));
  EXPECT_EQ(Find(*fields, "a"), "x,\"y");
  EXPECT_EQ(Find(*fields, "none"), "");
  const auto again = ParseFields("k=" + Quoted("a\\b\"c"));
  ASSERT_TRUE(again);
  EXPECT_EQ(Find(*again, "k"), "a\\b\"c");
}

TEST(DigestMd5, WhatIsOfAnotherFormIsRefused) {
  for (const char* bad : {"a", "a=\"x", "a=\"x\\", "a=1,a=2", "a=\"x\"y"}) EXPECT_FALSE(ParseFields(bad)) << bad;
}

TEST(DigestMd5, LongMessagesAreRefused) {
  EXPECT_TRUE(ParseFields("a=" + std::string((64 << 10) - 2, 'x')));
  EXPECT_FALSE(ParseFields("a=" + std::string((64 << 10) - 1, 'x')));
}

// What the JDK's client and server say for these.
TEST(DigestMd5, TheJdksVector) {
  const Login login{.username = "Cg0KCQgBEIDQlf+8MRABEPv//////////wE=",
                    .realm = "default",
                    .password = "d6N3WIIRRfBPhY9Iqu2ldB2ul1I=",
                    .nonce = "ipaidcZaPAlO4lGMhsBcYR2UiSWHJZInOOmk0UVe",
                    .cnonce = "5P5L0AekSVXAbBx8VKrM8RxRQIO5bb0+9LZ2Ohja",
                    .digest_uri = "/default",
                    .authzid = {}};
  EXPECT_EQ(Response(login, true), "ddf603c6af0eee7ef007b462ca10b8c8");
  EXPECT_EQ(Response(login, false), "caee9fca3602fa081c9ab4bca90e20f4");
}

TEST(Sealer, KnowsItsCiphersAlone) {
  const std::string key(16, 'k');
  for (const char* cipher : {"", "3des", "des", "rc4", "rc4-56", "rc4-40"}) {
    EXPECT_NE(Sealer::Make(key, cipher, true), nullptr) << cipher;
  }
  EXPECT_EQ(Sealer::Make(key, "aes", true), nullptr);
  EXPECT_EQ(Sealer::Make("short", "3des", true), nullptr);
}

}  // namespace
}  // namespace fairlead::wire::digest_md5

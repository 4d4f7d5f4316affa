#include "process/login/cookie.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::login {
namespace {

constexpr char kSecret[] = "a secret of this test";
constexpr int64_t kNow = 1'795'000'000'000;
const Cookie kAlice{"alice", "alice@EXAMPLE.COM", "kerberos", kNow + 1000};

http::Request With(const std::string& header) {
  http::Request request;
  request.headers = {{"Accept", "*/*"}, {"cookie", header}};
  return request;
}

/// By a program that has the secret and no bound.
std::string SignedElsewhere(const std::string& text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), kSecret, sizeof kSecret - 1, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         mac, &size);
  return text + "&s=" + wire::hadoop_rpc::EncodeBase64({reinterpret_cast<const char*>(mac), size});
}

TEST(CookieTest, IsSignedAsHadoopSignsIt) {
  // By org.apache.hadoop.security.authentication.util.Signer: base64(HmacSHA256(secret, text)).
  const auto text = Sign({"alice", "alice@EXAMPLE.COM", "kerberos", 1795839772286}, "secret");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text,
            "u=alice&p=alice@EXAMPLE.COM&t=kerberos&e=1795839772286&s=x8YeGYrpraHzqfr4tDVXYk4tEO7QovtCUz6clC21voM=");
}

TEST(CookieTest, WhatWasSignedComesBack) {
  const std::string text = *Sign(kAlice, kSecret);
  const auto cookie = Verify(text, kSecret, "kerberos", kNow);
  ASSERT_TRUE(cookie.has_value());
  EXPECT_EQ(cookie->user, "alice");
  EXPECT_EQ(cookie->principal, "alice@EXAMPLE.COM");
  EXPECT_EQ(cookie->expires_ms, kAlice.expires_ms);
}

TEST(CookieTest, ForgedUnsignedExpiredAndForeignOnesAreNone) {
  const std::string text = *Sign(kAlice, kSecret);
  std::string forged = text;
  forged.replace(forged.find("alice"), 5, "root1");
  const std::string unsigned_text = text.substr(0, text.find("&s="));
  for (const std::string& bad :
       {forged, unsigned_text, unsigned_text + "&s=", text + "x", text.substr(0, text.size() - 1), std::string("&s="),
        std::string(), std::string(5000, 'u')}) {
    EXPECT_FALSE(Verify(bad, kSecret, "kerberos", kNow)) << bad.substr(0, 200);
  }
  EXPECT_FALSE(Verify(text, "another", "kerberos", kNow));
  EXPECT_FALSE(Verify(text, kSecret, "simple", kNow));
  EXPECT_FALSE(Verify(text, kSecret, "kerberos", kAlice.expires_ms));
  EXPECT_FALSE(Verify(*Sign(kAlice, ""), "", "kerberos", kNow)) << "no secret is no secret that all know";
}

TEST(CookieTest, LongOnesAreNone) {
  const Cookie fits{std::string(3000, 'a'), "p", "kerberos", kNow + 1000};
  EXPECT_TRUE(Verify(*Sign(fits, kSecret), kSecret, "kerberos", kNow));
  const Cookie longer{std::string(5000, 'a'), "p", "kerberos", kNow + 1000};
  EXPECT_FALSE(Sign(longer, kSecret));
  // Signed by another program with the secret: u=...&p=p&t=kerberos&e=...
  EXPECT_TRUE(Verify(SignedElsewhere("u=" + std::string(4000, 'a') + "&p=p&t=kerberos&e=1"), kSecret, "kerberos", 0));
  EXPECT_FALSE(Verify(SignedElsewhere("u=" + std::string(4096, 'a') + "&p=p&t=kerberos&e=1"), kSecret, "kerberos", 0));
}

TEST(CookieTest, AFewOfARequestAreLookedAt) {
  const std::string good = "hadoop.auth=" + *Sign(kAlice, kSecret);
  std::string many;
  for (int i = 0; i < 7; ++i) many += "hadoop.auth=forged; ";
  EXPECT_TRUE(FindCookie(With(many + good), kSecret, "kerberos", kNow));
  EXPECT_FALSE(FindCookie(With(many + "hadoop.auth=forged; " + good), kSecret, "kerberos", kNow));
  EXPECT_EQ(CookiesOf(With(many + many)).size(), 8U);
}

TEST(CookieTest, NamesThatWouldSayMoreAreNotSigned) {
  EXPECT_FALSE(Sign({"alice&u=root", "p", "t", 1}, kSecret));
  EXPECT_FALSE(Sign({"alice", "p\r\nSet-Cookie: x", "t", 1}, kSecret));
  EXPECT_FALSE(Sign({"", "p", "t", 1}, kSecret));
}

TEST(CookieTest, IsFoundAmongOthersQuotedOrNot) {
  const std::string text = *Sign(kAlice, kSecret);
  for (const std::string& header : {"hadoop.auth=\"" + text + "\"", "a=b; hadoop.auth=" + text + "; c=d",
                                    "hadoop.auth=forged; hadoop.auth=" + text}) {
    EXPECT_TRUE(FindCookie(With(header), kSecret, "kerberos", kNow)) << header;
  }
  for (const std::string& header : {"hadoop.authx=" + text, "x=" + text, text, std::string(";;= ;hadoop.auth=\"")}) {
    EXPECT_FALSE(FindCookie(With(header), kSecret, "kerberos", kNow)) << header;
  }
}

}  // namespace
}  // namespace fairlead::process::login

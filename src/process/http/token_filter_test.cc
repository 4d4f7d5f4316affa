#include "process/http/token_filter.h"

#include <gtest/gtest.h>

namespace fairlead::process::http {
namespace {

/// "0123456789abcdef0123456789abcdef".
constexpr const char* kKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";
constexpr base::WallTime kNow{1'790'000'000'000};
/// {"alg":"HS256","typ":"JWT"} {"sub":"a"}, signed by another program, as those below.
const std::string kToken =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIn0.YTr6qPF-N-Bo-UZqK7Hz8gvEwXiRoDS1Hw2fNFD_Ri4";
/// {"exp":1800000000}
const std::string kExpires =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE4MDAwMDAwMDB9.IwtT8wA_jvUc3XR-vDSOU7jo-mAI0HhTk5O0cIFefS0";
/// {"alg":"none"}, with a right signature of HS256.
const std::string kNone = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.o0RIQI0R4s4faJPv_f2ILgic5tdGTWXmQBdqFvkrRjk";
/// Signed with another key.
const std::string kOther = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.1o2q1l-HVPRHj2cKwsE9U_otCgo8vRdeHBD20JW3Hw4";
/// HS512, for which the key is too short.
const std::string kLong =
    "eyJhbGciOiJIUzUxMiJ9.eyJzdWIiOiJhIn0.BSyHxxGvVW78gNA-jUC5A4D"
    "HFLxR3rZ_prgwHD5g6qvluVbEFOT8-1U3TRUtXXn7Cf63zvfb2NSFafC45MqWiA";

/// The answer's text; "" where it is let through.
std::string Said(const TokenFilter& filter, const std::string& authorization, base::WallTime now = kNow) {
  Request request;
  if (!authorization.empty()) request.headers.emplace_back("authorization", authorization);
  const auto answer = filter.Check(request, now);
  EXPECT_EQ(answer ? answer->status : 403, 403);
  return answer ? answer->body : "";
}

TEST(TokenFilter, LetsThroughWhoHasTheKey) {
  const auto filter = TokenFilter::Make(kKey, false);
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(Said(*filter, "Bearer " + kToken), "");
  EXPECT_EQ(Said(*filter, "Bearer " + kExpires), "");
  EXPECT_EQ(Said(*filter, "Bearer " + kExpires, {1'800'000'000'000}), "JWT Validate Fail");
  EXPECT_EQ(Said(*filter, ""), "Authorization header is missing.");
  EXPECT_EQ(Said(*filter, "Basic dTpw"), "JWT Validate Fail");
  for (const char* other : {"Basic dXA", "Basic ??", "Basic ", "Digest dTpw"}) {
    EXPECT_EQ(Said(*filter, other), "Malformed Authorization header.") << other;
  }
  for (const std::string& token : {kNone, kOther, kLong, kToken.substr(0, kToken.size() - 4), std::string("a.b"),
                                   std::string(".."), kToken + "A", "x" + kToken}) {
    EXPECT_EQ(Said(*filter, "Bearer " + token), "JWT Validate Fail") << token;
  }
}

TEST(TokenFilter, BrowsersShowATokenAsAPassword) {
  const auto filter = TokenFilter::Make(kKey, false);
  ASSERT_TRUE(filter.ok());
  // "any:" and the token.
  const std::string shown =
      "Basic YW55OmV5SmhiR2NpT2lKSVV6STFOaUlzSW5SNWNDSTZJa3BYVkNKOS5leUp6ZFdJaU9pSmhJbjAuWVRyNnFQRi1"
      "OLUJvLVVacUs3SHo4Z3ZFd1hpUm9EUzFIdzJmTkZEX1JpNA==";
  EXPECT_EQ(Said(*filter, shown), "");
  Request request;
  request.headers.emplace_back("Accept", "text/html,application/xhtml+xml");
  const auto asked = filter->Check(request, kNow);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->status, 401);
  EXPECT_TRUE(FindHeader(asked->headers, "WWW-Authenticate").starts_with("Basic realm="));
}

TEST(TokenFilter, MayAskForAnEnd) {
  const auto filter = TokenFilter::Make(kKey, true);
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(Said(*filter, "Bearer " + kToken), "Authorization token does not carry a required expiration.");
  EXPECT_EQ(Said(*filter, "Bearer " + kExpires), "");
}

TEST(TokenFilter, AWeakKeyIsRefused) {
  EXPECT_FALSE(TokenFilter::Make("", false).ok());
  EXPECT_FALSE(TokenFilter::Make("c2hvcnQ", false).ok());
  EXPECT_FALSE(TokenFilter::Make("not+base64url/not+base64url/not+base64url/not+base64url", false).ok());
}

}  // namespace
}  // namespace fairlead::process::http

#include "endpoints/yarn/credentials.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/golden_test_util.h"

namespace fairlead::endpoints::yarn {
namespace {

Credentials Sample() {
  Credentials out;
  out.tokens[""] = {FromHex("010203"), FromHex("0405"), "YARN_AM_RM_TOKEN", ""};
  out.tokens["alias\xc3\xa9"] = {std::string(300, 'a'), "", "NMToken", "127.0.0.1:8030"};
  out.secrets["secret"] = FromHex("090807");
  return out;
}

TEST(Credentials, BothFormatsAreHadoops) {
  for (const auto& [name, format] :
       {std::pair{"WRITABLE", CredentialsFormat::kWritable}, std::pair{"PROTOBUF", CredentialsFormat::kProtobuf}}) {
    const std::string bytes = FromHex(GoldenLine({"hdts", name})[2]);
    const auto parsed = ParseCredentials(bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(*parsed, Sample());
    EXPECT_EQ(ToHex(EncodeCredentials(Sample(), format)), ToHex(bytes));
  }
}

TEST(Credentials, GarbageBehindIsAllowedAndNothingIsNoCredentials) {
  EXPECT_EQ(*ParseCredentials(EncodeCredentials(Sample()) + std::string(50, '\xee')), Sample());
  EXPECT_EQ(*ParseCredentials(""), Credentials{});
}

TEST(Credentials, EveryPrefixIsRefused) {
  for (const auto format : {CredentialsFormat::kWritable, CredentialsFormat::kProtobuf}) {
    const std::string bytes = EncodeCredentials(Sample(), format);
    for (size_t length = 1; length < bytes.size(); ++length) {
      EXPECT_FALSE(ParseCredentials(bytes.substr(0, length)).ok()) << length;
    }
  }
}

TEST(Credentials, HostileLengthsAndCounts) {
  const std::string start = FromHex("4844545300");
  EXPECT_FALSE(ParseCredentials(FromHex("4844545302")).ok());  // unknown format
  EXPECT_FALSE(ParseCredentials("HDT").ok());
  EXPECT_FALSE(ParseCredentials(start + FromHex("887fffffffffffffff")).ok());  // 2^63 tokens
  EXPECT_FALSE(ParseCredentials(start + FromHex("0187ff")).ok());              // an alias of -256 bytes
  EXPECT_FALSE(ParseCredentials(start + FromHex("01887fffffffffffffff")).ok());
  EXPECT_FALSE(ParseCredentials(start + FromHex("ff00")).ok());  // -1 tokens
}

TEST(Credentials, WritableTokenAlone) {
  const RpcToken token{"id", "pw", "mapreduce.job", "job_1"};
  std::string bytes;
  AppendWritableToken(bytes, token);
  EXPECT_EQ(*ParseWritableToken(bytes), token);
  EXPECT_FALSE(ParseWritableToken(bytes.substr(0, 5)).ok());
}

}  // namespace
}  // namespace fairlead::endpoints::yarn

#include "wire/hadoop_rpc/sasl_digest_md5.h"

#include <gtest/gtest.h>

#include "wire/hadoop_rpc/base64.h"

namespace fairlead::wire::hadoop_rpc {
namespace {

base::Result<std::string> Secret(std::string_view username) {
  if (username != "dXNlcg==") return base::Error{"unknown", 7};
  return std::string("secret");
}

class DigestMd5 : public ::testing::Test {
 protected:
  DigestMd5() : server_("nonce\"with\\quotes"), client_("dXNlcg==", "secret", "cnonce") {}
  std::string Response() { return *client_.Respond(server_.Challenge()); }
  /// The response with one directive changed.
  std::string With(const std::string& from, const std::string& to) {
    std::string text = Response();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    return text.replace(at, from.size(), to);
  }
  std::string Refusal(const std::string& response) {
    const auto verdict = server_.Verify(response, Secret);
    return verdict.ok() ? "accepted" : verdict.error().message;
  }
  DigestMd5Server server_;
  DigestMd5Client client_;
};

TEST_F(DigestMd5, BothSidesProveTheSecret) {
  const auto rspauth = server_.Verify(Response(), Secret);
  ASSERT_TRUE(rspauth.ok()) << rspauth.error().message;
  EXPECT_TRUE(client_.CheckRspauth(*rspauth).ok());
  EXPECT_FALSE(client_.CheckRspauth("rspauth=0").ok());
  EXPECT_FALSE(client_.CheckRspauth("").ok());
}

TEST_F(DigestMd5, EachDirectiveIsChecked) {
  const std::string violation = "DIGEST-MD5: digest response format violation. ";
  EXPECT_EQ(Refusal(With("cnonce=\"cnonce\"", "cnonce=\"other\"")), violation + "Mismatched response.");
  EXPECT_EQ(Refusal(With("cnonce=\"cnonce\"", "cnonce=\"\"")), violation + "Missing cnonce.");
  EXPECT_EQ(Refusal(With("nc=00000001", "nc=00000002")), violation + "Mismatched nonce count.");
  EXPECT_EQ(Refusal(With("with", "xxxx")), violation + "Mismatched nonce.");
  EXPECT_EQ(Refusal(With("realm=\"default\"", "realm=\"x\"")), violation + "Nonexistent realm: x");
  EXPECT_EQ(Refusal(With("/default", "yarn/default")), violation + "Mismatched URI: yarn/default; expecting: /default");
  EXPECT_EQ(Refusal(With("username=\"dXNlcg==\"", "username=\"\"")), violation + "Missing username.");
  EXPECT_EQ(Refusal(Response() + ",nc=00000001"), violation + "Malformed directives.");
  EXPECT_EQ(Refusal("\"=,=\""), violation + "Malformed directives.");
  EXPECT_EQ(Refusal(std::string(1 << 20, 'x')), violation + "Malformed directives.");
  EXPECT_EQ(Refusal(""), violation + "Missing username.");
  const auto unknown = server_.Verify(With("dXNlcg==", "eA=="), Secret);
  EXPECT_EQ(unknown.error().code, 7);
}

TEST_F(DigestMd5, OtherProtectionIsRefusedByName) {
  EXPECT_EQ(Refusal(With("qop=auth", "qop=auth-int")), "DIGEST-MD5: quality of protection auth-int is not offered.");
  DigestMd5Client client("u", "p", "c");
  const auto refused = client.Respond("realm=\"default\",nonce=\"n\",qop=\"auth-conf\",algorithm=md5-sess");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("auth-conf"), std::string::npos);
  EXPECT_TRUE(client.Respond("nonce=\"n\",qop=\"auth-conf, auth\",algorithm=md5-sess").ok());
  EXPECT_TRUE(client.Respond("nonce=\"n\",algorithm=md5-sess").ok());
  EXPECT_FALSE(client.Respond("nonce=\"n\",algorithm=md5").ok());
  EXPECT_FALSE(client.Respond("algorithm=md5-sess").ok());
}

/// Both sides after a login with this protection.
class Md5Layers : public ::testing::TestWithParam<Protection> {
 protected:
  void SetUp() override {
    DigestMd5Server server("nonce", {Protection::kPrivacy, Protection::kIntegrity, Protection::kAuthentication});
    DigestMd5Client client("dXNlcg==", "secret", "cnonce", {GetParam()});
    const auto response = client.Respond(server.Challenge());
    ASSERT_TRUE(response.ok()) << response.error().message;
    const auto rspauth = server.Verify(*response, Secret);
    ASSERT_TRUE(rspauth.ok()) << rspauth.error().message;
    ASSERT_TRUE(client.CheckRspauth(*rspauth).ok());
    server_ = server.TakeLayer();
    client_ = client.MakeLayer();
    ASSERT_TRUE(server_ && client_);
  }
  std::unique_ptr<SaslLayer> server_;
  std::unique_ptr<SaslLayer> client_;
};

TEST_P(Md5Layers, CarryMessagesOfEachLengthInBothDirections) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string message(size, static_cast<char>('a' + size % 26));
    for (const auto& [from, to] : {std::pair(client_.get(), server_.get()), std::pair(server_.get(), client_.get())}) {
      const auto wrapped = from->Wrap(message);
      ASSERT_TRUE(wrapped.ok());
      const auto plain = to->Unwrap(*wrapped);
      ASSERT_TRUE(plain.ok()) << plain.error().message;
      EXPECT_EQ(*plain, message);
      if (GetParam() == Protection::kPrivacy && size > 8) {
        EXPECT_EQ(wrapped->find(message), std::string::npos);
      }
    }
  }
}

TEST_P(Md5Layers, RefuseWhatIsChangedRepeatedOrCut) {
  const std::string first = *client_->Wrap("first");
  const std::string second = *client_->Wrap("second");
  EXPECT_FALSE(server_->Unwrap(second).ok()) << "out of turn";
  EXPECT_FALSE(server_->Unwrap("").ok());
  EXPECT_FALSE(server_->Unwrap(first.substr(1)).ok());
  EXPECT_FALSE(client_->Unwrap(first).ok()) << "sent back";
}

TEST_P(Md5Layers, RefuseWhatIsRepeated) {
  const std::string first = *client_->Wrap("first");
  ASSERT_TRUE(server_->Unwrap(first).ok());
  EXPECT_FALSE(server_->Unwrap(first).ok());
}

TEST_P(Md5Layers, RefuseEachChangedByte) {
  const std::string wrapped = *client_->Wrap("message");
  for (size_t i = 0; i < wrapped.size(); ++i) {
    SetUp();
    std::string changed = *client_->Wrap("message");
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    EXPECT_FALSE(server_->Unwrap(changed).ok()) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Md5Layers, ::testing::Values(Protection::kIntegrity, Protection::kPrivacy),
                         [](const auto& of) {
                           return std::string(of.param == Protection::kPrivacy ? "Privacy" : "Integrity");
                         });

TEST_F(DigestMd5, AChoiceThatIsNotOfferedIsRefused) {
  DigestMd5Server integrity("n", {Protection::kIntegrity});
  EXPECT_EQ(integrity.Challenge(), "realm=\"default\",nonce=\"n\",qop=\"auth-int\",charset=utf-8,algorithm=md5-sess");
  EXPECT_FALSE(client_.Respond(integrity.Challenge()).ok());
  DigestMd5Server privacy("n", {Protection::kPrivacy});
  EXPECT_EQ(privacy.Challenge(),
            "realm=\"default\",nonce=\"n\",qop=\"auth-conf\",charset=utf-8,cipher=\"3des\",algorithm=md5-sess");
  DigestMd5Client wants("dXNlcg==", "secret", "cnonce", {Protection::kPrivacy});
  std::string response = *wants.Respond(privacy.Challenge());
  const size_t cipher = response.find("cipher=\"3des\"");
  ASSERT_NE(cipher, std::string::npos);
  response.replace(cipher, 13, "cipher=\"rc4\"");
  EXPECT_EQ(privacy.Verify(response, Secret).error().message, "DIGEST-MD5: cipher rc4 is not offered.");
}

TEST(Base64, RoundTripAndStrictness) {
  for (size_t size = 0; size < 40; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i * 37 + size));
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
  EXPECT_EQ(EncodeBase64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  for (const char* bad : {"A", "AAA", "AA=A", "====", "AA==AAAA", "AA-_", "AA A"}) {
    EXPECT_FALSE(DecodeBase64(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace fairlead::wire::hadoop_rpc

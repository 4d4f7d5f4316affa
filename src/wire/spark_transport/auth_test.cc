#include "wire/spark_transport/auth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/spark_transport/sasl.h"

namespace fairlead::wire::spark_transport {
namespace {

AuthRandom SomeRandom(uint8_t seed) {
  AuthRandom out;
  out.private_key.fill(seed);
  out.salt.fill(static_cast<uint8_t>(seed + 1));
  out.nonce.fill(static_cast<uint8_t>(seed + 2));
  return out;
}

RandomFill Counting() {
  return [n = uint8_t{0}](std::span<uint8_t> bytes) mutable {
    for (uint8_t& b : bytes) b = n++;
  };
}

std::string Pattern(size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(i * 7);
  return out;
}

/// Sends messages of many sizes both ways, cut into pieces, and expects them back.
void ExpectTalk(ChannelCipher& a, ChannelCipher& b, size_t piece) {
  for (ChannelCipher* from : {&a, &b}) {
    ChannelCipher* to = from == &a ? &b : &a;
    std::string sent, wire, got;
    for (const size_t size : {1, 21, 300, 32751, 32752, 32753, 65536, 200000}) {
      const std::string text = Pattern(size);
      sent += text;
      from->Encrypt(text, wire);
    }
    for (size_t at = 0; at < wire.size(); at += piece) {
      ASSERT_TRUE(to->Decrypt(std::string_view(wire).substr(at, piece), got).ok());
    }
    EXPECT_EQ(got, sent);
  }
}

TEST(AuthEngine, BothSidesDeriveTheSameKeys) {
  for (const AuthVersion version : {AuthVersion::kV1, AuthVersion::kV2}) {
    const AuthClient client("app-1", "secret", version, SomeRandom(1));
    const auto answer = AnswerAuthChallenge(client.challenge(), "secret", version, SomeRandom(50));
    ASSERT_TRUE(answer.ok());
    const auto keys = client.Finish(answer->response);
    ASSERT_TRUE(keys.ok());
    EXPECT_EQ(keys->key, answer->keys.key);
    EXPECT_EQ(keys->key.size(), version == AuthVersion::kV1 ? 32u : 16u);
    for (const AuthCipher cipher : {AuthCipher::kCtr, AuthCipher::kGcm}) {
      const auto a = MakeClientCipher(*keys, cipher, Counting());
      const auto b = MakeServerCipher(answer->keys, cipher, Counting());
      ExpectTalk(*a, *b, 1000);
    }
  }
}

TEST(AuthEngine, AnotherSecretOrAChangedMessageFails) {
  const AuthClient client("app-1", "secret", AuthVersion::kV1, SomeRandom(1));
  EXPECT_FALSE(AnswerAuthChallenge(client.challenge(), "other", AuthVersion::kV1, SomeRandom(9)).ok());
  for (size_t i = 0; i < client.challenge().size(); ++i) {
    std::string changed = client.challenge();
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(AnswerAuthChallenge(changed, "secret", AuthVersion::kV1, SomeRandom(9)).ok()) << i;
  }
  const auto answer = AnswerAuthChallenge(client.challenge(), "secret", AuthVersion::kV1, SomeRandom(9));
  std::string changed = answer->response;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_FALSE(client.Finish(changed).ok());
}

TEST(Cipher, ChangedGcmBytesAreNoticed) {
  const auto a = MakeGcmCipher(std::string(16, 'k'), Counting());
  std::string wire;
  a->Encrypt(Pattern(40000), wire);
  for (const size_t at : {size_t{7}, size_t{9}, size_t{30}, wire.size() - 1}) {
    std::string changed = wire;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto b = MakeGcmCipher(std::string(16, 'k'), Counting());
    std::string plain;
    const bool ok = b->Decrypt(changed, plain).ok();
    EXPECT_TRUE(!ok || plain.size() < 40000) << at;
  }
}

TEST(Sasl, HandshakeWithAndWithoutSealing) {
  for (const bool encrypt : {false, true}) {
    SaslServer server("bm9uY2U=", "secret", false);
    SaslClient client("Y25vbmNl", "secret", encrypt);
    const auto challenge = server.Respond("");
    ASSERT_TRUE(challenge.ok());
    const auto response = client.Respond(*challenge);
    ASSERT_TRUE(response.ok());
    const auto last = server.Respond(*response);
    ASSERT_TRUE(last.ok()) << last.error().message;
    EXPECT_TRUE(client.Finish(*last).ok());
    EXPECT_TRUE(server.complete());
    EXPECT_EQ(server.sealed(), encrypt);
    if (!encrypt) continue;
    const auto a = MakeSealingCipher(client.sealing_keys(), false, 65536);
    const auto b = MakeSealingCipher(server.sealing_keys(), true, 65536);
    ExpectTalk(*a, *b, 777);
  }
}

TEST(Sasl, EveryCipherOffered) {
  for (const char* cipher : {"3des", "rc4", "des", "rc4-56", "rc4-40"}) {
    const SealingKeys keys{cipher, std::string(16, 'h')};
    const auto a = MakeSealingCipher(keys, false, 100);
    const auto b = MakeSealingCipher(keys, true, 65536);
    ExpectTalk(*a, *b, 5000);
    std::string wire, plain;
    a->Encrypt("hello", wire);
    wire[9] = static_cast<char>(wire[9] ^ 4);
    EXPECT_FALSE(b->Decrypt(wire, plain).ok());
  }
  EXPECT_EQ(MakeSealingCipher({"none", std::string(16, 'h')}, true, 100), nullptr);
}

TEST(Sasl, ASealedBlockHasABound) {
  const auto cipher = MakeSealingCipher({"rc4", std::string(16, 'h')}, true, 65536);
  std::string plain;
  EXPECT_TRUE(cipher->Decrypt(std::string("\0\0\0\0\x01\0\0\0", 8), plain).ok());  // 16 MiB: waits for them
  for (const std::string_view length : {std::string_view("\0\0\0\0\x01\0\0\x01", 8), {"\0\0\0\0\0\0\0\x17", 8}}) {
    const auto other = MakeSealingCipher({"rc4", std::string(16, 'h')}, true, 65536);
    EXPECT_FALSE(other->Decrypt(length, plain).ok());
  }
}

TEST(Sasl, WrongSecretAndWeakerProtectionAreRefused) {
  SaslServer server("bm9uY2U=", "secret", false);
  SaslClient wrong("Y25vbmNl", "other", false);
  const auto refused = server.Respond(*wrong.Respond(*server.Respond("")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "java.lang.RuntimeException: javax.security.sasl.SaslException: DIGEST-MD5: digest response format "
            "violation. Mismatched response.");
  EXPECT_FALSE(server.complete());
  SaslServer strict("bm9uY2U=", "secret", true);
  SaslClient plain("Y25vbmNl", "secret", false);
  EXPECT_FALSE(strict.Respond(*plain.Respond(*strict.Respond(""))).ok());
  SaslServer without("bm9uY2U=", "", false);
  SaslClient client("Y25vbmNl", "", false);
  EXPECT_FALSE(without.Respond(*client.Respond(*without.Respond(""))).ok());
}

// What Spark 4.3.0's SparkSaslServer and SparkSaslClient say to each other with a secret as long as YARN's.
TEST(Sasl, ASecretOfMoreThanALineIsAsSparkHasIt) {
  const char* const kSecret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  SaslServer server("OdWIT18gJodbch0rBh4fOL5ycgRiZejYsVxeksdq", kSecret, false);
  SaslClient client("wrxMYEO2xZI+dT5CTSnFhFh11fN1F5nX7vC9jIJm", kSecret, false);
  const auto response = client.Respond(*server.Respond(""));
  ASSERT_TRUE(response.ok());
  EXPECT_NE(response->find("response=65512e9e65962e4a803dda59b7887f50"), std::string::npos) << *response;
  const auto last = server.Respond(*response);
  ASSERT_TRUE(last.ok()) << last.error().message;
  EXPECT_EQ(*last, "rspauth=97decf46acb52faf1c9d40e7a57485de");
  EXPECT_EQ(LoginText(std::string(57, 'x')).find('\n'), std::string::npos) << "one whole line";
  EXPECT_EQ(LoginText(std::string(58, 'x')).find('\n'), 76u);
}

}  // namespace
}  // namespace fairlead::wire::spark_transport

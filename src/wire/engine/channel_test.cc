#include "wire/engine/channel.h"

#include <gtest/gtest.h>

#include "wire/engine/proof.h"

namespace fairlead::wire::engine {
namespace {

const std::string kKey(32, 'k');

std::string SealedOf(Sealer& sealer, std::string_view plain) {
  std::string wire;
  sealer.Seal(plain, wire);
  return wire;
}

TEST(EngineChannel, WhatIsSealedComesOutInAnyPieces) {
  const std::string large(3 * kRecordMax + 5, 'x');
  Sealer sealer(kKey);
  std::string wire = SealedOf(sealer, "small");
  wire += SealedOf(sealer, "");
  wire += SealedOf(sealer, large);
  EXPECT_EQ(wire.find("small"), std::string::npos);
  EXPECT_EQ(wire.find("xxxxxxxx"), std::string::npos);
  for (const size_t piece : {size_t{1}, size_t{1000}, wire.size()}) {
    Opener opener(kKey);
    std::string plain;
    for (size_t at = 0; at < wire.size(); at += piece) {
      ASSERT_TRUE(opener.Open(std::string_view(wire).substr(at, piece), plain).ok());
    }
    EXPECT_EQ(plain, "small" + large);
  }
}

TEST(EngineChannel, ChangedRepeatedOmittedAndForeignRecordsAreRefused) {
  Sealer sealer(kKey);
  const std::string first = SealedOf(sealer, "first");
  const std::string second = SealedOf(sealer, "second");
  for (size_t at = 4; at < first.size(); ++at) {
    std::string changed = first;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    Opener opener(kKey);
    std::string plain;
    EXPECT_FALSE(opener.Open(changed, plain).ok()) << at;
    EXPECT_EQ(plain, "");
  }
  const auto refused = [](const std::string& wire, const std::string& key, const std::string& before) {
    Opener opener(key);
    std::string plain;
    const bool ok = opener.Open(wire, plain).ok();
    return !ok && plain == before;
  };
  EXPECT_TRUE(refused(second, kKey, "")) << "the first was left out";
  EXPECT_TRUE(refused(first + first, kKey, "first"));
  EXPECT_TRUE(refused(first, std::string(32, 'K'), ""));
}

TEST(EngineChannel, ImpossibleLengthsAreRefusedByTheirHead) {
  for (const std::string& head : {std::string(4, '\0'), std::string("\x7f\xff\xff\xff"), std::string("\0\4\0\1", 4)}) {
    Opener opener(kKey);
    std::string plain;
    EXPECT_FALSE(opener.Open(head, plain).ok());
  }
}

TEST(EngineChannel, KeysAreOfOneConnectionAndOneDirection) {
  const std::string a(kNonceBytes, 'a');
  const std::string b(kNonceBytes, 'b');
  const ChannelKeys keys = KeysOf("secret", a, b);
  EXPECT_EQ(keys.to_driver.size(), 32u);
  EXPECT_NE(keys.to_driver, keys.to_executor);
  EXPECT_NE(keys.to_driver, KeysOf("secret", b, a).to_executor);
  EXPECT_NE(keys.to_driver, KeysOf("secret", a, a).to_driver);
  EXPECT_NE(keys.to_driver, KeysOf("other", a, b).to_driver);
}

TEST(EngineChannel, AProofIsOfAllOfAHello) {
  Hello hello;
  hello.nonce = std::string(kNonceBytes, 'e');
  hello.shuffle_host = "here";
  hello.proof = ProofOf("secret", "nonce", hello);
  EXPECT_EQ(hello.proof, ProofOf("secret", "nonce", hello));
  EXPECT_NE(hello.proof, ProofOf("secret", "other", hello));
  EXPECT_NE(hello.proof, ProofOf("other", "nonce", hello));
  EXPECT_NE(hello.proof, AnswerTo("secret", "nonce", hello));
  Hello changed = hello;
  changed.shuffle_host = "there";
  EXPECT_NE(hello.proof, ProofOf("secret", "nonce", changed));
}

}  // namespace
}  // namespace fairlead::wire::engine

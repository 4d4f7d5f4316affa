#include "wire/spark_transport/auth.h"

#include <openssl/evp.h>

#include "base/bytes.h"
#include "base/check.h"

namespace fairlead::wire::spark_transport {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeKeyContext {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
constexpr size_t kKeyBytes = 32;

template <size_t N>
std::string Text(const std::array<uint8_t, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), N};
}
const uint8_t* Bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }
uint8_t* Bytes(std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); }

Key PrivateKey(std::string_view bytes) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, Bytes(bytes), bytes.size()));
  FL_CHECK(key != nullptr, "X25519 private key");
  return key;
}

std::string PublicKeyOf(std::string_view private_key) {
  const Key key = PrivateKey(private_key);
  std::string out(kKeyBytes, '\0');
  size_t size = out.size();
  FL_CHECK(EVP_PKEY_get_raw_public_key(key.get(), Bytes(out), &size) == 1, "X25519 public key");
  return out;
}

/// Fails for a public key of small order.
base::Result<std::string> SharedSecret(std::string_view private_key, std::string_view public_key) {
  const Key own = PrivateKey(private_key);
  const Key peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, Bytes(public_key), public_key.size()));
  const std::unique_ptr<EVP_PKEY_CTX, FreeKeyContext> context(EVP_PKEY_CTX_new(own.get(), nullptr));
  std::string out(kKeyBytes, '\0');
  size_t size = out.size();
  if (peer == nullptr || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), peer.get()) != 1 ||
      EVP_PKEY_derive(context.get(), Bytes(out), &size) != 1) {
    return base::Error{"unusable public key"};
  }
  return out;
}

/// AuthEngine.encryptEphemeralPublicKey: the transcript before this message binds the key and the seal.
AuthMessage Seal(const std::string& app_id, std::string_view secret, std::string_view transcript,
                 const AuthRandom& random) {
  AuthMessage message{app_id, Text(random.salt), {}};
  const std::string info = message.app_id + message.salt + std::string(transcript);
  const std::string key = HkdfSha256(secret, message.salt, info, 16);
  message.ciphertext = AesGcmSeal(key, Text(random.nonce), PublicKeyOf(Text(random.private_key)), info);
  return message;
}

/// The peer's public key.
base::Result<std::string> Open(const AuthMessage& message, std::string_view secret, std::string_view transcript) {
  const std::string info = message.app_id + message.salt + std::string(transcript);
  auto key = AesGcmOpen(HkdfSha256(secret, message.salt, info, 16), message.ciphertext, info);
  if (key.ok() && key->size() != kKeyBytes) return base::Error{"public key of a wrong length"};
  return key;
}

AuthKeys DeriveKeys(const std::string& shared, std::string_view transcript, AuthVersion version) {
  AuthKeys keys;
  keys.key = version == AuthVersion::kV1 ? shared : HkdfSha256(shared, transcript, "derivedKey", 16);
  keys.input_iv = HkdfSha256(shared, transcript, "inputIv", 16);
  keys.output_iv = HkdfSha256(shared, transcript, "outputIv", 16);
  return keys;
}

}  // namespace

std::string EncodeAuthMessage(const AuthMessage& message) {
  std::string out;
  base::ByteWriter writer(out);
  writer.U8(AuthMessage::kTag);
  for (const std::string* field : {&message.app_id, &message.salt, &message.ciphertext}) {
    writer.I32(static_cast<int32_t>(field->size()));
    writer.Bytes(*field);
  }
  return out;
}

base::Result<AuthMessage> DecodeAuthMessage(std::string_view body) {
  base::Budget budget(kLoginKind, body.size());
  base::ByteReader in(body, budget);
  in.Charge(body.size());
  if (in.U8() != AuthMessage::kTag) return base::Error{"Expected ClientChallenge, received something else."};
  AuthMessage message;
  for (std::string* field : {&message.app_id, &message.salt, &message.ciphertext}) {
    const int32_t length = in.I32();
    if (length < 0) in.Fail();
    *field = std::string(in.Take(static_cast<size_t>(length)));
  }
  if (in.failed()) return base::Error{"AuthMessage too short for its fields"};
  return message;
}

std::unique_ptr<ChannelCipher> MakeServerCipher(const AuthKeys& keys, AuthCipher cipher, RandomFill random) {
  if (cipher == AuthCipher::kGcm) return MakeGcmCipher(keys.key, std::move(random));
  return MakeCtrCipher(keys.key, keys.output_iv, keys.input_iv);
}

std::unique_ptr<ChannelCipher> MakeClientCipher(const AuthKeys& keys, AuthCipher cipher, RandomFill random) {
  if (cipher == AuthCipher::kGcm) return MakeGcmCipher(keys.key, std::move(random));
  return MakeCtrCipher(keys.key, keys.input_iv, keys.output_iv);
}

base::Result<AuthAnswer> AnswerAuthChallenge(std::string_view client_message, std::string_view secret,
                                             AuthVersion version, const AuthRandom& random) {
  const auto challenge = DecodeAuthMessage(client_message);
  if (!challenge.ok()) return challenge.error();
  // The transcript holds what the message means, not trailing bytes.
  const std::string canonical = EncodeAuthMessage(*challenge);
  const auto peer = Open(*challenge, secret, "");
  if (!peer.ok()) return peer.error();
  const auto shared = SharedSecret(Text(random.private_key), *peer);
  if (!shared.ok()) return shared.error();
  AuthAnswer answer;
  answer.response = EncodeAuthMessage(Seal(challenge->app_id, secret, canonical, random));
  answer.keys = DeriveKeys(*shared, canonical + answer.response, version);
  return answer;
}

AuthClient::AuthClient(std::string app_id, std::string secret, AuthVersion version, const AuthRandom& random)
    : app_id_(std::move(app_id)),
      secret_(std::move(secret)),
      version_(version),
      private_key_(Text(random.private_key)),
      challenge_(EncodeAuthMessage(Seal(app_id_, secret_, "", random))) {}

base::Result<AuthKeys> AuthClient::Finish(std::string_view response) const {
  const auto message = DecodeAuthMessage(response);
  if (!message.ok()) return message.error();
  if (message->app_id != app_id_) return base::Error{"the answer is for another application"};
  const auto peer = Open(*message, secret_, challenge_);
  if (!peer.ok()) return peer.error();
  const auto shared = SharedSecret(private_key_, *peer);
  if (!shared.ok()) return shared.error();
  return DeriveKeys(*shared, challenge_ + EncodeAuthMessage(*message), version_);
}

}  // namespace fairlead::wire::spark_transport

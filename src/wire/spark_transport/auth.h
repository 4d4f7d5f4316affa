#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/spark_transport/cipher.h"

// Spark's own handshake of spark.network.crypto.enabled (org.apache.spark.network.crypto.AuthEngine): one RPC round
// trip of AuthMessages, each an X25519 public key sealed under a key derived from the application's secret.

namespace fairlead::wire::spark_transport {

/// int8 0xFB | string appId | bytes salt | bytes ciphertext.
struct AuthMessage {
  static constexpr uint8_t kTag = 0xFB;
  std::string app_id;
  std::string salt;
  std::string ciphertext;
};
std::string EncodeAuthMessage(const AuthMessage& message);
base::Result<AuthMessage> DecodeAuthMessage(std::string_view body);

/// spark.network.crypto.authEngineVersion.
enum class AuthVersion : uint8_t { kV1 = 1, kV2 = 2 };
/// spark.network.crypto.cipher.
enum class AuthCipher : uint8_t { kCtr, kGcm };

/// Fresh randomness for one side of one handshake.
struct AuthRandom {
  std::array<uint8_t, 32> private_key;
  std::array<uint8_t, 16> salt;
  std::array<uint8_t, 12> nonce;
};

/// What both sides derive; the client decrypts with input_iv, the server encrypts with it.
struct AuthKeys {
  std::string key;  // 32 bytes in v1, 16 in v2
  std::string input_iv;
  std::string output_iv;
};
std::unique_ptr<ChannelCipher> MakeServerCipher(const AuthKeys& keys, AuthCipher cipher, RandomFill random);
std::unique_ptr<ChannelCipher> MakeClientCipher(const AuthKeys& keys, AuthCipher cipher, RandomFill random);

struct AuthAnswer {
  std::string response;  // body of the RpcResponse; still in the clear
  AuthKeys keys;
};
/// The server's side: checks the client's message with the application's secret and answers it.
base::Result<AuthAnswer> AnswerAuthChallenge(std::string_view client_message, std::string_view secret,
                                             AuthVersion version, const AuthRandom& random);

/// The client's side: challenge() is the body of its first RpcRequest, Finish() takes the body of the response.
class AuthClient {
 public:
  AuthClient(std::string app_id, std::string secret, AuthVersion version, const AuthRandom& random);
  const std::string& challenge() const { return challenge_; }
  base::Result<AuthKeys> Finish(std::string_view response) const;

 private:
  std::string app_id_;
  std::string secret_;
  AuthVersion version_;
  std::string private_key_;
  std::string challenge_;
};

}  // namespace fairlead::wire::spark_transport

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/spark_transport/cipher.h"

// SASL DIGEST-MD5 (RFC 2831) as Spark uses it (SparkSaslServer, SparkSaslClient, SaslEncryption): realm "default", user
// name and password in Base64, qop auth-conf or auth.

namespace fairlead::wire::spark_transport {

/// Body of an RpcRequest of the handshake: int8 0xEA | string appId | int32 length, not looked at | token.
struct SaslMessage {
  static constexpr uint8_t kTag = 0xEA;
  std::string app_id;
  std::string token;
};
std::string EncodeSaslMessage(const SaslMessage& message);
/// Error::message is the first line of Spark's exception.
base::Result<SaslMessage> DecodeSaslMessage(std::string_view body);

inline constexpr std::string_view kSaslUser = "sparkSaslUser";
/// A nonce is Base64 of this many random bytes.
inline constexpr size_t kSaslNonceBytes = 30;
std::string Base64(std::string_view bytes);
/// The name or password of a login: Base64 in lines of 76 characters, which is Netty's default and so what Spark's
/// client and server put into the digest. The secrets that Spark makes on YARN are longer than a line.
std::string LoginText(std::string_view bytes);

/// The sealing of auth-conf: frames of int64 length, counting itself | encrypted(text | padding | 10 bytes of HMAC-MD5)
/// | int16 1 | int32 sequence number; 3des, des, rc4, rc4-56 or rc4-40.
struct SealingKeys {
  std::string cipher;
  std::string session_key;  // H(A1)
};
/// `outbound_block_max`: spark.network.sasl.maxEncryptedBlockSize. nullptr: no such cipher.
std::unique_ptr<ChannelCipher> MakeSealingCipher(const SealingKeys& keys, bool server, size_t outbound_block_max);

/// The server's side of one handshake.
class SaslServer {
 public:
  /// `nonce`: already in Base64. `password`: the application's secret; empty: there is none, and the handshake fails.
  SaslServer(std::string nonce, std::string password, bool always_encrypt);

  /// Takes the client's next token and gives the server's. Error::message is what Spark answers with.
  base::Result<std::string> Respond(std::string_view token);
  bool complete() const { return step_ == Step::kComplete; }
  /// After completion: is the rest of the connection sealed?
  bool sealed() const { return qop_ == "auth-conf"; }
  const SealingKeys& sealing_keys() const { return sealing_; }

 private:
  enum class Step { kChallenge, kResponse, kComplete, kFailed };
  base::Result<std::string> Check(std::string_view token);

  const std::string nonce_;
  const std::string password_;
  const bool always_encrypt_;
  Step step_ = Step::kChallenge;
  std::string qop_;
  SealingKeys sealing_;
};

/// The client's side.
class SaslClient {
 public:
  SaslClient(std::string cnonce, std::string secret, bool encrypt);
  /// The first token is empty; then Respond() to the challenge, then Finish() with the server's last token.
  base::Result<std::string> Respond(std::string_view challenge);
  base::Status Finish(std::string_view last) const;
  bool sealed() const { return encrypt_; }
  const SealingKeys& sealing_keys() const { return sealing_; }

 private:
  const std::string cnonce_;
  const std::string secret_;
  const bool encrypt_;
  std::string expected_;
  SealingKeys sealing_;
};

}  // namespace fairlead::wire::spark_transport

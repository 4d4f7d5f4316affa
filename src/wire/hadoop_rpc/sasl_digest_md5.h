#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/digest_md5/digest_md5.h"
#include "wire/hadoop_rpc/sasl_layer.h"

// SASL DIGEST-MD5 as Hadoop uses it (RFC 2831 with md5-sess, the realm "default", an empty service and so the
// digest-uri "/default"; for privacy the cipher 3des, which Java's side prefers;
// org.apache.hadoop.security.SaslRpcServer with the JDK's mechanism).

namespace fairlead::wire::hadoop_rpc {

inline constexpr std::string_view kDigestRealm = "default";
inline constexpr std::string_view kDigestUri = "/default";

/// Server side of one login.
class DigestMd5Server {
 public:
  /// `nonce` must be unpredictable and of this login alone.
  explicit DigestMd5Server(std::string nonce, Protections offered = {Protection::kAuthentication})
      : nonce_(std::move(nonce)), offered_(std::move(offered)) {}
  /// The first message, to the client.
  std::string Challenge() const;

  /// The password of a user name (base64 of the token's identifier), both as sent.
  using PasswordOf = std::function<base::Result<std::string>(std::string_view username)>;
  /// Checks the client's answer; gives "rspauth=...", to be sent with SUCCESS. The error is what the JDK says; an error
  /// of `password_of` is passed through with its code.
  base::Result<std::string> Verify(std::string_view response, const PasswordOf& password_of);
  /// After Verify: what protects the messages from now on; null: nothing.
  std::unique_ptr<SaslLayer> TakeLayer() { return std::move(layer_); }

 private:
  std::string nonce_;
  Protections offered_;
  std::unique_ptr<SaslLayer> layer_;
};

/// Client side of one login.
class DigestMd5Client {
 public:
  DigestMd5Client() = default;
  DigestMd5Client(std::string username, std::string password, std::string cnonce,
                  Protections wanted = {Protection::kAuthentication});
  /// The answer to the server's challenge; refuses one without md5-sess, or without a protection that is wanted.
  base::Result<std::string> Respond(std::string_view challenge);
  /// Checks the server's "rspauth=...".
  base::Status CheckRspauth(std::string_view token) const;
  /// After that: what protects the messages from now on; null: nothing.
  std::unique_ptr<SaslLayer> MakeLayer() const;

 private:
  digest_md5::Login login_;
  Protection chosen_ = Protection::kAuthentication;
  Protections wanted_;
};

}  // namespace fairlead::wire::hadoop_rpc

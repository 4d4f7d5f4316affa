#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/spark_transport/cipher.h"
#include "wire/spark_transport/sasl.h"
#include "wire/spark_transport/security.h"

// Who dials and who is dialled show each other that they have the same secret, before any message.

namespace fairlead::wire::spark_transport {

/// What one more message of a handshake leads to.
struct HandshakeStep {
  std::string body;                       // to be sent: as answer, or as the next request; not when the dialler is done
  bool refused = false;                   // the body is a refusal, after which another handshake may be tried
  bool done = false;                      // both sides have the secret
  std::unique_ptr<ChannelCipher> cipher;  // when done: what the rest goes through; null: nothing
};

/// The side that is dialled (AuthRpcHandler, SaslRpcHandler).
class ServerHandshake {
 public:
  ServerHandshake(const Security& security, RandomFill random) : security_(security), random_(std::move(random)) {}
  /// The answer to a request; an error ends the connection.
  base::Result<HandshakeStep> Answer(std::string_view request);

 private:
  base::Result<HandshakeStep> AnswerSasl(std::string_view request);

  const Security& security_;
  const RandomFill random_;
  std::unique_ptr<SaslServer> sasl_;
};

/// The side that dials (AuthClientBootstrap, SaslClientBootstrap).
class ClientHandshake {
 public:
  ClientHandshake(const Security& security, RandomFill random);
  /// The first request.
  const std::string& first() const { return first_; }
  /// Why the first kind of handshake was refused, when another is tried; empty otherwise.
  const std::string& refusal() const { return refusal_; }
  /// What follows from an answer, or from the peer's refusal.
  base::Result<HandshakeStep> Take(const base::Result<std::string_view>& answer);

 private:
  std::string BeginSasl();
  base::Result<HandshakeStep> TakeSasl(std::string_view answer);

  const Security& security_;
  const RandomFill random_;
  std::optional<AuthClient> auth_;  // until SASL is fallen back to
  std::optional<SaslClient> sasl_;
  bool challenged_ = false;
  std::string refusal_;
  std::string first_;
};

}  // namespace fairlead::wire::spark_transport

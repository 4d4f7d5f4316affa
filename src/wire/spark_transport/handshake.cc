#include "wire/spark_transport/handshake.h"

namespace fairlead::wire::spark_transport {

namespace {

constexpr const char* kNoHandshake =
    "this side authenticates and the other does not: set spark.authenticate=true and spark.authenticate.secret there";
constexpr const char* kOtherSecret =
    "Authentication failed: the secrets of both sides (spark.authenticate.secret) differ";

AuthRandom AuthRandomOf(const RandomFill& fill) {
  AuthRandom random;
  fill(random.private_key);
  fill(random.salt);
  fill(random.nonce);
  return random;
}

std::string NonceOf(const RandomFill& fill) {
  std::string nonce(kSaslNonceBytes, '\0');
  fill({reinterpret_cast<uint8_t*>(nonce.data()), nonce.size()});
  return Base64(nonce);
}

bool BeginsWith(std::string_view body, uint8_t tag) { return !body.empty() && static_cast<uint8_t>(body[0]) == tag; }

}  // namespace

// ---- dialled -------------------------------------------------------------------------------------------------------

base::Result<HandshakeStep> ServerHandshake::Answer(std::string_view request) {
  if (!BeginsWith(request, AuthMessage::kTag) && !BeginsWith(request, SaslMessage::kTag)) {
    return base::Error{kNoHandshake};
  }
  if (!security_.crypto && BeginsWith(request, AuthMessage::kTag)) {
    return HandshakeStep{"spark.network.crypto.enabled is false here: authenticate by SASL", true, false, nullptr};
  }
  if (!security_.crypto || sasl_) return AnswerSasl(request);
  if (!BeginsWith(request, AuthMessage::kTag)) {
    if (security_.sasl_fallback) return AnswerSasl(request);
    return base::Error{"SASL is not taken here: set spark.network.crypto.enabled=true"};
  }
  auto answer = AnswerAuthChallenge(request, security_.secret, security_.version, AuthRandomOf(random_));
  if (!answer.ok()) return base::Error{kOtherSecret};
  return HandshakeStep{std::move(answer->response), false, true,
                       MakeServerCipher(answer->keys, security_.cipher, random_)};
}

base::Result<HandshakeStep> ServerHandshake::AnswerSasl(std::string_view request) {
  const auto message = DecodeSaslMessage(request);
  if (!message.ok()) return message.error();
  if (!sasl_) sasl_ = std::make_unique<SaslServer>(NonceOf(random_), security_.secret, security_.always_encrypt);
  auto token = sasl_->Respond(message->token);
  if (!token.ok()) return base::Error{std::string(kOtherSecret) + " (" + token.error().message + ")"};
  HandshakeStep step{std::move(*token), false, sasl_->complete(), nullptr};
  if (step.done && sasl_->sealed()) {
    step.cipher = MakeSealingCipher(sasl_->sealing_keys(), true, security_.sasl_block_max);
    if (!step.cipher) return base::Error{"no such cipher: " + sasl_->sealing_keys().cipher};
  }
  return step;
}

// ---- dialling ------------------------------------------------------------------------------------------------------

ClientHandshake::ClientHandshake(const Security& security, RandomFill random)
    : security_(security), random_(std::move(random)) {
  if (security_.crypto) {
    auth_.emplace(security_.app_id, security_.secret, security_.version, AuthRandomOf(random_));
  }
  first_ = auth_ ? auth_->challenge() : BeginSasl();
}

std::string ClientHandshake::BeginSasl() {
  auth_.reset();
  sasl_.emplace(NonceOf(random_), security_.secret, security_.encrypt_sasl);
  return EncodeSaslMessage({security_.app_id, ""});
}

base::Result<HandshakeStep> ClientHandshake::Take(const base::Result<std::string_view>& answer) {
  if (!answer.ok()) {
    refusal_ = std::string(kOtherSecret) + "; the peer says: " + answer.error().message;
    if (auth_ && security_.sasl_fallback) return HandshakeStep{BeginSasl(), false, false, nullptr};
    return base::Error{refusal_};
  }
  if (sasl_) return TakeSasl(*answer);
  const auto keys = auth_->Finish(*answer);
  if (!keys.ok()) return base::Error{std::string(kOtherSecret) + " (" + keys.error().message + ")"};
  return HandshakeStep{"", false, true, MakeClientCipher(*keys, security_.cipher, random_)};
}

base::Result<HandshakeStep> ClientHandshake::TakeSasl(std::string_view answer) {
  if (!std::exchange(challenged_, true)) {
    const auto token = sasl_->Respond(answer);
    if (!token.ok()) return token.error();
    return HandshakeStep{EncodeSaslMessage({security_.app_id, *token}), false, false, nullptr};
  }
  if (const base::Status finished = sasl_->Finish(answer); !finished.ok()) {
    return base::Error{std::string(kOtherSecret) + " (" + finished.error().message + ")"};
  }
  HandshakeStep step{"", false, true, nullptr};
  if (sasl_->sealed()) step.cipher = MakeSealingCipher(sasl_->sealing_keys(), false, security_.sasl_block_max);
  return step;
}

}  // namespace fairlead::wire::spark_transport

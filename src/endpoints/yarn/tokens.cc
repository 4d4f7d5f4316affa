#include "endpoints/yarn/tokens.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/check.h"

namespace fairlead::endpoints::yarn {

using wire::yarn::AMRMTokenIdentifierProto;
using wire::yarn::ContainerTokenIdentifierProto;
using wire::yarn::NMTokenIdentifierProto;

namespace {

constexpr std::string_view kUnreadable = "Can't de-serialize tokenIdentifier";

constexpr std::pair<std::string_view, TokenHmac> kHmacNames[] = {
    {"HmacSHA1", TokenHmac::kSha1},     {"HmacSHA224", TokenHmac::kSha224}, {"HmacSHA256", TokenHmac::kSha256},
    {"HmacSHA384", TokenHmac::kSha384}, {"HmacSHA512", TokenHmac::kSha512}, {"HmacMD5", TokenHmac::kMd5}};

const EVP_MD* HashOf(TokenHmac hmac) {
  switch (hmac) {
    case TokenHmac::kSha224:
      return EVP_sha224();
    case TokenHmac::kSha256:
      return EVP_sha256();
    case TokenHmac::kSha384:
      return EVP_sha384();
    case TokenHmac::kSha512:
      return EVP_sha512();
    case TokenHmac::kMd5:
      return EVP_md5();
    default:
      return EVP_sha1();
  }
}

/// HMAC with a key that is set up once: finding the algorithm and hashing the key cost several times the signature.
class Signer {
 public:
  Signer() = default;
  Signer(std::string_view key, TokenHmac hmac) : key_(key), hmac_(hmac) {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr),
                                                                      &EVP_MAC_free);
    context_.reset(EVP_MAC_CTX_new(algorithm.get()));
    std::string digest = EVP_MD_get0_name(HashOf(hmac));
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                     OSSL_PARAM_construct_end()};
    // An empty key is a key, too: the pointer says that there is one.
    const auto* bytes = reinterpret_cast<const unsigned char*>(key_.data());
    FL_CHECK(context_ && EVP_MAC_init(context_.get(), bytes, key_.size(), parameters) == 1, "no HMAC in libcrypto");
  }

  bool Is(std::string_view key, TokenHmac hmac) const { return context_ && hmac_ == hmac && key_ == key; }

  std::string Sign(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    size_t length = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    FL_CHECK(EVP_MAC_init(context_.get(), nullptr, 0, nullptr) == 1 &&
                 EVP_MAC_update(context_.get(), bytes, text.size()) == 1 &&
                 EVP_MAC_final(context_.get(), digest, &length, sizeof(digest)) == 1,
             "HMAC failed");
    return {reinterpret_cast<const char*>(digest), length};
  }

 private:
  std::string key_;
  TokenHmac hmac_ = TokenHmac::kSha1;
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_{nullptr, &EVP_MAC_CTX_free};
};

RpcToken Sign(std::string identifier, const MasterKey& key, std::string_view kind, std::string service) {
  RpcToken token;
  token.password = TokenPassword(key, identifier);
  token.identifier = std::move(identifier);
  token.kind = kind;
  token.service = std::move(service);
  return token;
}

/// Takes a new current key; the old one stays good as the previous.
void Advance(std::optional<MasterKey>& current, std::optional<MasterKey>& previous, const MasterKey& key) {
  if (current && current->id == key.id) return;
  if (current) previous = std::move(current);
  current = key;
}

}  // namespace

wire::yarn::MasterKeyProto ToWire(const MasterKey& key) { return {.key_id = key.id, .bytes = key.bytes}; }

std::optional<TokenHmac> TokenHmacByName(std::string_view java_name) {
  for (const auto& [name, hmac] : kHmacNames) {
    if (name == java_name) return hmac;
  }
  return std::nullopt;
}

MasterKey FromWire(const wire::yarn::MasterKeyProto& proto) { return {proto.KeyId(), std::string(proto.Bytes())}; }

const MasterKey* MasterKeys::Find(int32_t id) const {
  if (current.id == id) return &current;
  return next && next->id == id ? &*next : nullptr;
}

void MasterKeys::Roll(std::string random) {
  // Ids are a counter that begins anywhere and may wrap (Hadoop begins at a random int).
  next = MasterKey{static_cast<int32_t>(static_cast<uint32_t>(newest().id) + 1), std::move(random), current.hmac};
}

void MasterKeys::Activate() {
  if (!next) return;
  current = std::move(*next);
  next.reset();
}

std::string TokenPassword(std::string_view key, std::string_view identifier, TokenHmac hmac) {
  // Keys live for a day and sign a token for every grant, so each thread keeps the last ones set up.
  thread_local std::array<Signer, 4> signers;
  thread_local size_t oldest = 0;
  auto signer = std::find_if(signers.begin(), signers.end(), [&](const Signer& s) { return s.Is(key, hmac); });
  if (signer == signers.end()) {
    signer = signers.begin() + static_cast<std::ptrdiff_t>(std::exchange(oldest, (oldest + 1) % signers.size()));
    *signer = Signer(key, hmac);
  }
  return signer->Sign(identifier);
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

RpcToken MintAmRmToken(AMRMTokenIdentifierProto identifier, const MasterKey& key) {
  identifier.key_id = key.id;
  return Sign(identifier.Encode(), key, kAmRmTokenKind, "");
}

RpcToken MintNmToken(NMTokenIdentifierProto identifier, const MasterKey& key, std::string service) {
  identifier.key_id = key.id;
  return Sign(identifier.Encode(), key, kNmTokenKind, std::move(service));
}

RpcToken MintContainerToken(ContainerTokenIdentifierProto identifier, const MasterKey& key, std::string service) {
  identifier.master_key_id = key.id;
  return Sign(identifier.Encode(), key, kContainerTokenKind, std::move(service));
}

RpcToken MintClientToAmToken(const wire::yarn::ClientToAMTokenIdentifierProto& identifier, std::string_view key) {
  return Sign(identifier.Encode(), {0, std::string(key)}, kClientToAmTokenKind, "");
}

wire::hadoop_rpc::TokenProto ToWire(const RpcToken& token) {
  return {.identifier = token.identifier, .password = token.password, .kind = token.kind, .service = token.service};
}

RpcToken FromWire(const wire::hadoop_rpc::TokenProto& proto) {
  return {proto.identifier, proto.password, proto.kind, proto.service};
}

model::ApplicationAttemptId AttemptOf(const wire::yarn::ApplicationAttemptIdProto& proto) {
  return {{proto.ApplicationId().ClusterTimestamp(), proto.ApplicationId().Id()}, proto.AttemptId()};
}

model::ContainerId ContainerOf(const wire::yarn::ContainerIdProto& proto) {
  return {AttemptOf(proto.AppAttemptId()), proto.Id()};
}

RpcToken AmRmTokens::Mint(const model::ApplicationAttemptId& attempt) {
  attempts_.insert(attempt);
  AMRMTokenIdentifierProto identifier;
  wire::yarn::ApplicationAttemptIdProto& id = identifier.app_attempt_id.emplace();
  id.application_id = {.id = attempt.app.number, .cluster_timestamp = attempt.app.cluster_timestamp};
  id.attempt_id = attempt.attempt;
  return MintAmRmToken(identifier, keys_.newest());
}

base::Result<TokenSecret> AmRmTokens::Secret(std::string_view identifier) const {
  AMRMTokenIdentifierProto proto;
  if (!proto.ParseFrom(identifier, wire::hadoop_rpc::kTokenIdentifier)) return base::Error{std::string(kUnreadable)};
  const model::ApplicationAttemptId attempt = AttemptOf(proto.AppAttemptId());
  const std::string name = ToString(attempt);
  if (!attempts_.contains(attempt)) return base::Error{name + " not found in AMRMTokenSecretManager."};
  const MasterKey* key = keys_.Find(proto.KeyId());
  if (!key) return base::Error{"Invalid AMRMToken from " + name};
  return TokenSecret{TokenPassword(*key, identifier), name};
}

void NodeTokens::SetNode(std::string host, int32_t port) {
  host_ = std::move(host);
  port_ = port;
}

void NodeTokens::SetNmTokenKey(const MasterKey& key) { Advance(state_.nm_current, state_.nm_previous, key); }

void NodeTokens::SetContainerTokenKey(const MasterKey& key) {
  Advance(state_.container_current, state_.container_previous, key);
}

base::Status NodeTokens::AttemptStarted(const NMTokenIdentifierProto& identifier) {
  const model::ApplicationAttemptId attempt = AttemptOf(identifier.AppAttemptId());
  const auto known = state_.attempts.find(attempt);
  if (known != state_.attempts.end() && known->second.id == identifier.KeyId()) return {};
  for (const auto* key : {&state_.nm_current, &state_.nm_previous}) {
    if (!*key || (*key)->id != identifier.KeyId()) continue;
    state_.attempts[attempt] = **key;
    return {};
  }
  return base::Error{"Older NMToken should not be used while starting the container."};
}

void NodeTokens::AppFinished(const model::ApplicationId& app) {
  auto at = state_.attempts.lower_bound({app, INT32_MIN});
  while (at != state_.attempts.end() && at->first.app == app) at = state_.attempts.erase(at);
}

const MasterKey* NodeTokens::NmKey(int32_t id, const model::ApplicationAttemptId& attempt) const {
  if (state_.nm_previous && state_.nm_previous->id == id) return &*state_.nm_previous;
  if (state_.nm_current && state_.nm_current->id == id) return &*state_.nm_current;
  const auto used = state_.attempts.find(attempt);
  return used == state_.attempts.end() ? nullptr : &used->second;
}

base::Result<TokenSecret> NodeTokens::Secret(std::string_view identifier) const {
  NMTokenIdentifierProto proto;
  if (!proto.ParseFrom(identifier, wire::hadoop_rpc::kTokenIdentifier)) return base::Error{std::string(kUnreadable)};
  const model::ApplicationAttemptId attempt = AttemptOf(proto.AppAttemptId());
  const std::string name = ToString(attempt);
  const std::string_view host = proto.NodeId().Host();
  const int32_t port = proto.NodeId().Port();
  if (!host_.empty() && (host != host_ || port != port_)) {
    return base::Error{"Given NMToken for application : " + name +
                       " is not valid for current node manager.expected : " + host_ + ":" + std::to_string(port_) +
                       " found : " + std::string(host.substr(0, 300)) + ":" + std::to_string(port)};
  }
  const MasterKey* key = NmKey(proto.KeyId(), attempt);
  if (!key) {
    return base::Error{"Given NMToken for application : " + name + " seems to have been generated illegally."};
  }
  return TokenSecret{TokenPassword(key->bytes, identifier, hmac_), name};
}

base::Result<ContainerTokenIdentifierProto> NodeTokens::VerifyContainerToken(
    const wire::hadoop_rpc::TokenProto& token) const {
  ContainerTokenIdentifierProto proto;
  if (!proto.ParseFrom(token.identifier, wire::hadoop_rpc::kTokenIdentifier))
    return base::Error{std::string(kUnreadable)};
  const std::string name = ToString(ContainerOf(proto.ContainerId()));
  const std::string address = host_ + ":" + std::to_string(port_);
  if (!host_.empty() && proto.NmHostAddr() != address) {
    return base::Error{"Given Container " + name + " identifier is not valid for current Node manager. Expected : " +
                       address + " Found : " + std::string(proto.NmHostAddr().substr(0, 300))};
  }
  for (const auto* key : {&state_.container_previous, &state_.container_current}) {
    if (!*key || (*key)->id != proto.MasterKeyId()) continue;
    if (SameSecret(TokenPassword((*key)->bytes, token.identifier, hmac_), token.password)) return proto;
    return base::Error{"Invalid container token used for starting container on : " + address};
  }
  return base::Error{"Given Container " + name + " seems to have an illegally generated token."};
}

}  // namespace fairlead::endpoints::yarn

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "model/ids.h"
#include "wire/hadoop_rpc/security.h"
#include "wire/yarn/tokens.h"
#include "wire/yarn/tracker.h"

// YARN's tokens: the identifier is a protobuf message, the password HMAC-SHA1(master key, identifier bytes)
// (org.apache.hadoop.security.token.SecretManager and the secret managers of the YARN servers). The clock, the random
// bytes and the decision when to roll come from outside.

namespace fairlead::endpoints::yarn {

inline constexpr std::string_view kAmRmTokenKind = "YARN_AM_RM_TOKEN";
inline constexpr std::string_view kNmTokenKind = "NMToken";
inline constexpr std::string_view kContainerTokenKind = "ContainerToken";
inline constexpr std::string_view kClientToAmTokenKind = "YARN_CLIENT_TOKEN";

/// Bytes of a fresh master key, as Hadoop makes them (KeyGenerator of 64 bits).
inline constexpr size_t kMasterKeyBytes = 8;

/// The hash under the password: HmacSHA1, unless hadoop.security.secret-manager.key-generator.algorithm (Hadoop 3.5)
/// says otherwise on every daemon of the cluster.
enum class TokenHmac : uint8_t { kSha1, kSha224, kSha256, kSha384, kSha512, kMd5 };
/// Java's name ("HmacSHA256"); nothing for another.
std::optional<TokenHmac> TokenHmacByName(std::string_view java_name);

struct MasterKey {
  int32_t id = 0;
  std::string bytes;
  TokenHmac hmac = TokenHmac::kSha1;  // of the configuration: neither stored nor sent
  FL_FIELDS(id, bytes)
  friend bool operator==(const MasterKey&, const MasterKey&) = default;
};
wire::yarn::MasterKeyProto ToWire(const MasterKey& key);
MasterKey FromWire(const wire::yarn::MasterKeyProto& proto);

/// The keys of one kind of token on the ResourceManager: the current one, and while it rolls the next, which already
/// signs. Hadoop keeps `next` for 1.5 times the expiry of nodes or masters before it becomes current.
struct MasterKeys {
  MasterKey current;
  std::optional<MasterKey> next;
  FL_FIELDS(current, next)

  /// The key that signs AMRM tokens: the next one as soon as there is one.
  const MasterKey& newest() const { return next ? *next : current; }
  const MasterKey* Find(int32_t id) const;
  /// Begins to roll: `random` becomes the next key with the following id.
  void Roll(std::string random);
  /// Ends it: the next key becomes the current one.
  void Activate();
};

/// HMAC of the identifier; 20 bytes for SHA-1.
std::string TokenPassword(std::string_view key, std::string_view identifier, TokenHmac hmac = TokenHmac::kSha1);
inline std::string TokenPassword(const MasterKey& key, std::string_view identifier) {
  return TokenPassword(key.bytes, identifier, key.hmac);
}
/// Comparison in constant time.
bool SameSecret(std::string_view a, std::string_view b);

/// Tokens over the canonical bytes of an identifier; its key id is set here. Services are those Hadoop gives: empty for
/// AMRM (the client sets it), `service` ("ip:port" of the node) for the others.
RpcToken MintAmRmToken(wire::yarn::AMRMTokenIdentifierProto identifier, const MasterKey& key);
RpcToken MintNmToken(wire::yarn::NMTokenIdentifierProto identifier, const MasterKey& key, std::string service);
RpcToken MintContainerToken(wire::yarn::ContainerTokenIdentifierProto identifier, const MasterKey& key,
                            std::string service);
/// `key`: the attempt's own client-to-AM key.
RpcToken MintClientToAmToken(const wire::yarn::ClientToAMTokenIdentifierProto& identifier, std::string_view key);

wire::hadoop_rpc::TokenProto ToWire(const RpcToken& token);
RpcToken FromWire(const wire::hadoop_rpc::TokenProto& proto);

model::ApplicationAttemptId AttemptOf(const wire::yarn::ApplicationAttemptIdProto& proto);
model::ContainerId ContainerOf(const wire::yarn::ContainerIdProto& proto);

/// Judges AMRM tokens on the ResourceManager (AMRMTokenSecretManager): the attempt must be known and the key current or
/// next. The user of such a connection is the attempt's id as text.
class AmRmTokens : public TokenAuthority {
 public:
  explicit AmRmTokens(MasterKeys keys) : keys_(std::move(keys)) {}
  /// A token for the attempt, which becomes known.
  RpcToken Mint(const model::ApplicationAttemptId& attempt);
  void Forget(const model::ApplicationAttemptId& attempt) { attempts_.erase(attempt); }
  base::Result<TokenSecret> Secret(std::string_view identifier) const override;
  MasterKeys& keys() { return keys_; }
  const MasterKeys& keys() const { return keys_; }

 private:
  MasterKeys keys_;
  std::set<model::ApplicationAttemptId> attempts_;
};

/// The keys of a NodeManager for NM tokens and container tokens (NMTokenSecretManagerInNM,
/// NMContainerTokenSecretManager): the current and the previous key of the ResourceManager; for NM tokens also the key
/// that each attempt used last. The user of an NM-token connection is the attempt's id as text.
class NodeTokens : public TokenAuthority {
 public:
  /// The address the node registered with, "host:port" exactly.
  void SetNode(std::string host, int32_t port);
  void SetHmac(TokenHmac hmac) { hmac_ = hmac; }
  void SetNmTokenKey(const MasterKey& key);
  void SetContainerTokenKey(const MasterKey& key);
  /// An attempt started a container with this NM token: its key stays good for it. Fails for a key that is too old.
  base::Status AttemptStarted(const wire::yarn::NMTokenIdentifierProto& identifier);
  void AppFinished(const model::ApplicationId& app);

  /// For the node's RPC listener.
  base::Result<TokenSecret> Secret(std::string_view identifier) const override;
  /// The identifier of a container token whose password is right, whose node is this one and whose key is known.
  /// Expiry, rm identifier and reuse are the caller's to check. The error is the text of Hadoop's InvalidToken.
  base::Result<wire::yarn::ContainerTokenIdentifierProto> VerifyContainerToken(
      const wire::hadoop_rpc::TokenProto& token) const;

  /// What outlives a restart of the node (recovery).
  struct State {
    std::optional<MasterKey> nm_current, nm_previous, container_current, container_previous;
    std::map<model::ApplicationAttemptId, MasterKey> attempts;
    FL_FIELDS(nm_current, nm_previous, container_current, container_previous, attempts)
  };
  const State& state() const { return state_; }
  void Recover(State state) { state_ = std::move(state); }

 private:
  const MasterKey* NmKey(int32_t id, const model::ApplicationAttemptId& attempt) const;

  std::string host_;
  int32_t port_ = 0;
  TokenHmac hmac_ = TokenHmac::kSha1;
  State state_;
};

}  // namespace fairlead::endpoints::yarn

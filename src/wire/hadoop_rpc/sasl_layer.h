#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::wire::hadoop_rpc {

/// hadoop.rpc.protection (org.apache.hadoop.security.SaslRpcServer.QualityOfProtection). The values are the bits that
/// GSSAPI's last two messages have for them (RFC 4752).
enum class Protection : uint8_t { kAuthentication = 1, kIntegrity = 2, kPrivacy = 4 };
/// What a side is content with, most wanted first; never empty.
using Protections = std::vector<Protection>;
/// SASL's name: "auth", "auth-int", "auth-conf".
std::string_view QopName(Protection protection);

/// The longest wrapped message that is taken, and that is sent to a server.
inline constexpr size_t kWrappedMax = 65536;

/// Protects what follows a login. Both sides number messages: they arrive in the order in which they were wrapped, once
/// each, or are refused.
class SaslLayer {
 public:
  virtual ~SaslLayer() = default;
  virtual base::Result<std::string> Wrap(std::string_view message) = 0;
  virtual base::Result<std::string> Unwrap(std::string_view wrapped) = 0;
};

/// One step of a login that is made outside of a session (GSSAPI).
struct LoginStep {
  std::string token;                           // to the peer
  bool done = false;                           // the login has succeeded, once the token is with the peer
  std::string principal;                       // of the peer, in full; when done
  std::unique_ptr<SaslLayer> layer = nullptr;  // when done; null: authentication alone
};

}  // namespace fairlead::wire::hadoop_rpc

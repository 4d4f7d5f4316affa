#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::endpoints::yarn {

/// org.apache.hadoop.security.token.Token without its meaning.
struct RpcToken {
  std::string identifier;
  std::string password;
  std::string kind;
  std::string service;
  friend bool operator==(const RpcToken&, const RpcToken&) = default;
};

/// Who speaks on a connection.
struct Caller {
  bool by_token = false;
  std::string user;              // effective user; for a token the user of the token ("appattempt_...")
  std::string real_user;         // SIMPLE only: who impersonates `user`; empty: nobody
  std::string token_identifier;  // the bytes that were verified, when by_token
};

/// What a listener knows of a token that a client presents: its password, and the user it stands for.
struct TokenSecret {
  std::string password;
  std::string user;
};

/// Error::code of a refused token: nobody here knows tokens now, another server does (StandbyException).
inline constexpr int kTokenStandby = 1;

/// A listener's judge of tokens. The kind of token is the listener's: DIGEST-MD5 carries the identifier alone.
class TokenAuthority {
 public:
  virtual ~TokenAuthority() = default;
  /// The secret of the token, or why it is refused; the client sees it as SecretManager$InvalidToken,
  /// or as a StandbyException (kTokenStandby).
  virtual base::Result<TokenSecret> Secret(std::string_view identifier) const = 0;
};

/// As whom a client connects: by name (SIMPLE), or with a token.
struct RpcUser {
  std::string user;
  std::string real_user;
  std::optional<RpcToken> token;
  friend bool operator==(const RpcUser&, const RpcUser&) = default;
};

}  // namespace fairlead::endpoints::yarn

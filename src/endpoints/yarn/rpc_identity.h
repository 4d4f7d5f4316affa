#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/caller.h"

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
struct Caller : model::Caller {
  bool by_token() const { return method == model::LoginMethod::kToken; }
  /// As Hadoop shows him: "alice@EXAMPLE.COM (auth:KERBEROS)" (UserGroupInformation.toString).
  std::string Shown() const;
  std::string principal;         // by Kerberos: whose ticket it was, in full ("alice@EXAMPLE.COM")
  std::string full_name;         // by Kerberos: whose rights count, in full; for another user as the caller writes him
  std::string token_identifier;  // by a token: the bytes that were verified
};

/// What a listener knows of a token that a client presents: its password, and the user it stands for.
struct TokenSecret {
  std::string password;
  std::string user;
  std::string real_user = {};  // who got it in the user's name; empty: he himself
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

/// As whom a client connects: with a token, with a ticket of Kerberos, or by name (SIMPLE).
struct RpcUser {
  std::string user;
  std::string real_user;  // not empty: who calls acts for `user`; with a ticket the ticket says who that is
  std::optional<RpcToken> token;
  /// Not empty: with a ticket for this server, "rm/_HOST@EXAMPLE.COM"; _HOST is the name of its address. Or for the one
  /// that it says it is, where that fits a pattern (env/server_pattern.h).
  std::string server_principal = {};
  friend bool operator==(const RpcUser&, const RpcUser&) = default;
};

}  // namespace fairlead::endpoints::yarn

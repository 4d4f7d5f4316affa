#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/http/http.h"

namespace fairlead::process::login {

inline constexpr std::string_view kCookieName = "hadoop.auth";

/// What a cookie says of its bearer (org.apache.hadoop.security.authentication.util.AuthToken): daemons with one secret
/// take each other's.
struct Cookie {
  std::string user;       // by the short name: who he is
  std::string principal;  // in full
  std::string type;       // of the login
  int64_t expires_ms = 0;
};

/// "u=alice&p=alice@EXAMPLE.COM&t=kerberos&e=1795839772286&s=SIGNATURE": HMAC-SHA256 over the text before "&s="
/// (Signer). Nothing for names that such a text cannot carry.
std::optional<std::string> Sign(const Cookie& cookie, std::string_view secret);

/// The cookie in that text; nothing when it was not signed with this secret, is of another type, has ended, or is
/// malformed.
std::optional<Cookie> Verify(std::string_view text, std::string_view secret, std::string_view type, int64_t now_ms);

/// The values of the request's cookies of that name, a few at most: each costs a hash.
std::vector<std::string_view> CookiesOf(const http::Request& request);

/// The first of them that `Verify` takes.
std::optional<Cookie> FindCookie(const http::Request& request, std::string_view secret, std::string_view type,
                                 int64_t now_ms);

}  // namespace fairlead::process::login

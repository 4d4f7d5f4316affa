#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "process/http/http.h"

namespace fairlead::process::http {

/// Lets through who brings a JSON Web Token that is signed with the key, HS256 or, with a key as long as it needs,
/// HS384 or HS512: `Authorization: Bearer TOKEN`; as org.apache.spark.ui.JWSFilter, with its answers. A time in "exp"
/// is past, or one in "nbf" is to come: refused. Browsers, which show no bearer, are asked for a name, which may be
/// any, and a password, which is the token.
class TokenFilter {
 public:
  /// `key` is BASE64URL of at least 32 bytes. `must_expire`: a token without "exp" is refused.
  static base::Result<TokenFilter> Make(std::string_view key, bool must_expire);
  /// Nothing for a request that is let through, else its answer, 403; 401 of a browser, which then asks.
  std::optional<Response> Check(const Request& request, base::WallTime now) const;

 private:
  TokenFilter(std::string key, bool must_expire) : key_(std::move(key)), must_expire_(must_expire) {}
  std::optional<std::string> Complaint(std::string_view token, base::WallTime now) const;

  std::string key_;
  bool must_expire_ = false;
};

}  // namespace fairlead::process::http

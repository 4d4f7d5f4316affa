#include "process/login/node_pass.h"

#include "endpoints/yarn/tokens.h"
#include "process/login/cookie.h"

namespace fairlead::process::login {

namespace {

std::string TypeOf(const env::Endpoint& node) { return "node-" + node.ToString(); }

/// No token is signed with it.
std::string SigningKey(std::string_view key) {
  return endpoints::yarn::TokenPassword(key, "pass of a node's pages", endpoints::yarn::TokenHmac::kSha256);
}

}  // namespace

std::optional<std::string> MakePass(const std::string& user, const env::Endpoint& node, std::string_view key,
                                    int64_t now_ms) {
  return Sign({user, user, TypeOf(node), now_ms + kPassLife.millis()}, SigningKey(key));
}

std::optional<std::string> UserOfPass(std::string_view pass, const env::Endpoint& node, std::string_view key,
                                      int64_t now_ms) {
  std::optional<Cookie> cookie = Verify(pass, SigningKey(key), TypeOf(node), now_ms);
  if (!cookie) return std::nullopt;
  return std::move(cookie->user);
}

}  // namespace fairlead::process::login

#include "process/login/cookie.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <map>
#include <utility>

#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::login {

namespace {

constexpr std::string_view kSignature = "&s=";
/// Browsers keep 4096 bytes of a cookie.
constexpr size_t kTextMax = 4096;

std::string SignatureOf(std::string_view text, std::string_view secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac = {};
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return wire::hadoop_rpc::EncodeBase64({reinterpret_cast<const char*>(mac.data()), size});
}

bool IsEqual(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Names stand between the marks of such a text, in a quoted value of a header.
bool Fits(std::string_view name) {
  return !name.empty() && name.find_first_of("&\"\\;") == std::string_view::npos && http::IsVisible(name);
}

std::map<std::string, std::string> Parts(std::string_view text) {
  std::map<std::string, std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return {};
    parts[std::string(part.substr(0, equals))] = part.substr(equals + 1);
  }
  return parts;
}

}  // namespace

std::optional<std::string> Sign(const Cookie& cookie, std::string_view secret) {
  if (!Fits(cookie.user) || !Fits(cookie.principal) || !Fits(cookie.type)) return std::nullopt;
  std::string text =
      "u=" + cookie.user + "&p=" + cookie.principal + "&t=" + cookie.type + "&e=" + std::to_string(cookie.expires_ms);
  text += std::string(kSignature) + SignatureOf(text, secret);
  if (text.size() > kTextMax) return std::nullopt;
  return text;
}

std::optional<Cookie> Verify(std::string_view text, std::string_view secret, std::string_view type, int64_t now_ms) {
  const size_t end = text.size() > kTextMax ? std::string_view::npos : text.rfind(kSignature);
  if (end == std::string_view::npos || secret.empty()) return std::nullopt;
  const std::string_view said = text.substr(0, end);
  if (!IsEqual(text.substr(end + kSignature.size()), SignatureOf(said, secret))) return std::nullopt;
  std::map<std::string, std::string> parts = Parts(said);
  Cookie cookie{parts["u"], parts["p"], parts["t"], 0};
  const std::string& expires = parts["e"];
  const char* const last = expires.data() + expires.size();
  const auto read = std::from_chars(expires.data(), last, cookie.expires_ms);
  const bool whole = read.ec == std::errc() && read.ptr == last && !cookie.user.empty() && !cookie.principal.empty();
  if (!whole || cookie.type != type || cookie.expires_ms <= now_ms) return std::nullopt;
  return cookie;
}

std::vector<std::string_view> CookiesOf(const http::Request& request) {
  constexpr size_t kMost = 8;
  std::vector<std::string_view> found;
  for (const auto& [name, value] : request.headers) {
    if (!boost::algorithm::iequals(name, "Cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty() && found.size() < kMost) {
      std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      while (one.ends_with(' ')) one.remove_suffix(1);
      if (!one.starts_with(kCookieName) || one.substr(kCookieName.size(), 1) != "=") continue;
      one.remove_prefix(kCookieName.size() + 1);
      if (one.size() >= 2 && one.starts_with('"') && one.ends_with('"')) one = one.substr(1, one.size() - 2);
      found.push_back(one);
    }
  }
  return found;
}

std::optional<Cookie> FindCookie(const http::Request& request, std::string_view secret, std::string_view type,
                                 int64_t now_ms) {
  for (const std::string_view one : CookiesOf(request)) {
    if (auto cookie = Verify(one, secret, type, now_ms)) return cookie;
  }
  return std::nullopt;
}

}  // namespace fairlead::process::login

#include "process/http/token_filter.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <nlohmann/json.hpp>

#include "wire/json/json.h"

namespace fairlead::process::http {

namespace {

using nlohmann::json;

/// A part of a token: RFC 7519 nests nothing but what an issuer adds to the claims.
constexpr base::BudgetKind kTokenPart{.name = "a token's part",
                                      .bytes = 16 << 10,
                                      .depth = 16,
                                      .memory = {.floor = 64 << 10, .per_byte = 32, .most = 1 << 20},
                                      .nodes = {.floor = 2000, .most = 2000},
                                      .work = {}};

/// Without padding, or with it; nothing for any other text.
std::optional<std::string> FromBase64Url(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (const char c : text) {
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return text.size() % 4 == 1 ? std::nullopt : std::optional(out);
}

/// Of `Basic` (RFC 7617), whatever the name.
std::optional<std::string> PasswordOf(std::string_view header) {
  constexpr std::string_view kBasic = "Basic ";
  if (!header.starts_with(kBasic)) return std::nullopt;
  std::string text(header.substr(kBasic.size()));
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  const auto words = FromBase64Url(text);
  const size_t colon = words ? words->find(':') : std::string::npos;
  return colon == std::string::npos ? std::nullopt : std::optional(words->substr(colon + 1));
}

/// Null for what is no HMAC, and where the key is shorter than the hash (RFC 7518, 3.2).
const EVP_MD* HashOf(const json& header, size_t key_bytes) {
  const auto algorithm = header.is_object() ? header.find("alg") : header.end();
  if (!header.is_object() || algorithm == header.end()) return nullptr;
  if (*algorithm == "HS256" && key_bytes >= 32) return ::EVP_sha256();
  if (*algorithm == "HS384" && key_bytes >= 48) return ::EVP_sha384();
  if (*algorithm == "HS512" && key_bytes >= 64) return ::EVP_sha512();
  return nullptr;
}

bool IsSigned(std::string_view text, std::string_view signature, const std::string& key, const EVP_MD* hash) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac = {};
  unsigned size = 0;
  const bool made =
      ::HMAC(hash, key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
             text.size(), mac.data(), &size) != nullptr;
  return made && signature.size() == size && ::CRYPTO_memcmp(mac.data(), signature.data(), size) == 0;
}

}  // namespace

base::Result<TokenFilter> TokenFilter::Make(std::string_view key, bool must_expire) {
  auto bytes = FromBase64Url(key);
  constexpr size_t kKeyBytesMin = 32;
  if (!bytes) return base::Error{"the key is no BASE64URL"};
  if (bytes->size() < kKeyBytesMin) return base::Error{"the key is shorter than 32 bytes"};
  return TokenFilter(std::move(*bytes), must_expire);
}

std::optional<Response> TokenFilter::Check(const Request& request, base::WallTime now) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = FindHeader(request.headers, "Authorization");
  std::optional<std::string> complaint;
  if (header.empty()) {
    complaint = "Authorization header is missing.";
  } else if (header.starts_with(kBearer)) {
    complaint = Complaint(header.substr(kBearer.size()), now);
  } else if (const auto password = PasswordOf(header)) {
    complaint = Complaint(*password, now);
  } else {
    complaint = "Malformed Authorization header.";
  }
  if (!complaint) return std::nullopt;
  const bool browser = FindHeader(request.headers, "Accept").find("text/html") != std::string_view::npos;
  Response response = TextResponse(browser ? 401 : 403, *complaint);
  if (browser)
    response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"any name, and a token as its password\"");
  response.headers.emplace_back("Cache-Control", "no-cache, no-store, must-revalidate");
  return response;
}

std::optional<std::string> TokenFilter::Complaint(std::string_view token, base::WallTime now) const {
  const std::string invalid = "JWT Validate Fail";
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.size() > kTokenPart.bytes) return invalid;
  const auto head = FromBase64Url(token.substr(0, first));
  const auto body = FromBase64Url(token.substr(first + 1, second - first - 1));
  const auto signature = FromBase64Url(token.substr(second + 1));
  if (!head || !body || !signature) return invalid;
  const auto algorithm = wire::json::Parse(*head, kTokenPart);
  const EVP_MD* const hash = algorithm ? HashOf(*algorithm, key_.size()) : nullptr;
  if (hash == nullptr || !IsSigned(token.substr(0, second), *signature, key_, hash)) return invalid;
  const auto claims = wire::json::Parse(*body, kTokenPart);
  if (!claims || !claims->is_object()) return invalid;
  constexpr double kMsPerSecond = 1000;
  bool valid = true;
  const auto time = [&](const char* name) -> std::optional<double> {
    const auto found = claims->find(name);
    if (found == claims->end() || found->is_null()) return std::nullopt;
    valid &= found->is_number();
    return found->is_number() ? found->get<double>() * kMsPerSecond : 0;
  };
  const auto expires = time("exp");
  const auto begins = time("nbf");
  const auto at = static_cast<double>(now.ms);
  if (!valid || (expires && *expires <= at) || (begins && *begins > at)) return invalid;
  if (must_expire_ && !expires) return "Authorization token does not carry a required expiration.";
  return std::nullopt;
}

}  // namespace fairlead::process::http

#include "wire/digest_md5/digest_md5.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/text.h"

namespace fairlead::wire::digest_md5 {
namespace {

constexpr size_t kMessageMax = 64 << 10;  // the identifier of a token is some hundred bytes

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// A value in quotes, from behind the first on; `at` then stands behind the last. False: it has no end.
bool TakeQuoted(std::string_view text, size_t& at, std::string& value) {
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' && ++at == text.size()) return false;
    value.push_back(text[at]);
  }
  return at++ < text.size();
}

}  // namespace

std::string Md5(std::string_view bytes) {
  std::string out(16, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), nullptr, EVP_md5(), nullptr);
  return out;
}

std::string HmacMd5(std::string_view key, std::string_view bytes) {
  std::string out(16, '\0');
  HMAC(EVP_md5(), key.data(), static_cast<int>(key.size()), Bytes(bytes), bytes.size(),
       reinterpret_cast<unsigned char*>(out.data()), nullptr);
  return out;
}

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<Fields> ParseFields(std::string_view text) {
  if (text.size() > kMessageMax) return std::nullopt;
  Fields fields;
  size_t at = 0;
  while (true) {
    while (at < text.size() && (IsSpace(text[at]) || text[at] == ',')) ++at;
    if (at == text.size()) return fields;
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = base::Trimmed(text.substr(at, equals - at));
    at = equals + 1;
    std::string value;
    if (at < text.size() && text[at] == '"') {
      if (!TakeQuoted(text, ++at, value)) return std::nullopt;
    } else {
      for (; at < text.size() && text[at] != ',' && !IsSpace(text[at]); ++at) value.push_back(text[at]);
    }
    if (!fields.emplace(key, std::move(value)).second) return std::nullopt;
  }
}

std::string_view Find(const Fields& fields, std::string_view key) {
  const auto it = fields.find(key);
  return it == fields.end() ? std::string_view() : it->second;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + '"';
}

std::string SessionKey(const Login& login) {
  return Md5(Md5(login.username + ":" + login.realm + ":" + login.password) + ":" + login.nonce + ":" + login.cnonce +
             (login.authzid.empty() ? "" : ":" + login.authzid));
}

std::string Response(const Login& login, bool from_client) {
  std::string a2 = (from_client ? "AUTHENTICATE:" : ":") + login.digest_uri;
  if (login.qop != "auth") a2 += ":" + std::string(32, '0');
  return base::Hex(Md5(base::Hex(SessionKey(login)) + ":" + login.nonce + ":" + login.nonce_count + ":" + login.cnonce +
                       ":" + login.qop + ":" + base::Hex(Md5(a2))));
}

}  // namespace fairlead::wire::digest_md5

#include "wire/hadoop_rpc/sasl_digest_md5.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <vector>

namespace fairlead::wire::hadoop_rpc {
namespace {

using Digest = std::array<unsigned char, 16>;

constexpr size_t kMessageMax = 64 << 10;  // a login message; the identifier of a token is some hundred bytes
constexpr std::string_view kFormat = "DIGEST-MD5: digest response format violation. ";

Digest Md5(std::string_view text) {
  Digest out{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), out.data(), &length, EVP_md5(), nullptr);
  return out;
}

std::string_view AsText(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

std::string Hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : digest) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

bool SameText(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Splits "key=value,key="value"" (RFC 2831, 7.1); calls `take` for each, false when the text is malformed.
template <class Take>
bool ForEachDirective(std::string_view text, Take take) {
  size_t at = 0;
  while (true) {
    while (at < text.size() && (IsSpace(text[at]) || text[at] == ',')) ++at;
    if (at == text.size()) return true;
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return false;
    std::string_view key = text.substr(at, equals - at);
    while (!key.empty() && IsSpace(key.back())) key.remove_suffix(1);
    at = equals + 1;
    std::string value;
    if (at < text.size() && text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && ++at == text.size()) return false;
        value.push_back(text[at]);
      }
      if (at++ == text.size()) return false;
    } else {
      for (; at < text.size() && text[at] != ',' && !IsSpace(text[at]); ++at) value.push_back(text[at]);
    }
    take(key, std::move(value));
  }
}

struct Directives {
  std::vector<std::pair<std::string, std::string>> list;
  bool malformed = false;

  explicit Directives(std::string_view text) {
    malformed = text.size() > kMessageMax || !ForEachDirective(text, [this](std::string_view key, std::string value) {
                  list.emplace_back(key, std::move(value));
                });
  }
  /// The value, or an empty string; a key given twice makes the message malformed.
  std::string Only(std::string_view key) {
    const std::string* found = nullptr;
    for (const auto& [name, value] : list) {
      if (name != key) continue;
      malformed |= found != nullptr;
      found = &value;
    }
    return found ? *found : std::string();
  }
};

bool OffersAuth(std::string_view qop_options) {
  size_t at = 0;
  while (at <= qop_options.size()) {
    const size_t end = std::min(qop_options.find(',', at), qop_options.size());
    std::string_view option = qop_options.substr(at, end - at);
    while (!option.empty() && IsSpace(option.front())) option.remove_prefix(1);
    while (!option.empty() && IsSpace(option.back())) option.remove_suffix(1);
    if (option == "auth") return true;
    at = end + 1;
  }
  return false;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + '"';
}

base::Error Refuse(std::string_view what) { return {std::string(what), 0}; }

}  // namespace

std::string DigestMd5Response(const DigestMd5Inputs& in, bool from_client) {
  const Digest secret = Md5(in.username + ":" + in.realm + ":" + in.password);
  const std::string a1 = Hex(Md5(std::string(AsText(secret)) + ":" + in.nonce + ":" + in.cnonce));
  const std::string a2 = Hex(Md5((from_client ? "AUTHENTICATE:" : ":") + in.digest_uri));
  return Hex(Md5(a1 + ":" + in.nonce + ":" + in.nonce_count + ":" + in.cnonce + ":auth:" + a2));
}

std::optional<std::string> DigestDirective(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  const bool whole = ForEachDirective(text, [&](std::string_view name, std::string value) {
    if (name == key && !found) found = std::move(value);
  });
  return whole ? found : std::nullopt;
}

std::string DigestMd5Server::Challenge() const {
  return "realm=" + Quoted(kDigestRealm) + ",nonce=" + Quoted(nonce_) +
         ",qop=\"auth\",charset=utf-8,algorithm=md5-sess";
}

base::Result<std::string> DigestMd5Server::Verify(std::string_view response, const PasswordOf& password_of) {
  Directives said(response);
  DigestMd5Inputs in;
  in.username = said.Only("username");
  in.realm = said.Only("realm");
  in.nonce = said.Only("nonce");
  in.cnonce = said.Only("cnonce");
  in.digest_uri = said.Only("digest-uri");
  in.nonce_count = said.Only("nc");
  const std::string qop = said.Only("qop");
  const std::string answer = said.Only("response");
  if (said.malformed) return Refuse(std::string(kFormat) + "Malformed directives.");
  if (in.username.empty()) return Refuse(std::string(kFormat) + "Missing username.");
  if (in.nonce != nonce_) return Refuse(std::string(kFormat) + "Mismatched nonce.");
  if (in.cnonce.empty()) return Refuse(std::string(kFormat) + "Missing cnonce.");
  if (in.nonce_count != "00000001") return Refuse(std::string(kFormat) + "Mismatched nonce count.");
  if (!qop.empty() && qop != "auth") {
    return Refuse("DIGEST-MD5: quality of protection " + qop.substr(0, 20) + " is not supported; only auth is.");
  }
  if (in.realm != kDigestRealm) return Refuse(std::string(kFormat) + "Nonexistent realm: " + in.realm.substr(0, 100));
  if (in.digest_uri != "/default") {
    return Refuse(std::string(kFormat) + "Mismatched URI: " + in.digest_uri.substr(0, 100) + "; expecting: /default");
  }
  base::Result<std::string> password = password_of(in.username);
  if (!password) return password.error();
  in.password = *password;
  if (!SameText(answer, DigestMd5Response(in, true))) return Refuse(std::string(kFormat) + "Mismatched response.");
  return "rspauth=" + DigestMd5Response(in, false);
}

DigestMd5Client::DigestMd5Client(std::string username, std::string password, std::string cnonce) {
  inputs_.username = std::move(username);
  inputs_.password = std::move(password);
  inputs_.cnonce = std::move(cnonce);
}

base::Result<std::string> DigestMd5Client::Respond(std::string_view challenge) {
  Directives said(challenge);
  inputs_.realm = said.Only("realm");
  inputs_.nonce = said.Only("nonce");
  inputs_.digest_uri = "/default";
  const std::string qop = said.Only("qop");
  const std::string algorithm = said.Only("algorithm");
  if (said.malformed || inputs_.nonce.empty()) return Refuse("DIGEST-MD5: malformed challenge");
  if (algorithm != "md5-sess") return Refuse("DIGEST-MD5: the server's algorithm is not md5-sess");
  if (!qop.empty() && !OffersAuth(qop)) {
    return Refuse("DIGEST-MD5: No common protection layer between client and server (the server offers " +
                  qop.substr(0, 100) + "; hadoop.rpc.protection other than authentication is not supported)");
  }
  return "charset=utf-8,username=" + Quoted(inputs_.username) + ",realm=" + Quoted(inputs_.realm) +
         ",nonce=" + Quoted(inputs_.nonce) + ",nc=" + inputs_.nonce_count + ",cnonce=" + Quoted(inputs_.cnonce) +
         ",digest-uri=" + Quoted(inputs_.digest_uri) + ",maxbuf=65536,response=" + DigestMd5Response(inputs_, true) +
         ",qop=auth";
}

base::Status DigestMd5Client::CheckRspauth(std::string_view token) const {
  const std::optional<std::string> rspauth = DigestDirective(token, "rspauth");
  if (rspauth && SameText(*rspauth, DigestMd5Response(inputs_, false))) return {};
  return base::Error{"DIGEST-MD5: the server could not prove that it knows the token"};
}

}  // namespace fairlead::wire::hadoop_rpc

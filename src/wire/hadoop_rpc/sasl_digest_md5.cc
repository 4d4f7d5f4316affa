#include "wire/hadoop_rpc/sasl_digest_md5.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/bytes.h"
#include "base/text.h"

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

std::string Hex(const Digest& digest) { return base::Hex(AsText(digest)); }

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

/// Whether a list ("auth-int, auth") has the word.
bool Has(std::string_view list, std::string_view word) {
  size_t at = 0;
  while (at <= list.size()) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string_view option = list.substr(at, end - at);
    while (!option.empty() && IsSpace(option.front())) option.remove_prefix(1);
    while (!option.empty() && IsSpace(option.back())) option.remove_suffix(1);
    if (option == word) return true;
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

/// H(A1)
Digest SessionKey(const DigestMd5Inputs& in) {
  const Digest secret = Md5(in.username + ":" + in.realm + ":" + in.password);
  return Md5(std::string(AsText(secret)) + ":" + in.nonce + ":" + in.cnonce);
}

/// "Digest session key to client-to-server signing key magic constant" and its like (RFC 2831, 2.3 and 2.4).
Digest DirectionKey(const Digest& session, bool to_server, bool sealing) {
  const std::string way = to_server ? "client-to-server" : "server-to-client";
  return Md5(std::string(AsText(session)) + (sealing ? "Digest H(A1) to " : "Digest session key to ") + way +
             (sealing ? " sealing" : " signing") + " key magic constant");
}

constexpr size_t kMacBytes = 10;
constexpr size_t kTailBytes = 6;  // 0001 and the number
constexpr size_t kBlock = 8;      // of 3des
constexpr std::string_view kMessageType("\0\1", 2);

/// 3des as RFC 2831 has it: two keys of seven bytes, spread over eight, and one chain over all messages of a direction.
class Cipher {
 public:
  Cipher(const Digest& key, bool encrypt) : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    std::array<unsigned char, 24> keys{};
    for (size_t i = 0; i < 3; ++i) Spread(key.data() + 7 * (i % 2), keys.data() + 8 * i);
    EVP_CipherInit_ex(context_.get(), EVP_des_ede3_cbc(), nullptr, keys.data(), key.data() + 8, encrypt ? 1 : 0);
    EVP_CIPHER_CTX_set_padding(context_.get(), 0);
    OPENSSL_cleanse(keys.data(), keys.size());
  }
  /// `text`: whole blocks.
  base::Result<std::string> Apply(std::string_view text) {
    std::string out(text.size(), '\0');
    int length = 0;
    const int done =
        EVP_CipherUpdate(context_.get(), reinterpret_cast<unsigned char*>(out.data()), &length,
                         reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (done != 1 || static_cast<size_t>(length) != text.size()) return Refuse("DIGEST-MD5: the cipher 3des failed");
    return out;
  }

 private:
  /// Seven bits a byte, and one of parity that nobody reads.
  static void Spread(const unsigned char* seven, unsigned char* eight) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 7; ++i) bits = bits << 8 | seven[i];
    for (size_t i = 0; i < 8; ++i) eight[i] = static_cast<unsigned char>((bits >> (49 - 7 * i) & 0x7f) << 1);
  }
  std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context_;
};

/// message ‖ HMAC ‖ 0001 ‖ number; with privacy the first two are padded and encrypted.
class Md5Layer final : public SaslLayer {
 public:
  Md5Layer(const Digest& session, bool of_client, bool privacy)
      : out_key_(DirectionKey(session, of_client, false)), in_key_(DirectionKey(session, !of_client, false)) {
    if (!privacy) return;
    encrypt_ = std::make_unique<Cipher>(DirectionKey(session, of_client, true), true);
    decrypt_ = std::make_unique<Cipher>(DirectionKey(session, !of_client, true), false);
  }

  base::Result<std::string> Wrap(std::string_view message) override {
    std::string tail;
    base::ByteWriter to(tail);
    to.Bytes(kMessageType);
    to.U32(out_number_);
    std::string body(message);
    if (encrypt_) {
      const size_t pad = kBlock - (message.size() + kMacBytes) % kBlock;
      body.append(pad, static_cast<char>(pad));
    }
    body += Mac(out_key_, out_number_++, message);
    if (!encrypt_) return body + tail;
    base::Result<std::string> sealed = encrypt_->Apply(body);
    return sealed.ok() ? base::Result<std::string>(*sealed + tail) : sealed;
  }

  base::Result<std::string> Unwrap(std::string_view wrapped) override {
    if (wrapped.size() < kMacBytes + kTailBytes) return Refuse("DIGEST-MD5: a protected message is cut");
    const std::string_view tail = wrapped.substr(wrapped.size() - kTailBytes);
    std::string body(wrapped.substr(0, wrapped.size() - kTailBytes));
    if (!tail.starts_with(kMessageType) || base::BigEndian<uint32_t>(tail.substr(2)) != in_number_) {
      return Refuse("DIGEST-MD5: a protected message came out of turn");
    }
    size_t pad = 0;
    if (decrypt_) {
      if (body.size() % kBlock != 0 || body.size() < 2 * kBlock) {
        return Refuse("DIGEST-MD5: a protected message is cut");
      }
      base::Result<std::string> plain = decrypt_->Apply(body);
      if (!plain) return plain;
      body = std::move(*plain);
      pad = static_cast<unsigned char>(body[body.size() - kMacBytes - 1]);
      if (pad == 0 || pad > kBlock || pad > body.size() - kMacBytes) return Changed();
    }
    const std::string mac = body.substr(body.size() - kMacBytes);
    body.resize(body.size() - kMacBytes - pad);
    if (!SameText(mac, Mac(in_key_, in_number_++, body))) return Changed();
    return body;
  }

 private:
  static base::Error Changed() { return Refuse("DIGEST-MD5: a protected message was changed"); }
  static std::string Mac(const Digest& key, uint32_t number, std::string_view message) {
    std::string text;
    base::ByteWriter to(text);
    to.U32(number);
    to.Bytes(message);
    Digest out{};
    unsigned length = 0;
    HMAC(EVP_md5(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), out.data(), &length);
    return std::string(AsText(out).substr(0, kMacBytes));
  }

  const Digest out_key_;
  const Digest in_key_;
  std::unique_ptr<Cipher> encrypt_;  // null: integrity alone
  std::unique_ptr<Cipher> decrypt_;
  uint32_t out_number_ = 0;
  uint32_t in_number_ = 0;
};

/// The directives that offer protections.
std::string Offer(const Protections& offered) {
  std::string names;
  for (const Protection one : offered) names += (names.empty() ? "" : ",") + std::string(QopName(one));
  const bool privacy = std::find(offered.begin(), offered.end(), Protection::kPrivacy) != offered.end();
  return "qop=" + Quoted(names) + ",charset=utf-8" + (privacy ? ",cipher=\"3des\"" : "");
}

}  // namespace

std::string_view QopName(Protection protection) {
  switch (protection) {
    case Protection::kAuthentication:
      return "auth";
    case Protection::kIntegrity:
      return "auth-int";
    case Protection::kPrivacy:
      return "auth-conf";
  }
  return "?";
}

std::string DigestMd5Response(const DigestMd5Inputs& in, bool from_client) {
  const bool layer = in.qop != Protection::kAuthentication;
  const std::string a2 =
      Hex(Md5((from_client ? "AUTHENTICATE:" : ":") + in.digest_uri + (layer ? ":" + std::string(32, '0') : "")));
  return Hex(Md5(Hex(SessionKey(in)) + ":" + in.nonce + ":" + in.nonce_count + ":" + in.cnonce + ":" +
                 std::string(QopName(in.qop)) + ":" + a2));
}

std::unique_ptr<SaslLayer> DigestMd5Layer(const DigestMd5Inputs& in, bool of_client) {
  if (in.qop == Protection::kAuthentication) return nullptr;
  return std::make_unique<Md5Layer>(SessionKey(in), of_client, in.qop == Protection::kPrivacy);
}

std::optional<std::string> DigestDirective(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  const bool whole = ForEachDirective(text, [&](std::string_view name, std::string value) {
    if (name == key && !found) found = std::move(value);
  });
  return whole ? found : std::nullopt;
}

std::string DigestMd5Server::Challenge() const {
  return "realm=" + Quoted(kDigestRealm) + ",nonce=" + Quoted(nonce_) + "," + Offer(offered_) + ",algorithm=md5-sess";
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
  const std::string cipher = said.Only("cipher");
  const std::string answer = said.Only("response");
  if (said.malformed) return Refuse(std::string(kFormat) + "Malformed directives.");
  if (in.username.empty()) return Refuse(std::string(kFormat) + "Missing username.");
  if (in.nonce != nonce_) return Refuse(std::string(kFormat) + "Mismatched nonce.");
  if (in.cnonce.empty()) return Refuse(std::string(kFormat) + "Missing cnonce.");
  if (in.nonce_count != "00000001") return Refuse(std::string(kFormat) + "Mismatched nonce count.");
  const auto chosen = std::find_if(offered_.begin(), offered_.end(), [&](Protection offered) {
    return QopName(offered) == (qop.empty() ? "auth" : qop);
  });
  if (chosen == offered_.end()) {
    return Refuse("DIGEST-MD5: quality of protection " + qop.substr(0, 20) + " is not offered.");
  }
  in.qop = *chosen;
  if (in.qop == Protection::kPrivacy && cipher != "3des") {
    return Refuse("DIGEST-MD5: cipher " + cipher.substr(0, 20) + " is not offered.");
  }
  if (in.realm != kDigestRealm) return Refuse(std::string(kFormat) + "Nonexistent realm: " + in.realm.substr(0, 100));
  if (in.digest_uri != "/default") {
    return Refuse(std::string(kFormat) + "Mismatched URI: " + in.digest_uri.substr(0, 100) + "; expecting: /default");
  }
  base::Result<std::string> password = password_of(in.username);
  if (!password) return password.error();
  in.password = *password;
  if (!SameText(answer, DigestMd5Response(in, true))) return Refuse(std::string(kFormat) + "Mismatched response.");
  layer_ = DigestMd5Layer(in, false);
  return "rspauth=" + DigestMd5Response(in, false);
}

DigestMd5Client::DigestMd5Client(std::string username, std::string password, std::string cnonce, Protections wanted)
    : wanted_(std::move(wanted)) {
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
  const std::string cipher = said.Only("cipher");
  const auto chosen = std::find_if(wanted_.begin(), wanted_.end(), [&](Protection wanted) {
    return Has(qop.empty() ? "auth" : qop, QopName(wanted)) && (wanted != Protection::kPrivacy || Has(cipher, "3des"));
  });
  if (chosen == wanted_.end()) {
    return Refuse("DIGEST-MD5: No common protection layer between client and server (the server offers " +
                  qop.substr(0, 100) + "; hadoop.rpc.protection has to name one that both have)");
  }
  inputs_.qop = *chosen;
  return "charset=utf-8,username=" + Quoted(inputs_.username) + ",realm=" + Quoted(inputs_.realm) +
         ",nonce=" + Quoted(inputs_.nonce) + ",nc=" + inputs_.nonce_count + ",cnonce=" + Quoted(inputs_.cnonce) +
         ",digest-uri=" + Quoted(inputs_.digest_uri) + ",maxbuf=65536,response=" + DigestMd5Response(inputs_, true) +
         ",qop=" + std::string(QopName(inputs_.qop)) + (inputs_.qop == Protection::kPrivacy ? ",cipher=\"3des\"" : "");
}

base::Status DigestMd5Client::CheckRspauth(std::string_view token) const {
  const std::optional<std::string> rspauth = DigestDirective(token, "rspauth");
  if (rspauth && SameText(*rspauth, DigestMd5Response(inputs_, false))) return {};
  return base::Error{"DIGEST-MD5: the server could not prove that it knows the token"};
}

}  // namespace fairlead::wire::hadoop_rpc

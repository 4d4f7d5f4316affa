#include "wire/spark_transport/sasl.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"

namespace fairlead::wire::spark_transport {
namespace {

constexpr std::string_view kRealm = "default";
constexpr std::string_view kCiphers = "3des,rc4,des,rc4-56,rc4-40";
constexpr size_t kMacBytes = 10;
constexpr size_t kTrailerBytes = 6;  // type and sequence number
/// A sealed block that a peer may send; Spark sends 64 KiB of text unless told otherwise.
constexpr size_t kSealedBlockMax = 16 << 20;

uint8_t* Bytes(std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); }
const uint8_t* Bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

base::Error SaslError(const std::string& what) {
  return {"java.lang.RuntimeException: javax.security.sasl.SaslException: DIGEST-MD5: " + what};
}

// ---- RFC 2831, 2.1.2.1 ---------------------------------------------------------------------------------------------

struct Digest {
  std::string user;
  std::string realm;
  std::string password;
  std::string nonce;
  std::string cnonce;
  std::string nc;
  std::string qop;
  std::string uri;
  std::string authzid;

  std::string HashA1() const {
    return Md5(Md5(user + ":" + realm + ":" + password) + ":" + nonce + ":" + cnonce +
               (authzid.empty() ? "" : ":" + authzid));
  }
  /// `method`: "AUTHENTICATE" for the client's response, "" for the server's rspauth.
  std::string Response(std::string_view method) const {
    std::string a2 = std::string(method) + ":" + uri;
    if (qop != "auth") a2 += ":00000000000000000000000000000000";
    return base::Hex(
        Md5(base::Hex(HashA1()) + ":" + nonce + ":" + nc + ":" + cnonce + ":" + qop + ":" + base::Hex(Md5(a2))));
  }
};

// ---- sealing -------------------------------------------------------------------------------------------------------

/// A key stream or block chain that goes on from message to message.
class Chain {
 public:
  virtual ~Chain() = default;
  virtual void Apply(std::string& bytes) = 0;
};

/// RFC 6229's cipher; OpenSSL 3 keeps it in a provider that is often not installed.
class Rc4 final : public Chain {
 public:
  explicit Rc4(std::string_view key) {
    for (size_t i = 0; i < 256; ++i) state_[i] = static_cast<uint8_t>(i);
    for (size_t i = 0, j = 0; i < 256; ++i) {
      j = (j + state_[i] + static_cast<uint8_t>(key[i % key.size()])) & 255;
      std::swap(state_[i], state_[j]);
    }
  }
  void Apply(std::string& bytes) override {
    for (char& c : bytes) {
      i_ = (i_ + 1) & 255;
      j_ = (j_ + state_[i_]) & 255;
      std::swap(state_[i_], state_[j_]);
      c = static_cast<char>(static_cast<uint8_t>(c) ^ state_[(state_[i_] + state_[j_]) & 255]);
    }
  }

 private:
  std::array<uint8_t, 256> state_;
  size_t i_ = 0;
  size_t j_ = 0;
};

/// Seven bytes to the eight of a DES key; the parity bits are ignored by the cipher.
std::string SpreadDesKey(std::string_view seven) {
  uint64_t bits = 0;
  for (const char c : seven) bits = (bits << 8) | static_cast<uint8_t>(c);
  std::string out(8, '\0');
  for (size_t i = 8; i-- > 0; bits >>= 7) out[i] = static_cast<char>((bits & 127) << 1);
  return out;
}

/// 3DES with two keys, or DES as 3DES with one, in CBC without padding of its own.
class DesChain final : public Chain {
 public:
  DesChain(std::string_view sealing_key, bool triple, bool encrypt) : context_(EVP_CIPHER_CTX_new()) {
    const std::string first = SpreadDesKey(sealing_key.substr(0, 7));
    const std::string second = triple ? SpreadDesKey(sealing_key.substr(7, 7)) : first;
    const std::string key = first + second + first;
    FL_CHECK(EVP_CipherInit_ex(context_, EVP_des_ede3_cbc(), nullptr, Bytes(key), Bytes(sealing_key.substr(8)),
                               encrypt ? 1 : 0) == 1,
             "3DES");
    EVP_CIPHER_CTX_set_padding(context_, 0);
  }
  DesChain(const DesChain&) = delete;
  DesChain& operator=(const DesChain&) = delete;
  ~DesChain() override { EVP_CIPHER_CTX_free(context_); }
  void Apply(std::string& bytes) override {
    int written = 0;
    FL_CHECK(EVP_CipherUpdate(context_, Bytes(bytes), &written, Bytes(bytes), static_cast<int>(bytes.size())) == 1,
             "3DES");
  }

 private:
  EVP_CIPHER_CTX* context_;
};

/// One direction: its keys, chain and count.
struct Direction {
  std::string signing_key;
  std::unique_ptr<Chain> chain;
  uint32_t sequence = 0;

  std::string Mac(std::string_view text) const {
    std::string message;
    base::ByteWriter(message).U32(sequence);
    message.append(text);
    return HmacMd5(signing_key, message).substr(0, kMacBytes);
  }
};

Direction MakeDirection(const SealingKeys& keys, bool from_client, bool encrypt) {
  const std::string arrow = from_client ? "client-to-server" : "server-to-client";
  const size_t part = keys.cipher == "rc4-56" ? 7 : keys.cipher == "rc4-40" ? 5 : 16;
  const std::string sealing =
      Md5(keys.session_key.substr(0, part) + "Digest H(A1) to " + arrow + " sealing key magic constant");
  Direction out;
  out.signing_key = Md5(keys.session_key + "Digest session key to " + arrow + " signing key magic constant");
  if (keys.cipher.starts_with("rc4")) {
    out.chain = std::make_unique<Rc4>(sealing);
  } else {
    out.chain = std::make_unique<DesChain>(sealing, keys.cipher == "3des", encrypt);
  }
  return out;
}

class SealingCipher final : public ChannelCipher {
 public:
  SealingCipher(const SealingKeys& keys, bool server, size_t outbound_block_max)
      : block_(keys.cipher.starts_with("rc4") ? 1 : 8),
        outbound_block_max_(std::max<size_t>(outbound_block_max, 1)),
        in_(MakeDirection(keys, server, false)),
        out_(MakeDirection(keys, !server, true)) {}

  base::Status Decrypt(std::string_view bytes, std::string& plain) override {
    pending_.append(bytes);
    size_t used = 0;
    while (pending_.size() - used >= 8) {
      const std::string_view rest = std::string_view(pending_).substr(used);
      const auto length = base::BigEndian<int64_t>(rest);
      if (length < static_cast<int64_t>(8 + kMacBytes + kTrailerBytes) ||
          length > static_cast<int64_t>(kSealedBlockMax)) {
        return base::Error{"a sealed block of an impossible length"};
      }
      if (rest.size() < static_cast<size_t>(length)) break;
      if (!Unseal(rest.substr(8, static_cast<size_t>(length) - 8), plain)) {
        return base::Error{"a sealed block was changed on its way"};
      }
      used += static_cast<size_t>(length);
    }
    pending_.erase(0, used);
    return {};
  }

  void Encrypt(std::string_view plain, std::string& out) override {
    for (; !plain.empty(); plain.remove_prefix(std::min(outbound_block_max_, plain.size()))) {
      Seal(plain.substr(0, outbound_block_max_), out);
    }
  }

 private:
  void Seal(std::string_view text, std::string& out) {
    std::string block(text);
    if (block_ > 1) {
      const size_t padding = block_ - (text.size() + kMacBytes) % block_;
      block.append(padding, static_cast<char>(padding));
    }
    block.append(out_.Mac(text));
    out_.chain->Apply(block);
    base::ByteWriter writer(out);
    writer.I64(static_cast<int64_t>(8 + block.size() + kTrailerBytes));
    writer.Bytes(block);
    writer.U16(1);
    writer.U32(out_.sequence++);
  }

  bool Unseal(std::string_view sealed, std::string& plain) {
    const std::string_view trailer = sealed.substr(sealed.size() - kTrailerBytes);
    std::string block(sealed.substr(0, sealed.size() - kTrailerBytes));
    if (block.size() % block_ != 0) return false;
    in_.chain->Apply(block);
    const std::string_view mac = std::string_view(block).substr(block.size() - kMacBytes);
    size_t text = block.size() - kMacBytes;
    if (block_ > 1) {
      if (text == 0) return false;
      const auto padding = static_cast<uint8_t>(block[text - 1]);
      if (padding == 0 || padding > block_ || padding > text) return false;
      text -= padding;
    }
    const std::string_view bytes = std::string_view(block).substr(0, text);
    const bool good = EqualInConstantTime(mac, in_.Mac(bytes)) && base::BigEndian<uint16_t>(trailer) == 1 &&
                      base::BigEndian<uint32_t>(trailer.substr(2)) == in_.sequence;
    ++in_.sequence;
    if (good) plain.append(bytes);
    return good;
  }

  const size_t block_;
  const size_t outbound_block_max_;
  Direction in_;
  Direction out_;
  std::string pending_;
};

bool KnownCipher(std::string_view name) {
  return name == "3des" || name == "des" || name == "rc4" || name == "rc4-56" || name == "rc4-40";
}

}  // namespace

std::string EncodeSaslMessage(const SaslMessage& message) {
  std::string out;
  base::ByteWriter writer(out);
  writer.U8(SaslMessage::kTag);
  for (const std::string* field : {&message.app_id, &message.token}) {
    writer.I32(static_cast<int32_t>(field->size()));
    writer.Bytes(*field);
  }
  return out;
}

base::Result<SaslMessage> DecodeSaslMessage(std::string_view body) {
  base::Budget budget(kLoginKind, body.size());
  base::ByteReader in(body, budget);
  in.Charge(body.size());
  if (in.U8() != SaslMessage::kTag && !in.failed()) {
    return base::Error{
        "java.lang.IllegalStateException: Expected SaslMessage, received something else (maybe your client does not "
        "have SASL enabled?)"};
  }
  SaslMessage message;
  const int32_t length = in.I32();
  if (length < 0) in.Fail();
  message.app_id = std::string(in.Take(static_cast<size_t>(length)));
  in.Skip(4);
  message.token = std::string(in.Rest());
  if (in.failed()) return base::Error{"java.lang.IndexOutOfBoundsException"};
  return message;
}

std::string Base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(Bytes(out), Bytes(bytes), static_cast<int>(bytes.size()));
  return out;
}

std::string LoginText(std::string_view bytes) {
  constexpr size_t kLine = 76;
  const std::string whole = Base64(bytes);
  std::string out;
  for (size_t at = 0; at < whole.size(); at += kLine) {
    if (at > 0) out.push_back('\n');
    out.append(whole, at, kLine);
  }
  return out;
}

std::unique_ptr<ChannelCipher> MakeSealingCipher(const SealingKeys& keys, bool server, size_t outbound_block_max) {
  if (!KnownCipher(keys.cipher) || keys.session_key.size() != 16) return nullptr;
  return std::make_unique<SealingCipher>(keys, server, outbound_block_max);
}

base::Result<std::map<std::string, std::string>> ParseDigestFields(std::string_view text) {
  std::map<std::string, std::string> out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) return base::Error{"a field without a value"};
    const std::string name(text.substr(at, equals - at));
    std::string value;
    at = equals + 1;
    if (at < text.size() && text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        value.push_back(text[at]);
      }
      if (at == text.size()) return base::Error{"a quote without an end"};
      ++at;
      if (at < text.size() && text[at] != ',') return base::Error{"a value that goes on after its quote"};
    } else {
      const size_t end = std::min(text.find(',', at), text.size());
      value = std::string(text.substr(at, end - at));
      at = end;
    }
    if (!out.emplace(name, value).second) return base::Error{"a field twice"};
    if (at < text.size()) ++at;  // the comma
  }
  return out;
}

SaslServer::SaslServer(std::string nonce, std::string password, bool always_encrypt)
    : nonce_(std::move(nonce)), password_(std::move(password)), always_encrypt_(always_encrypt) {}

base::Result<std::string> SaslServer::Respond(std::string_view token) {
  if (step_ == Step::kChallenge) {
    if (!token.empty()) return SaslError("must not have an initial response");
    step_ = Step::kResponse;
    return "realm=\"" + std::string(kRealm) + "\",nonce=\"" + nonce_ + "\",qop=\"" +
           (always_encrypt_ ? "auth-conf" : "auth-conf,auth") + "\",charset=utf-8,cipher=\"" + std::string(kCiphers) +
           "\",algorithm=md5-sess";
  }
  if (step_ != Step::kResponse) return SaslError("Server at illegal state");
  auto answer = Check(token);
  step_ = answer.ok() ? Step::kComplete : Step::kFailed;
  return answer;
}

base::Result<std::string> SaslServer::Check(std::string_view token) {
  auto parsed = ParseDigestFields(token);
  if (!parsed.ok()) return SaslError("digest response format violation. " + parsed.error().message);
  std::map<std::string, std::string>& fields = *parsed;
  if (fields["nonce"] != nonce_) return SaslError("digest response format violation. Nonexistent or mismatched nonce.");
  if (fields["nc"] != "00000001") return SaslError("digest response format violation. Nonce count does not match.");
  if (!fields.contains("qop")) fields["qop"] = "auth";
  const std::string& qop = fields["qop"];
  if (qop != "auth-conf" && (always_encrypt_ || qop != "auth")) {
    return SaslError("digest response format violation. Mismatched QOP: " + qop);
  }
  if (qop == "auth-conf" && !KnownCipher(fields["cipher"])) {
    return SaslError("digest response format violation. Mismatched cipher.");
  }
  if (password_.empty()) {
    return base::Error{"java.lang.NullPointerException: Password cannot be null if SASL is enabled"};
  }
  const Digest digest{
      fields["username"],   fields["realm"],  LoginText(password_), nonce_, fields["cnonce"], fields["nc"], qop,
      fields["digest-uri"], fields["authzid"]};
  const bool good = digest.user == LoginText(kSaslUser) && digest.realm == kRealm &&
                    EqualInConstantTime(digest.Response("AUTHENTICATE"), fields["response"]);
  if (!good) return SaslError("digest response format violation. Mismatched response.");
  qop_ = qop;
  sealing_ = {fields["cipher"], digest.HashA1()};
  return "rspauth=" + digest.Response("");
}

SaslClient::SaslClient(std::string cnonce, std::string secret, bool encrypt)
    : cnonce_(std::move(cnonce)), secret_(std::move(secret)), encrypt_(encrypt) {}

base::Result<std::string> SaslClient::Respond(std::string_view challenge) {
  auto parsed = ParseDigestFields(challenge);
  if (!parsed.ok()) return parsed.error();
  const Digest digest{LoginText(kSaslUser),
                      std::string(kRealm),
                      LoginText(secret_),
                      (*parsed)["nonce"],
                      cnonce_,
                      "00000001",
                      encrypt_ ? "auth-conf" : "auth",
                      "null/default",
                      {}};
  expected_ = "rspauth=" + digest.Response("");
  sealing_ = {"3des", digest.HashA1()};
  return "charset=utf-8,username=\"" + digest.user + "\",realm=\"" + digest.realm + "\",nonce=\"" + digest.nonce +
         "\",nc=" + digest.nc + ",cnonce=\"" + cnonce_ + "\",digest-uri=\"" + digest.uri +
         "\",maxbuf=65536,response=" + digest.Response("AUTHENTICATE") + ",qop=" + digest.qop +
         (encrypt_ ? ",cipher=\"3des\"" : "");
}

base::Status SaslClient::Finish(std::string_view last) const {
  if (!EqualInConstantTime(last, expected_)) return base::Error{"the server does not know the secret"};
  return {};
}

}  // namespace fairlead::wire::spark_transport

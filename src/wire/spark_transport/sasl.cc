#include "wire/spark_transport/sasl.h"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "wire/digest_md5/digest_md5.h"
#include "wire/digest_md5/sealer.h"

namespace fairlead::wire::spark_transport {
namespace {

using digest_md5::Fields;
using digest_md5::Find;
using digest_md5::Quoted;

constexpr std::string_view kRealm = "default";
constexpr std::string_view kCiphers = "3des,rc4,des,rc4-56,rc4-40";
constexpr size_t kLengthBytes = 8;
constexpr int64_t kSealedBlockMin = kLengthBytes + digest_md5::kMacBytes + digest_md5::kTailBytes;
/// A sealed block that a peer may send; Spark sends 64 KiB of text unless told otherwise.
constexpr int64_t kSealedBlockMax = 16 << 20;

base::Error SaslError(const std::string& what) {
  return {"java.lang.RuntimeException: javax.security.sasl.SaslException: DIGEST-MD5: " + what};
}
base::Error Violation(const std::string& what) { return SaslError("digest response format violation. " + what); }

bool Offers(std::string_view cipher) {
  const std::vector<std::string_view> all = base::Split(kCiphers, ',');
  return std::find(all.begin(), all.end(), cipher) != all.end();
}

digest_md5::Login LoginOf(const Fields& said, const std::string& password) {
  digest_md5::Login login;
  login.username = LoginText(kSaslUser);
  login.realm = kRealm;
  login.password = LoginText(password);
  login.nonce = Find(said, "nonce");
  return login;
}

/// Frames of a length, which counts itself, and what the sealer makes of a block.
class SealingCipher final : public ChannelCipher {
 public:
  SealingCipher(std::unique_ptr<digest_md5::Sealer> sealer, size_t outbound_block_max)
      : sealer_(std::move(sealer)), outbound_block_max_(std::max<size_t>(outbound_block_max, 1)) {}

  base::Status Decrypt(std::string_view bytes, std::string& plain) override {
    pending_.append(bytes);
    size_t used = 0;
    while (pending_.size() - used >= kLengthBytes) {
      const std::string_view rest = std::string_view(pending_).substr(used);
      const auto length = base::BigEndian<int64_t>(rest);
      if (length < kSealedBlockMin || length > kSealedBlockMax) {
        return base::Error{"a sealed block of an impossible length"};
      }
      if (rest.size() < static_cast<size_t>(length)) break;
      const auto text = sealer_->Open(rest.substr(kLengthBytes, static_cast<size_t>(length) - kLengthBytes));
      if (!text) return text.error();
      plain += *text;
      used += static_cast<size_t>(length);
    }
    pending_.erase(0, used);
    return {};
  }

  void Encrypt(std::string_view plain, std::string& out) override {
    for (; !plain.empty(); plain.remove_prefix(std::min(outbound_block_max_, plain.size()))) {
      const std::string sealed = sealer_->Seal(plain.substr(0, outbound_block_max_));
      base::ByteWriter writer(out);
      writer.I64(static_cast<int64_t>(kLengthBytes + sealed.size()));
      writer.Bytes(sealed);
    }
  }

 private:
  const std::unique_ptr<digest_md5::Sealer> sealer_;
  const size_t outbound_block_max_;
  std::string pending_;
};

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
  EVP_EncodeBlock(reinterpret_cast<uint8_t*>(out.data()), reinterpret_cast<const uint8_t*>(bytes.data()),
                  static_cast<int>(bytes.size()));
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
  if (keys.cipher.empty()) return nullptr;
  auto sealer = digest_md5::Sealer::Make(keys.session_key, keys.cipher, !server);
  return sealer ? std::make_unique<SealingCipher>(std::move(sealer), outbound_block_max) : nullptr;
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
  const std::optional<Fields> said = digest_md5::ParseFields(token);
  if (!said) return Violation("Malformed directives.");
  if (Find(*said, "nonce") != nonce_) return Violation("Nonexistent or mismatched nonce.");
  if (Find(*said, "nc") != "00000001") return Violation("Nonce count does not match.");
  const std::string qop(said->contains("qop") ? Find(*said, "qop") : "auth");
  if (qop != "auth-conf" && (always_encrypt_ || qop != "auth")) return Violation("Mismatched QOP: " + qop);
  const std::string cipher(Find(*said, "cipher"));
  if (qop == "auth-conf" && !Offers(cipher)) return Violation("Mismatched cipher.");
  if (password_.empty()) {
    return base::Error{"java.lang.NullPointerException: Password cannot be null if SASL is enabled"};
  }
  digest_md5::Login login = LoginOf(*said, password_);
  login.cnonce = Find(*said, "cnonce");
  login.digest_uri = Find(*said, "digest-uri");
  login.qop = qop;
  login.authzid = Find(*said, "authzid");
  const bool good = Find(*said, "username") == login.username && Find(*said, "realm") == kRealm &&
                    digest_md5::Same(digest_md5::Response(login, true), Find(*said, "response"));
  if (!good) return Violation("Mismatched response.");
  qop_ = qop;
  sealing_ = {cipher, digest_md5::SessionKey(login)};
  return "rspauth=" + digest_md5::Response(login, false);
}

SaslClient::SaslClient(std::string cnonce, std::string secret, bool encrypt)
    : cnonce_(std::move(cnonce)), secret_(std::move(secret)), encrypt_(encrypt) {}

base::Result<std::string> SaslClient::Respond(std::string_view challenge) {
  const std::optional<Fields> said = digest_md5::ParseFields(challenge);
  if (!said) return base::Error{"a challenge that is none of DIGEST-MD5"};
  digest_md5::Login login = LoginOf(*said, secret_);
  login.cnonce = cnonce_;
  login.digest_uri = "null/default";
  login.qop = encrypt_ ? "auth-conf" : "auth";
  expected_ = "rspauth=" + digest_md5::Response(login, false);
  sealing_ = {"3des", digest_md5::SessionKey(login)};
  return "charset=utf-8,username=" + Quoted(login.username) + ",realm=" + Quoted(login.realm) +
         ",nonce=" + Quoted(login.nonce) + ",nc=" + login.nonce_count + ",cnonce=" + Quoted(cnonce_) +
         ",digest-uri=" + Quoted(login.digest_uri) + ",maxbuf=65536,response=" + digest_md5::Response(login, true) +
         ",qop=" + login.qop + (encrypt_ ? ",cipher=\"3des\"" : "");
}

base::Status SaslClient::Finish(std::string_view last) const {
  if (!digest_md5::Same(last, expected_)) return base::Error{"the server does not know the secret"};
  return {};
}

}  // namespace fairlead::wire::spark_transport

#include "wire/hadoop_rpc/sasl_digest_md5.h"

#include <algorithm>

#include "base/text.h"
#include "wire/digest_md5/sealer.h"

namespace fairlead::wire::hadoop_rpc {
namespace {

using digest_md5::Fields;
using digest_md5::Find;
using digest_md5::Quoted;

constexpr std::string_view kFormat = "DIGEST-MD5: digest response format violation. ";
constexpr std::string_view kCipher = "3des";

/// Whether a list ("auth-int, auth") has the word.
bool Has(std::string_view list, std::string_view word) {
  const std::vector<std::string> options = base::SplitTrimmed(list, ',');
  return std::find(options.begin(), options.end(), word) != options.end();
}

base::Error Refuse(std::string_view what) { return {std::string(what), 0}; }
base::Error Violation(std::string_view what) { return Refuse(std::string(kFormat) + std::string(what)); }

class Md5Layer final : public SaslLayer {
 public:
  explicit Md5Layer(std::unique_ptr<digest_md5::Sealer> sealer) : sealer_(std::move(sealer)) {}
  base::Result<std::string> Wrap(std::string_view message) override { return sealer_->Seal(message); }
  base::Result<std::string> Unwrap(std::string_view wrapped) override { return sealer_->Open(wrapped); }

 private:
  std::unique_ptr<digest_md5::Sealer> sealer_;
};

/// What protects the messages after a login, seen from one side; null for authentication alone.
std::unique_ptr<SaslLayer> LayerOf(const digest_md5::Login& login, Protection chosen, bool of_client) {
  if (chosen == Protection::kAuthentication) return nullptr;
  const std::string_view cipher = chosen == Protection::kPrivacy ? kCipher : "";
  return std::make_unique<Md5Layer>(digest_md5::Sealer::Make(digest_md5::SessionKey(login), cipher, of_client));
}

/// The directives that offer protections.
std::string Offer(const Protections& offered) {
  std::string names;
  for (const Protection one : offered) names += (names.empty() ? "" : ",") + std::string(QopName(one));
  const bool privacy = std::find(offered.begin(), offered.end(), Protection::kPrivacy) != offered.end();
  return "qop=" + Quoted(names) + ",charset=utf-8" + (privacy ? ",cipher=" + Quoted(kCipher) : "");
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

std::string DigestMd5Server::Challenge() const {
  return "realm=" + Quoted(kDigestRealm) + ",nonce=" + Quoted(nonce_) + "," + Offer(offered_) + ",algorithm=md5-sess";
}

base::Result<std::string> DigestMd5Server::Verify(std::string_view response, const PasswordOf& password_of) {
  const std::optional<Fields> said = digest_md5::ParseFields(response);
  if (!said) return Violation("Malformed directives.");
  digest_md5::Login login;
  login.username = Find(*said, "username");
  login.realm = Find(*said, "realm");
  login.nonce = Find(*said, "nonce");
  login.cnonce = Find(*said, "cnonce");
  login.digest_uri = Find(*said, "digest-uri");
  login.nonce_count = Find(*said, "nc");
  if (said->contains("qop")) login.qop = Find(*said, "qop");
  if (login.username.empty()) return Violation("Missing username.");
  if (login.nonce != nonce_) return Violation("Mismatched nonce.");
  if (login.cnonce.empty()) return Violation("Missing cnonce.");
  if (login.nonce_count != "00000001") return Violation("Mismatched nonce count.");
  const auto chosen =
      std::find_if(offered_.begin(), offered_.end(), [&](Protection offered) { return QopName(offered) == login.qop; });
  if (chosen == offered_.end()) {
    return Refuse("DIGEST-MD5: quality of protection " + login.qop.substr(0, 20) + " is not offered.");
  }
  const std::string_view cipher = Find(*said, "cipher");
  if (*chosen == Protection::kPrivacy && cipher != kCipher) {
    return Refuse("DIGEST-MD5: cipher " + std::string(cipher.substr(0, 20)) + " is not offered.");
  }
  if (login.realm != kDigestRealm) return Violation("Nonexistent realm: " + login.realm.substr(0, 100));
  if (login.digest_uri != kDigestUri) {
    return Violation("Mismatched URI: " + login.digest_uri.substr(0, 100) + "; expecting: " + std::string(kDigestUri));
  }
  base::Result<std::string> password = password_of(login.username);
  if (!password) return password.error();
  login.password = *password;
  if (!digest_md5::Same(Find(*said, "response"), digest_md5::Response(login, true))) {
    return Violation("Mismatched response.");
  }
  layer_ = LayerOf(login, *chosen, false);
  return "rspauth=" + digest_md5::Response(login, false);
}

DigestMd5Client::DigestMd5Client(std::string username, std::string password, std::string cnonce, Protections wanted)
    : wanted_(std::move(wanted)) {
  login_.username = std::move(username);
  login_.password = std::move(password);
  login_.cnonce = std::move(cnonce);
}

base::Result<std::string> DigestMd5Client::Respond(std::string_view challenge) {
  const std::optional<Fields> said = digest_md5::ParseFields(challenge);
  if (!said || Find(*said, "nonce").empty()) return Refuse("DIGEST-MD5: malformed challenge");
  if (Find(*said, "algorithm") != "md5-sess") return Refuse("DIGEST-MD5: the server's algorithm is not md5-sess");
  login_.realm = Find(*said, "realm");
  login_.nonce = Find(*said, "nonce");
  login_.digest_uri = kDigestUri;
  const std::string_view qop = Find(*said, "qop");
  const auto chosen = std::find_if(wanted_.begin(), wanted_.end(), [&](Protection wanted) {
    return Has(qop.empty() ? "auth" : qop, QopName(wanted)) &&
           (wanted != Protection::kPrivacy || Has(Find(*said, "cipher"), kCipher));
  });
  if (chosen == wanted_.end()) {
    return Refuse("DIGEST-MD5: No common protection layer between client and server (the server offers " +
                  std::string(qop.substr(0, 100)) + "; hadoop.rpc.protection has to name one that both have)");
  }
  chosen_ = *chosen;
  login_.qop = QopName(chosen_);
  return "charset=utf-8,username=" + Quoted(login_.username) + ",realm=" + Quoted(login_.realm) +
         ",nonce=" + Quoted(login_.nonce) + ",nc=" + login_.nonce_count + ",cnonce=" + Quoted(login_.cnonce) +
         ",digest-uri=" + Quoted(login_.digest_uri) + ",maxbuf=65536,response=" + digest_md5::Response(login_, true) +
         ",qop=" + login_.qop + (chosen_ == Protection::kPrivacy ? ",cipher=" + Quoted(kCipher) : "");
}

base::Status DigestMd5Client::CheckRspauth(std::string_view token) const {
  const std::optional<Fields> said = digest_md5::ParseFields(token);
  if (said && digest_md5::Same(Find(*said, "rspauth"), digest_md5::Response(login_, false))) return {};
  return base::Error{"DIGEST-MD5: the server could not prove that it knows the token"};
}

std::unique_ptr<SaslLayer> DigestMd5Client::MakeLayer() const { return LayerOf(login_, chosen_, true); }

}  // namespace fairlead::wire::hadoop_rpc

#include "shell/kerberos/kerberos.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "config/auth_to_local.h"
#include "env_kerberos/mit_gss.h"

namespace fairlead::shell {

using config::AuthToLocal;
using config::HadoopConf;
using wire::hadoop_rpc::Protection;
using wire::hadoop_rpc::Protections;

namespace {

constexpr char kAuthentication[] = "hadoop.security.authentication";
constexpr char kProtection[] = "hadoop.rpc.protection";
constexpr char kRules[] = "hadoop.security.auth_to_local";
constexpr char kWebType[] = "hadoop.http.authentication.type";
constexpr char kWebPrincipal[] = "hadoop.http.authentication.kerberos.principal";
constexpr char kWebKeytab[] = "hadoop.http.authentication.kerberos.keytab";
constexpr char kWebSecret[] = "hadoop.http.authentication.signature.secret.file";
constexpr char kMechanism[] = "hadoop.security.auth_to_local.mechanism";

AuthToLocal::Mechanism MechanismOf(const DaemonIdentity& identity) {
  return identity.mit ? AuthToLocal::Mechanism::kMit : AuthToLocal::Mechanism::kHadoop;
}

/// Of the daemons that take each other's cookies; as the file has it, with its line end (FileSignerSecretProvider).
std::string ReadSecret(const HadoopConf& conf, std::vector<std::string>& warnings) {
  if (!conf.IsSet(kWebSecret)) return "";
  const std::string path = conf.String(kWebSecret);
  constexpr size_t kMost = 64 << 10;
  std::ifstream file(path, std::ios::binary);
  std::string secret(kMost, '\0');
  file.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  secret.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (secret.empty()) {
    conf.Refuse(kWebSecret, path +
                                " cannot be read, or is empty; write a file of random bytes that the daemons alone can "
                                "read, or drop the key: each daemon then makes a secret of its own");
    return "";
  }
  std::error_code error;
  const auto mode = std::filesystem::status(path, error).permissions();
  if ((mode & std::filesystem::perms::others_read) != std::filesystem::perms::none) {
    warnings.push_back(std::string(kWebSecret) + ": everybody on this machine can read " + path +
                       ", and whoever does is anybody on the pages; chmod 0400");
  }
  return secret;
}

}  // namespace

bool IsKerberos(const HadoopConf& conf) {
  const std::string value = conf.String(kAuthentication, "simple");
  const std::string method = base::Lowered(value);  // SecurityUtil.getAuthenticationMethod minds no case
  if (method == "kerberos") return true;
  if (method != "simple" && !method.empty()) {
    conf.Refuse(kAuthentication, value + " is not supported; write simple or kerberos");
  }
  return false;
}

Protections ReadProtections(const HadoopConf& conf) {
  Protections out;
  if (conf.IsSet(kProtection)) {
    for (const std::string& written : conf.List(kProtection)) {
      const std::string name = base::Lowered(written);  // SaslPropertiesResolver minds no case
      if (name == "authentication") {
        out.push_back(Protection::kAuthentication);
      } else if (name == "integrity") {
        out.push_back(Protection::kIntegrity);
      } else if (name == "privacy") {
        out.push_back(Protection::kPrivacy);
      } else {
        conf.Refuse(kProtection, written + " is not known; write authentication, integrity or privacy");
      }
    }
  }
  if (out.empty()) out.push_back(Protection::kAuthentication);
  return out;
}

DaemonIdentity ReadDaemonIdentity(const HadoopConf& conf, const std::string& prefix, const std::string& host) {
  DaemonIdentity out;
  out.host = host;
  out.principal = conf.String(prefix + ".principal", "");
  out.keytab = conf.String(prefix + ".keytab", "");
  if (out.principal.find('@') == std::string::npos || out.principal.find('/') == std::string::npos) {
    conf.Refuse(prefix + ".principal",
                "with Kerberos a daemon has a principal of three parts; write SERVICE/_HOST@REALM");
  }
  if (out.keytab.empty()) {
    conf.Refuse(prefix + ".keytab",
                "Running in secure mode, but config doesn't have a keytab; write the path of a "
                "file that has the keys of " +
                    prefix + ".principal");
  }
  out.rules = conf.IsSet(kRules) ? conf.String(kRules) : "";
  const std::string mechanism = base::Lowered(conf.String(kMechanism, "hadoop"));
  out.mit = mechanism == "mit";
  if (!out.mit && mechanism != "hadoop") conf.Refuse(kMechanism, mechanism + " is not known; write hadoop or mit");
  const auto rules = AuthToLocal::Parse(out.rules, MechanismOf(out), "");
  if (!rules.ok()) conf.Refuse(kRules, rules.error().message);
  return out;
}

std::string PrincipalAt(const std::string& principal, const std::string& host) {
  return env_kerberos::WithHost(principal, host);
}

base::Result<DaemonLogin> LogIn(env::Loop& loop, const DaemonIdentity& identity) {
  DaemonLogin out;
  out.principal = env_kerberos::WithHost(identity.principal, identity.host);
  base::Result<std::string> realm = env_kerberos::DefaultRealm();
  if (!realm.ok()) return base::Error{"Kerberos: " + realm.error().message + "; see to /etc/krb5.conf"};
  base::Result<std::unique_ptr<env::Gss>> gss = env_kerberos::MakeGss(loop, {out.principal, identity.keytab});
  if (!gss.ok()) {
    return base::Error{gss.error().message + "; 'klist -k " + identity.keytab + "' shows what it holds"};
  }
  out.gss = std::move(*gss);
  const base::Result<AuthToLocal> rules = AuthToLocal::Parse(identity.rules, MechanismOf(identity), *realm);
  if (!rules.ok()) return base::Error{std::string(kRules) + ": " + rules.error().message};
  out.login.short_name = [rules = *rules](const std::string& principal) { return rules.ShortName(principal); };
  const size_t slash = out.principal.find('/');
  const size_t at = out.principal.rfind('@');
  out.login.protocol = out.principal.substr(0, slash);
  out.login.server_id = out.principal.substr(slash + 1, at - slash - 1);
  return out;
}

WebIdentity ReadWebIdentity(const HadoopConf& conf, const std::string& prefix, const std::string& host,
                            process::login::WebSecurity& out, std::vector<std::string>& warnings) {
  using process::login::WebMode;
  const bool kerberos = IsKerberos(conf);
  const std::string type = conf.IsSet(kWebType) ? conf.String(kWebType) : kerberos ? "kerberos" : "simple";
  if (type != "simple" && type != "kerberos")
    conf.Refuse(kWebType, type + " is not supported; write simple or kerberos");
  if (type == "kerberos" && !kerberos) {
    conf.Refuse(kWebType,
                std::string("tickets are taken where ") + kAuthentication + " is kerberos; write simple here");
  }
  if (const std::string nobody = conf.String("hadoop.http.staticuser.user"); !nobody.empty()) out.nobody = nobody;
  out.mode = !kerberos ? WebMode::kNames : type == "simple" ? WebMode::kReadOnly : WebMode::kTickets;
  if (out.mode != WebMode::kTickets) return {};
  WebIdentity identity;
  identity.host = host;
  const bool own = !conf.IsSet(kWebKeytab);
  const std::string principal_key = own ? prefix + ".spnego-principal" : kWebPrincipal;
  identity.keytab = conf.String(own ? prefix + ".spnego-keytab-file" : kWebKeytab, "");
  if (conf.IsSet(principal_key)) identity.principal = conf.String(principal_key);
  out.cookie_life = conf.Time("hadoop.http.authentication.token.validity", out.cookie_life, base::Duration::Seconds(1));
  out.cookie_domain = conf.String("hadoop.http.authentication.cookie.domain", "");
  out.cookie_stays = conf.Bool("hadoop.http.authentication.cookie.persistent", false);
  if (identity.keytab.empty()) {
    warnings.push_back(
        std::string("pages and REST let nobody in: with Kerberos they take tickets for HTTP/HOST, and ") + kWebKeytab +
        " (or " + prefix + ".spnego-keytab-file) names no file with its key; " + kWebType +
        "=simple lets everybody read, and nobody change anything");
    return identity;
  }
  out.secret = ReadSecret(conf, warnings);
  if (identity.principal != "*" &&
      (!identity.principal.starts_with("HTTP/") || identity.principal.find('@') == std::string::npos)) {
    conf.Refuse(principal_key,
                "browsers ask for a ticket for HTTP/HOST; write HTTP/_HOST@REALM, or * for all of the "
                "keytab");
  }
  return identity;
}

std::string WebPrincipal(const HadoopConf& conf, const std::string& daemon) {
  if (conf.IsSet(kWebType) && conf.String(kWebType) == "simple") return "";
  const std::string written = conf.IsSet(kWebPrincipal) ? conf.String(kWebPrincipal) : "";
  if (!written.empty() && written != "*") return written;
  const size_t at = daemon.rfind('@');
  return at == std::string::npos ? "" : "HTTP/_HOST" + daemon.substr(at);
}

base::Result<std::unique_ptr<env::Gss>> OpenWeb(env::Loop& loop, const WebIdentity& identity) {
  if (identity.keytab.empty()) return std::unique_ptr<env::Gss>();
  env_kerberos::GssIdentity of;
  of.principal = env_kerberos::WithHost(identity.principal, identity.host);
  of.keytab = identity.keytab;
  of.negotiates = true;
  base::Result<std::unique_ptr<env::Gss>> gss = env_kerberos::MakeGss(loop, of);
  if (!gss.ok()) return base::Error{gss.error().message + "; 'klist -k " + identity.keytab + "' shows what it holds"};
  return gss;
}

}  // namespace fairlead::shell

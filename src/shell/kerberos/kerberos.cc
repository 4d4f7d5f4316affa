#include "shell/kerberos/kerberos.h"

#include <utility>

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
constexpr char kMechanism[] = "hadoop.security.auth_to_local.mechanism";

AuthToLocal::Mechanism MechanismOf(const DaemonIdentity& identity) {
  return identity.mit ? AuthToLocal::Mechanism::kMit : AuthToLocal::Mechanism::kHadoop;
}

}  // namespace

bool IsKerberos(const HadoopConf& conf) {
  const std::string value = conf.String(kAuthentication, "simple");
  if (value == "kerberos") return true;
  if (value != "simple" && !value.empty()) {
    conf.Refuse(kAuthentication, value + " is not supported; write simple or kerberos");
  }
  return false;
}

Protections ReadProtections(const HadoopConf& conf) {
  Protections out;
  if (conf.IsSet(kProtection)) {
    for (const std::string& name : conf.List(kProtection)) {
      if (name == "authentication") {
        out.push_back(Protection::kAuthentication);
      } else if (name == "integrity") {
        out.push_back(Protection::kIntegrity);
      } else if (name == "privacy") {
        out.push_back(Protection::kPrivacy);
      } else {
        conf.Refuse(kProtection, name + " is not known; write authentication, integrity or privacy");
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
  const std::string mechanism = conf.String(kMechanism, "hadoop");
  out.mit = mechanism == "mit" || mechanism == "MIT";
  if (!out.mit && mechanism != "hadoop") conf.Refuse(kMechanism, mechanism + " is not known; write hadoop or mit");
  const auto rules = AuthToLocal::Parse(out.rules, MechanismOf(out), "");
  if (!rules.ok()) conf.Refuse(kRules, rules.error().message);
  return out;
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

}  // namespace fairlead::shell

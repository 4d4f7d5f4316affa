#include "shell/client/client_login.h"

#include <cstdlib>
#include <utility>

#include "env_kerberos/mit_gss.h"
#include "env_posix/posix_loop.h"
#include "shell/callers/credential.h"
#include "shell/client/token_file.h"
#include "shell/kerberos/kerberos.h"
#include "shell/kerberos/server_principal.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

env::Endpoint Connectable(env::Endpoint endpoint) {
  if (endpoint.host == "0.0.0.0" || endpoint.host == "::") endpoint.host = "127.0.0.1";
  return endpoint;
}

base::Result<ClientLogin> ReadLogin(env::Loop& loop, const config::HadoopConf& conf) {
  ClientLogin out;
  out.protections = ReadProtections(conf);
  out.scheme = WebScheme(conf);
  out.credential = conf.String(kCredential);
  if (!out.credential.empty() && !CredentialToken(out.credential)) {
    conf.Refuse(kCredential, "this is no credential; 'fairlead credentials make' makes a file with one");
  }
  if (TrustsByFile(conf)) {
    const auto disk = env_posix::MakePosixDisk();
    auto tls = OpenClientTls(conf, *disk);
    if (!tls.ok()) return tls.error();
    out.tls = std::move(*tls);
  }
  if (IsKerberos(conf)) {
    out.manager_principal = conf.String(kManagerPrincipal, "");
    if (out.manager_principal.empty()) {
      conf.Refuse(kManagerPrincipal,
                  "with Kerberos the resource manager shows by it who it is; write "
                  "SERVICE/_HOST@REALM as the resource manager has it");
    }
    out.manager_server = ServerPrincipal(conf, kManagerPrincipal);
    base::Result<std::unique_ptr<env::Gss>> gss = env_kerberos::MakeGss(loop, {});
    if (!gss.ok()) return gss.error();
    out.gss = std::move(*gss);
    out.web_principal = WebPrincipal(conf, out.manager_principal);
  }
  if (!conf.errors().empty()) return base::Error{conf.ErrorText()};
  return out;
}

base::Status TakeTokenFile(const std::vector<env::Endpoint>& managers, ClientLogin& login) {
  if (!login.credential.empty() || !ProxyUser().empty()) return {};
  const base::Result<endpoints::yarn::Credentials> tokens = ReadTokenFile();
  if (!tokens.ok()) return tokens.error();
  login.manager_token = ManagerTokenOf(*tokens, managers);
  return {};
}

std::string ProxyUser() {
  const char* name = std::getenv("HADOOP_PROXY_USER");
  return name != nullptr ? name : "";
}

endpoints::yarn::RpcUser UserOf(const std::string& user, std::string principal, const std::string& credential) {
  if (!credential.empty()) return {user, "", CredentialToken(credential)};
  const std::string proxy = ProxyUser();
  if (proxy.empty()) return {user, "", std::nullopt, std::move(principal)};
  return {proxy, user, std::nullopt, std::move(principal)};
}

endpoints::yarn::RpcUser UserAt(const ClientLogin& login, const std::string& user) {
  if (login.manager_token) return {user, "", login.manager_token};
  return UserOf(user, login.manager_server, login.credential);
}

}  // namespace fairlead::shell

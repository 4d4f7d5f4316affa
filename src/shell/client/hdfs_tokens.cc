#include "shell/client/hdfs_tokens.h"

#include <memory>
#include <optional>
#include <utility>

#include "config/rm_members.h"
#include "endpoints/yarn/hdfs_token.h"
#include "endpoints/yarn/tokens.h"
#include "env_posix/host_names.h"
#include "env_posix/posix_loop.h"
#include "process/rpc/rpc_client.h"
#include "shell/base/hdfs_services.h"
#include "shell/client/client_login.h"
#include "shell/client/token_file.h"
#include "shell/client/yarn_client.h"
#include "shell/kerberos/kerberos.h"
#include "shell/kerberos/server_principal.h"
#include "wire/hadoop_rpc/security.h"

namespace fairlead::shell {

namespace {

namespace h = wire::hadoop_rpc;
using endpoints::yarn::RpcToken;
using process::rpc::RpcError;

/// The resource manager's principal, without _HOST.
std::string Renewer(const config::HadoopConf& conf, const std::string& manager_principal) {
  const auto addresses = config::OfEveryMember(conf, "yarn.resourcemanager.address");
  const auto first = env::ParseEndpoint(addresses.ok() && !addresses->empty() ? addresses->front() : "", 8032);
  return PrincipalAt(manager_principal, first.ok() ? Connectable(*first).host : "localhost");
}

/// Name nodes' clients.
class NameNodes {
 public:
  NameNodes(const config::HadoopConf& conf, std::string user, env_posix::PosixLoop& loop, ClientLogin login,
            const endpoints::yarn::Credentials& given)
      : services_(conf),
        user_(std::move(user)),
        loop_(loop),
        principal_(ServerPrincipal(conf, kNameNodePrincipal)),
        given_(given),
        renewer_(Renewer(conf, login.manager_principal)),
        gss_(std::move(login.gss)),
        rpc_(loop, loop, {}, {gss_.get(), std::move(login.protections)}) {}

  base::Result<RpcToken> TokenOf(const std::string& uri) {
    const std::string service = services_.ServiceOf(uri, env_posix::Ipv4Of);
    if (service.empty()) return base::Error{uri + " is no HDFS whose address is known; write hdfs://HOST:PORT"};
    for (const auto& [alias, token] : given_.tokens) {
      if (token.kind == endpoints::yarn::kHdfsTokenKind && token.service == service) return token;
    }
    if (principal_.empty()) return base::Error{std::string(kNameNodePrincipal) + " is not set"};
    base::Error last{"no name node of " + uri + " is configured", kRmUnreachable};
    for (const env::Endpoint& address : services_.AddressesOf(service)) {
      const auto answer = Ask(address);
      if (!answer.ok()) {
        last = {"the name node at " + address.ToString() + " gives no token: " + answer.error().message, kRmRefused};
        if (process::rpc::IsRefusal(answer.error())) break;
        continue;
      }
      h::GetDelegationTokenResponseProto response;
      if (!response.ParseFrom(*answer, h::kAnswer).ok() || !response.token) {
        return base::Error{"the name node at " + address.ToString() + " gives no token; is Kerberos on there?",
                           kRmRefused};
      }
      RpcToken token = endpoints::yarn::FromWire(*response.token);
      token.service = service;  // which the name node leaves to its clients
      return token;
    }
    return last;
  }

 private:
  base::Result<std::string, RpcError> Ask(const env::Endpoint& address) {
    h::GetDelegationTokenRequestProto request;
    request.renewer = renewer_;
    base::Result<std::string, RpcError> result = RpcError{};
    rpc_.Call({address, kHdfsProtocol, UserOf(user_, principal_, "")}, "getDelegationToken", request.Encode(),
              kCallTimeout, [&](base::Result<std::string, RpcError> answer) {
                result = std::move(answer);
                loop_.Stop();
              });
    loop_.Run();
    return result;
  }

  const HdfsServices services_;
  const std::string user_;
  env_posix::PosixLoop& loop_;
  const std::string principal_;
  const endpoints::yarn::Credentials& given_;  // by the file of HADOOP_TOKEN_FILE_LOCATION
  const std::string renewer_;
  const std::unique_ptr<env::Gss> gss_;
  process::rpc::RpcClient rpc_;
};

}  // namespace

base::Result<HdfsTokens> FetchHdfsTokens(const config::HadoopConf& conf, const std::string& user,
                                         const std::vector<std::string>& file_systems) {
  HdfsTokens out;
  const std::string standard = conf.IsSet("fs.defaultFS") ? conf.String("fs.defaultFS") : "";
  const bool has_standard = standard.starts_with("hdfs://");
  if (!IsKerberos(conf)) return out;
  const base::Result<endpoints::yarn::Credentials> given = ReadTokenFile();
  if (!given.ok()) return given.error();
  for (const auto& [alias, token] : given->tokens) {
    if (endpoints::yarn::IsHdfsToken(token)) out.credentials.tokens[alias] = token;
  }
  if (!has_standard && file_systems.empty()) return out;
  const auto loop = env_posix::MakePosixLoop();
  base::Result<ClientLogin> login = ReadLogin(*loop, conf);
  if (!login.ok()) return login.error();
  NameNodes name_nodes(conf, user, *loop, std::move(*login), *given);
  const auto add = [&](RpcToken token) {
    for (const auto& [alias, one] : out.credentials.tokens) {
      if (one == token) return;
    }
    std::string alias = token.service;
    out.credentials.tokens[std::move(alias)] = std::move(token);
  };
  if (has_standard) {
    base::Result<RpcToken> token = name_nodes.TokenOf(standard);
    token.ok() ? add(*std::move(token)) : void(out.no_default = token.error().message);
  }
  for (const std::string& uri : file_systems) {
    base::Result<RpcToken> token = name_nodes.TokenOf(uri);
    if (!token.ok()) return token.error();
    add(*std::move(token));
  }
  return out;
}

}  // namespace fairlead::shell

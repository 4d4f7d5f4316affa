#include "engine/io/hdfs_tokens.h"

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/hdfs_token.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "env/net.h"
#include "env_posix/host_names.h"

namespace fairlead::engine {

namespace {

using endpoints::yarn::RpcToken;
using Tokens = std::map<std::string, RpcToken>;

Tokens ReadTokens() {
  Tokens out;
  if (Environment("HADOOP_TOKEN_FILE_LOCATION").empty()) return out;
  const auto credentials = endpoints::yarn::ParseCredentials(ReadTokenFile());
  if (!credentials) throw JobError("HADOOP_TOKEN_FILE_LOCATION: " + credentials.error().message);
  for (const auto& [alias, token] : credentials->tokens) {
    if (endpoints::yarn::IsHdfsToken(token)) out[alias] = token;
  }
  return out;
}

}  // namespace

const Tokens& HdfsTokens() {
  static const Tokens tokens = ReadTokens();
  return tokens;
}

std::string DelegationFor(const std::string& logical, const std::string& host) {
  const auto find = [](const std::string& at) -> std::string {
    for (const auto& [alias, token] : HdfsTokens()) {
      const auto service = env::ParseEndpoint(token.service);
      if (service.ok() && service->host == at) return endpoints::yarn::EncodeHdfsUrlToken(token);
    }
    return "";
  };
  if (HdfsTokens().empty()) return "";
  for (const auto& [alias, token] : HdfsTokens()) {
    const bool is_of_it = token.service == "ha-hdfs:" + logical || token.service == "ha-webhdfs:" + logical;
    if (is_of_it && !logical.empty()) return endpoints::yarn::EncodeHdfsUrlToken(token);
  }
  std::string named = find(host);
  return named.empty() ? find(env_posix::Ipv4Of(host)) : named;
}

}  // namespace fairlead::engine

#include "engine/io/hdfs_tokens.h"

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/url_token.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "env/net.h"
#include "env_posix/host_names.h"

namespace fairlead::engine {

namespace {

using endpoints::yarn::RpcToken;
using Tokens = std::map<std::string, RpcToken>;

constexpr std::string_view kKind = "HDFS_DELEGATION_TOKEN";

Tokens ReadTokens() {
  Tokens out;
  if (Environment("HADOOP_TOKEN_FILE_LOCATION").empty()) return out;
  const auto credentials = endpoints::yarn::ParseCredentials(ReadTokenFile());
  if (!credentials) throw JobError("HADOOP_TOKEN_FILE_LOCATION: " + credentials.error().message);
  for (const auto& [alias, token] : credentials->tokens) {
    if (token.kind == kKind || token.kind == "WEBHDFS delegation") out[alias] = token;
  }
  return out;
}

}  // namespace

const Tokens& HdfsTokens() {
  static const Tokens tokens = ReadTokens();
  return tokens;
}

std::string DelegationFor(const std::string& host) {
  const auto find = [](const std::string& at) -> std::string {
    for (const auto& [alias, token] : HdfsTokens()) {
      const auto service = env::ParseEndpoint(token.service);
      if (!service.ok() || service->host != at) continue;
      RpcToken shown = token;
      shown.kind = kKind;  // as a NameNode knows it, whichever of the two it is
      return endpoints::yarn::EncodeUrlToken(shown);
    }
    return "";
  };
  if (HdfsTokens().empty()) return "";
  std::string named = find(host);
  return named.empty() ? find(env_posix::Ipv4Of(host)) : named;
}

}  // namespace fairlead::engine

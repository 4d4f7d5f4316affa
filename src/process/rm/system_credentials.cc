#include "process/rm/system_credentials.h"

#include <utility>

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/rm_convert.h"

namespace fairlead::process::rm {

void SystemCredentials::Set(const model::ApplicationId& app, Tokens tokens) {
  if (tokens.empty()) {
    apps_.erase(app);
    return;
  }
  ++sequence_;
  apps_[app] = std::move(tokens);
}

const SystemCredentials::Tokens& SystemCredentials::Of(const model::ApplicationId& app) const {
  static const Tokens none;
  const auto at = apps_.find(app);
  return at == apps_.end() ? none : at->second;
}

void SystemCredentials::Tell(int64_t known, wire::yarn::NodeHeartbeatResponseProto& response) const {
  if (known == sequence_ || apps_.empty()) return;
  response.token_sequence_no = sequence_;
  for (const auto& [app, tokens] : apps_) {
    endpoints::yarn::Credentials credentials;
    for (const endpoints::yarn::RpcToken& token : tokens) credentials.tokens[token.service] = token;
    wire::yarn::SystemCredentialsForAppsProto& one = response.system_credentials_for_apps.emplace_back();
    one.app_id = endpoints::yarn::ToWire(app);
    one.credentials_for_app = EncodeCredentials(credentials);
  }
}

}  // namespace fairlead::process::rm

#include "process/nm/app_tokens.h"

#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/hdfs_token.h"
#include "endpoints/yarn/rm_convert.h"

namespace fairlead::process::nm {

namespace {

constexpr char kTable[] = "nm_app_tokens";
constexpr size_t kTokensMost = 100;  // of an application

std::vector<FileSystemToken> OfFileSystems(const endpoints::yarn::Credentials& credentials) {
  std::vector<FileSystemToken> out;
  for (const auto& [alias, token] : credentials.tokens) {
    if (!endpoints::yarn::IsHdfsToken(token)) continue;
    if (out.size() == kTokensMost) break;
    out.push_back({token.kind, token.service, endpoints::yarn::EncodeHdfsUrlToken(token)});
  }
  return out;
}

}  // namespace

base::Status AppTokens::Load(env::Store& store, std::vector<env::UnreadRow>& unread) {
  auto rows = env::LoadRecords<Stored>(store, kTable, &unread);
  if (!rows) return rows.error();
  for (auto& [name, row] : *rows) {
    const base::Result<model::ApplicationId> app = model::ParseApplicationId(name);
    if (app) came_[*app] = std::move(row.tokens);
  }
  return {};
}

void AppTokens::Came(const model::ApplicationId& app, const endpoints::yarn::Credentials& credentials) {
  Tokens tokens = OfFileSystems(credentials);
  if (tokens.empty() || tokens == came_[app]) return;
  state_.Keep({{kTable, ToString(app), base::EncodeStored(Stored{tokens})}});
  came_[app] = std::move(tokens);
}

void AppTokens::Told(const wire::yarn::NodeHeartbeatResponseProto& answer) {
  if (answer.system_credentials_for_apps.empty()) return;
  told_.clear();
  sequence_ = answer.TokenSequenceNo();
  for (const wire::yarn::SystemCredentialsForAppsProto& one : answer.system_credentials_for_apps) {
    const model::ApplicationId app = endpoints::yarn::FromWire(one.AppId());
    const auto credentials = endpoints::yarn::ParseCredentials(one.CredentialsForApp());
    if (credentials.ok()) {
      told_[app] = OfFileSystems(*credentials);
    } else {
      log_.Warn("the resource manager's new tokens of an application cannot be read",
                {{"app", ToString(app)}, {"why", credentials.error().message}});
    }
  }
}

void AppTokens::Forget(const model::ApplicationId& app) {
  told_.erase(app);
  if (came_.erase(app) > 0) state_.Keep({{kTable, ToString(app), std::nullopt}});
}

std::vector<FileSystemToken> AppTokens::Of(const model::ApplicationId& app) const {
  Tokens out;
  for (const auto* from : {&told_, &came_}) {
    const auto at = from->find(app);
    if (at == from->end()) continue;
    for (const FileSystemToken& token : at->second) {
      const auto is_same = [&](const FileSystemToken& other) {
        return other.kind == token.kind && other.service == token.service;
      };
      if (std::none_of(out.begin(), out.end(), is_same)) out.push_back(token);
    }
  }
  return out;
}

}  // namespace fairlead::process::nm

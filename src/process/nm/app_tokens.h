#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/credentials.h"
#include "env/log.h"
#include "env/store.h"
#include "model/ids.h"
#include "process/nm/ports.h"
#include "process/nm/state_writer.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::nm {

/// The tokens by which the node acts for applications in their file systems: those that came with an application's
/// newest container, and before these the ones that the resource manager got since (org.apache.hadoop.yarn.server.
/// nodemanager.Context.getSystemCredentialsForApps). The first kind is in the store, for logs are gathered when no
/// container is left; the manager tells the second kind again.
class AppTokens {
 public:
  AppTokens(StateWriter& state, env::Log& log) : state_(state), log_(log) {}
  base::Status Load(env::Store& store, std::vector<env::UnreadRow>& unread);
  void Came(const model::ApplicationId& app, const endpoints::yarn::Credentials& credentials);
  /// What the manager tells replaces all that it told before; an answer without any changes nothing.
  void Told(const wire::yarn::NodeHeartbeatResponseProto& answer);
  void Forget(const model::ApplicationId& app);

  std::vector<FileSystemToken> Of(const model::ApplicationId& app) const;
  /// As the manager numbers its list; 0: none came.
  int64_t sequence() const { return sequence_; }

 private:
  using Tokens = std::vector<FileSystemToken>;
  struct Stored {
    Tokens tokens;
    FL_FIELDS(tokens)
  };
  StateWriter& state_;
  env::Log& log_;
  std::map<model::ApplicationId, Tokens> came_;
  std::map<model::ApplicationId, Tokens> told_;
  int64_t sequence_ = 0;
};

}  // namespace fairlead::process::nm

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "endpoints/yarn/rpc_identity.h"
#include "model/ids.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

/// Tokens that the manager got for applications, which nodes use in the place of those that came with the submission
/// (RMContext.getSystemCredentialsForApps, YARN-2704). A node says the number of its list, and is told all of them
/// where that is not the newest (YARN-6523).
class SystemCredentials {
 public:
  using Tokens = std::vector<endpoints::yarn::RpcToken>;
  /// `sequence`: other than what another manager, or an earlier run, may have told.
  explicit SystemCredentials(int64_t sequence) : sequence_(sequence) {}
  /// Without tokens the application is forgotten.
  void Set(const model::ApplicationId& app, Tokens tokens);
  /// Empty: it lives on those of its submission.
  const Tokens& Of(const model::ApplicationId& app) const;
  /// O(1) where the node has the newest, else all applications with such tokens.
  void Tell(int64_t known, wire::yarn::NodeHeartbeatResponseProto& response) const;

 private:
  std::map<model::ApplicationId, Tokens> apps_;
  int64_t sequence_;
};

}  // namespace fairlead::process::rm

#pragma once

#include <memory>
#include <set>
#include <vector>

#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "model/rm.h"
#include "process/rm/resource_manager.h"
#include "process/rm/token_issuer.h"
#include "process/rm/token_renewer.h"

namespace fairlead::shell {

/// Keeps the tokens alive that the applications of a manager bring along, those among them that it has found in its
/// store. An application whose token cannot be renewed when it comes is killed with the reason. The manager outlives
/// this.
class ApplicationTokens {
 public:
  ApplicationTokens(env::Loop& loop, env::Net& net, env::Log& log, process::rm::ResourceManager& manager,
                    const std::vector<process::rm::TokenIssuer>& issuers, process::rm::RenewalTimes times);
  /// Of any application, attempt or container.
  void Note(const model::rm::StateChanged& change);

 private:
  void Begin(const fairlead::rm::App& app, process::rm::TokenRenewer::Patience patience);

  env::Log& log_;
  process::rm::ResourceManager& manager_;
  std::set<model::ApplicationId> known_;  // not over
  process::rm::TokenRenewer renewer_;
};

}  // namespace fairlead::shell

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/yarn/exceptions.h"
#include "env/loop.h"
#include "model/rm.h"
#include "process/rm/system_credentials.h"
#include "process/rm/token_renewer.h"
#include "rm/core.h"

namespace fairlead::process::rm {

class Batches;

/// Tells who submitted why it was not taken, or nothing.
using Submitted = std::function<void(const std::optional<endpoints::yarn::RemoteException>& refused)>;

/// Submits an application.
void AskToSubmit(Batches& batches, model::rm::Submit event, Submitted done);

/// Applications on their way in where Kerberos is on (DelegationTokenRenewer.handleAppSubmitEvent): the tokens that one
/// brings are renewed first. Where a renewal is refused the application is taken and fails before it begins, as in
/// Hadoop. Of one that ends or is not taken the tokens are given up.
class Submissions {
 public:
  /// Keeps up the tokens of the manager's applications that have not ended.
  Submissions(env::Loop& loop, const fairlead::rm::Core& core, Batches& batches, TokenRenewer::Services services,
              const RenewalTimes& times, std::function<void(const std::string&)> warn);
  /// Calls `done` once; who submits an application again while its tokens are renewed is told with the first.
  void Take(model::rm::Submission submission, Submitted done);
  /// Of any application, attempt or container.
  void Note(const model::rm::StateChanged& change);
  const TokenRenewer& renewer() const { return *renewer_; }
  /// TokenRenewer::KeepAlive; what waits here stays as it is.
  void KeepTokens(const std::vector<model::ApplicationId>& apps) const { renewer_->KeepAlive(apps); }
  const SystemCredentials& system_credentials() const { return system_credentials_; }

 private:
  void Tell(const model::ApplicationId& app, const std::optional<endpoints::yarn::RemoteException>& refused);

  const fairlead::rm::Core& core_;
  Batches& batches_;
  struct Waiting {
    std::vector<Submitted> told;  // in the end
    size_t bytes = 0;             // of the submission
  };
  std::map<model::ApplicationId, Waiting> waiting_;
  size_t bytes_ = 0;  // of all
  SystemCredentials system_credentials_;
  const std::unique_ptr<TokenRenewer> renewer_;
};

}  // namespace fairlead::process::rm

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/timer.h"
#include "model/ids.h"
#include "process/rm/token_issuer.h"

namespace fairlead::process::rm {

/// Who renews and cancels tokens of one kind, as the renewer that stands in them.
class TokenService {
 public:
  virtual ~TokenService() = default;
  /// False: another cluster's, which is left alone.
  virtual bool Knows(const endpoints::yarn::RpcToken&) const { return true; }
  struct Failure {
    std::string why;
    bool may_pass = false;  // nobody answered: another time may do
  };
  /// Until when it is good, in milliseconds since 1970; never from inside the call.
  using Renewed = std::function<void(base::Result<int64_t, Failure>)>;
  virtual void Renew(const endpoints::yarn::RpcToken& token, Renewed done) = 0;
  virtual void Cancel(const endpoints::yarn::RpcToken& token) = 0;
};

/// Keeps alive the tokens that applications bring along (org.apache.hadoop.yarn.server.resourcemanager.security.
/// DelegationTokenRenewer): each is renewed before its application begins, again at 90 % of its life, once for all
/// applications that share it, and cancelled when the last of them has ended. A token without a renewer is left alone;
/// one of a kind that nobody here renews is, too, and that is said once.
class TokenRenewer {
 public:
  using Services = std::map<std::string, std::unique_ptr<TokenService>, std::less<>>;  // by kind
  TokenRenewer(env::Loop& loop, Services services, RenewalTimes times, std::function<void(const std::string&)> warn);
  ~TokenRenewer();
  TokenRenewer(const TokenRenewer&) = delete;
  TokenRenewer& operator=(const TokenRenewer&) = delete;

  /// `submission`: an encoded ApplicationSubmissionContext. `done` runs once: all tokens are renewed, or why one cannot
  /// be ("Failed to renew token: …"); then nothing of them is kept.
  enum class Patience : uint8_t { kOfASubmission, kOfOneThatRuns };  // where nobody answers
  void Add(const model::ApplicationId& app, const std::string& submission,
           std::function<void(const base::Status&)> done, Patience patience = Patience::kOfASubmission);
  /// The application has ended.
  void Remove(const model::ApplicationId& app);
  /// It was not taken: its tokens are left as they are.
  void Forget(const model::ApplicationId& app) { Drop(app, false); }

  /// Tokens of that application are held.
  bool Has(const model::ApplicationId& app) const { return apps_.contains(app); }
  size_t tokens() const { return tokens_.size(); }
  uint64_t renewed() const { return renewed_; }
  uint64_t failed() const { return failed_; }

 private:
  using Key = std::string;  // kind, service and identifier
  struct Held;
  struct Submission;
  Held& Hold(const endpoints::yarn::RpcToken& token, TokenService& service, bool cancel_at_end);
  void Renew(const Key& key);
  void RunNext();
  void Renewed(const Key& key, const base::Result<int64_t, TokenService::Failure>& until);
  void Schedule(Held& held, int64_t until_ms);
  void Tell(Held& held, const base::Status& status);
  void Finish(const std::shared_ptr<Submission>& waiting);
  void Drop(const model::ApplicationId& app, bool ended);
  void SayOnce(const std::string& kind);

  env::Loop& loop_;
  const Services services_;
  const RenewalTimes times_;
  const std::function<void(const std::string&)> warn_;
  std::map<Key, std::unique_ptr<Held>> tokens_;
  std::map<model::ApplicationId, std::set<Key>> apps_;
  std::deque<Key> queue_;  // renewals for a turn
  size_t running_ = 0;
  std::set<std::string> said_;  // kinds without a renewer
  uint64_t renewed_ = 0;
  uint64_t failed_ = 0;
  env::Alive alive_;
};

/// The renewer that stands in a token's identifier, "" of none (AbstractDelegationTokenIdentifier: Hadoop's Writable
/// form, or the protobuf of the resource manager's own); an error for what is neither.
base::Result<std::string> RenewerOf(const endpoints::yarn::RpcToken& token);

}  // namespace fairlead::process::rm

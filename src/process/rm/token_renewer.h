#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/timer.h"
#include "model/ids.h"
#include "process/rm/token_issuer.h"

namespace fairlead::process::rm {

/// Who renews, cancels and issues tokens of one kind.
class TokenService {
 public:
  using Token = endpoints::yarn::RpcToken;
  virtual ~TokenService() = default;
  /// False: another cluster's, which is left alone.
  virtual bool Knows(const Token&) const { return true; }
  struct Failure {
    std::string why;
    bool may_pass = false;  // nobody answered: another time may do
  };
  /// Until when it is good, in milliseconds since 1970; never from inside the call, as Issued.
  using Renewed = std::function<void(base::Result<int64_t, Failure>)>;
  /// As the renewer that stands in the token.
  virtual void Renew(const Token& token, Renewed done) = 0;
  virtual void Cancel(const Token& token) = 0;

  using Issued = std::function<void(base::Result<Token, Failure>)>;
  /// Whether Issue may be called.
  virtual bool Issues() const { return false; }
  /// A new token of `service` (as a token names it) for `owner`, whose renewer is the manager.
  virtual void Issue(const std::string& /*service*/, const std::string& /*owner*/, Issued /*done*/) {}
  /// IssueRules::default_service.
  virtual std::string DefaultService() const { return {}; }
};

/// Keeps alive the tokens that applications bring along (org.apache.hadoop.yarn.server.resourcemanager.security.
/// DelegationTokenRenewer): each is renewed before its application begins, again at 90 % of its life, once for all
/// applications that share it, and cancelled when the last of them has ended. A token without a renewer is left alone;
/// one of a kind that nobody here renews is, too, and that is said once. With TokenService::Issues one that nears
/// the end of its greatest life gets a successor for each owner of its applications, and an application without a token
/// of such a kind gets its first one (YARN-2704, YARN-11819).
class TokenRenewer {
 public:
  using Token = endpoints::yarn::RpcToken;
  using Services = std::map<std::string, std::unique_ptr<TokenService>, std::less<>>;  // by kind
  struct Told {
    std::function<void(const std::string&)> warn;
    /// An application got a new token: all that it has now of kinds that can be issued; none: it has been let go.
    std::function<void(const model::ApplicationId&, const std::vector<Token>&)> issued = [](const auto&, const auto&) {
    };
  };
  TokenRenewer(env::Loop& loop, Services services, RenewalTimes times, Told told);
  ~TokenRenewer();
  TokenRenewer(const TokenRenewer&) = delete;
  TokenRenewer& operator=(const TokenRenewer&) = delete;

  enum class Patience : uint8_t { kOfASubmission, kOfOneThatRuns };  // where nobody answers
  struct Application {
    model::ApplicationId id;
    std::string owner;
    std::string submission;  // an encoded ApplicationSubmissionContext
  };
  /// `done` runs once: all tokens are renewed, or why one cannot be ("Failed to renew token: …"); then nothing of them
  /// is kept.
  void Add(const Application& app, std::function<void(const base::Status&)> done,
           Patience patience = Patience::kOfASubmission);
  /// The application has ended.
  void Remove(const model::ApplicationId& app);
  /// Logs of these are still on their way, a node says, and need their tokens: of those that have
  /// ended the tokens end later, as long after this as otherwise after the end (updateKeepAliveApplications).
  void KeepAlive(const std::vector<model::ApplicationId>& apps);
  /// It was not taken: its tokens are left as they are.
  void Forget(const model::ApplicationId& app) { Drop(app, false); }

  /// Tokens of that application are held.
  bool Has(const model::ApplicationId& app) const { return apps_.contains(app); }
  size_t tokens() const { return tokens_.size(); }
  uint64_t renewed() const { return renewed_; }
  uint64_t failed() const { return failed_; }
  uint64_t issued() const { return issued_; }
  uint64_t refused() const { return refused_; }

 private:
  using Key = std::string;  // kind, service and identifier
  struct Held;
  struct Submission;
  struct Holder {
    std::string owner;
    std::set<Key> keys;
  };
  /// What waits for its turn: a renewal, or a new token for this owner in the place of that one.
  struct Call {
    Key key;
    std::optional<std::string> owner;
  };
  Held& Hold(const Token& token, TokenService& service, bool cancel_at_end);
  /// Awaits a token's renewal or first issue.
  void Await(Held& held, const Application& app, Patience patience, const std::shared_ptr<Submission>& waiting);
  void AwaitFirst(const Application& app, const std::set<std::string>& kinds, bool cancel_at_end, Patience patience,
                  const std::shared_ptr<Submission>& waiting);
  void Renew(const Key& key);
  void Queue(Call call);
  void RunNext();
  void Run(const Call& call, const Held& held);
  void Renewed(const Key& key, const base::Result<int64_t, TokenService::Failure>& until);
  void Schedule(Held& held, int64_t until_ms);
  void Replace(const Key& key);
  void Issued(const Call& call, TokenService& service, const base::Result<Token, TokenService::Failure>& token);
  void Succeed(Held& old, const std::string& owner, const Token& token);
  void NotIssued(Held& old, const std::string& owner, const TokenService::Failure& failure);
  std::vector<Token> IssuableOf(const Holder& holder) const;
  /// Whoever waits for it; only applications of `owner`, where one is given.
  void Tell(Held& held, const base::Status& status, const std::optional<std::string>& owner = {});
  void Finish(const std::shared_ptr<Submission>& waiting);
  void DropWhenDue(const model::ApplicationId& app, base::Instant due);
  void Drop(const model::ApplicationId& app, bool ended);
  void SayOnce(const std::string& about, const std::string& text);

  env::Loop& loop_;
  const Services services_;
  const RenewalTimes times_;
  const Told told_;
  const base::Instant started_;
  std::map<Key, std::unique_ptr<Held>> tokens_;
  std::map<model::ApplicationId, Holder> apps_;
  std::map<model::ApplicationId, base::Instant> ended_;  // when their tokens end
  std::deque<Call> queue_;
  size_t running_ = 0;
  std::set<std::string> said_;
  uint64_t renewed_ = 0;
  uint64_t failed_ = 0;
  uint64_t issued_ = 0;
  uint64_t refused_ = 0;
  env::Alive alive_;
};

}  // namespace fairlead::process::rm

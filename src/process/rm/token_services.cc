#include "process/rm/token_services.h"

#include <utility>

#include "env/alive.h"
#include "process/rm/token_identifier.h"
#include "wire/hadoop_rpc/security.h"

namespace fairlead::process::rm {

namespace h = wire::hadoop_rpc;
using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcToken;

namespace {

class RpcTokenService final : public TokenService {
 public:
  RpcTokenService(env::Loop& loop, env::Net& net, TokenIssuer issuer, rpc::RpcClientSecurity security, Manager manager)
      : loop_(loop),
        issuer_(std::move(issuer)),
        manager_(std::move(manager)),
        rpc_(loop, net, {}, std::move(security)) {}

  void Renew(const RpcToken& token, Renewed done) override {
    const base::Result<std::vector<env::Endpoint>> addresses = Addresses(token.service);
    if (!addresses.ok()) return loop_.Post(alive_([done, why = addresses.error().message] { done(Failure{why}); }));
    h::RenewDelegationTokenRequestProto request;
    request.token = endpoints::yarn::ToWire(token);
    Ask({"renewDelegationToken", request.Encode(), *addresses},
        [done](const base::Result<std::string, rpc::RpcError>& answer) {
          if (!answer.ok()) return done(Failure{answer.error().message, !rpc::IsRefusal(answer.error())});
          h::RenewDelegationTokenResponseProto response;
          if (!response.ParseFrom(*answer, h::kAnswer).ok()) return done(Failure{"the answer cannot be read"});
          done(static_cast<int64_t>(response.new_expiry_time));
        });
  }

  void Cancel(const RpcToken& token) override {
    std::vector<env::Endpoint> addresses = issuer_.addresses(token.service);
    if (issuer_.principal.empty() || addresses.empty()) return;
    h::CancelDelegationTokenRequestProto request;
    request.token = endpoints::yarn::ToWire(token);
    // One that cannot be cancelled ends by itself.
    Ask({"cancelDelegationToken", request.Encode(), std::move(addresses)}, [](const auto&) {});
  }

  bool Issues() const override { return manager_.issues; }
  std::string DefaultService() const override { return manager_.default_service; }

  void Issue(const std::string& service, const std::string& owner, Issued done) override {
    const base::Result<std::vector<env::Endpoint>> addresses = Addresses(service);
    if (!addresses.ok()) return loop_.Post(alive_([done, why = addresses.error().message] { done(Failure{why}); }));
    h::GetDelegationTokenRequestProto request;
    request.renewer = manager_.principal;
    Ask({"getDelegationToken", request.Encode(), *addresses, owner},
        [kind = issuer_.kind, service, done](const base::Result<std::string, rpc::RpcError>& answer) {
          if (!answer.ok()) return done(Failure{answer.error().message, !rpc::IsRefusal(answer.error())});
          h::GetDelegationTokenResponseProto response;
          const base::Status read = response.ParseFrom(*answer, h::kAnswer);
          if (!read.ok() || !response.token) return done(Failure{"the answer has no token"});
          RpcToken token = endpoints::yarn::FromWire(*response.token);
          if (token.kind != kind) return done(Failure{"the answer has a token of another kind"});
          token.service = service;  // which the name node leaves to its clients
          done(std::move(token));
        });
  }

 private:
  struct Question {
    const char* method;
    std::string request;
    std::vector<env::Endpoint> addresses;
    std::string owner = {};  // in whose name the manager asks; empty: in its own
  };
  using Done = std::function<void(const base::Result<std::string, rpc::RpcError>&)>;

  base::Result<std::vector<env::Endpoint>> Addresses(const std::string& service) const {
    if (issuer_.principal.empty()) return base::Error{issuer_.key + " is not set: nobody knows whose tokens these are"};
    std::vector<env::Endpoint> addresses = issuer_.addresses(service);
    if (addresses.empty()) return base::Error{"the service '" + service + "' is no address, and no configured name"};
    return addresses;
  }

  /// At the addresses from that one on.
  void Ask(Question question, Done done, size_t at = 0) {
    rpc::RpcTarget target;
    target.address = question.addresses[at];
    target.protocol = issuer_.protocol;
    target.user.user = question.owner.empty() ? manager_.user : question.owner;
    if (!question.owner.empty()) target.user.real_user = manager_.user;
    target.user.server_principal = issuer_.principal;
    const char* method = question.method;
    std::string request = question.request;
    rpc_.Call(target, method, std::move(request), manager_.timeout,
              alive_([this, question = std::move(question), at,
                      done = std::move(done)](base::Result<std::string, rpc::RpcError> answer) {
                const bool refused = answer.ok() || rpc::IsRefusal(answer.error());
                refused || at + 1 == question.addresses.size() ? done(answer) : Ask(question, done, at + 1);
              }));
  }

  env::Loop& loop_;
  const TokenIssuer issuer_;
  const Manager manager_;
  rpc::RpcClient rpc_;
  env::Alive alive_;
};

class OwnTokenService final : public TokenService {
 public:
  OwnTokenService(env::Loop& loop, DelegationTokens& tokens) : loop_(loop), tokens_(tokens) {}

  bool Knows(const RpcToken& token) const override { return !tokens_.Of(token.identifier).owner.empty(); }

  void Renew(const RpcToken& token, Renewed done) override {
    // From a turn of its own, as calls of others: a refusal comes at once.
    loop_.Post(alive_([this, token, done = std::move(done)] {
      tokens_.Renew(AsRenewer(token), token, [done](const base::Result<int64_t, RemoteException>& until) {
        if (until.ok()) return done(*until);
        done(Failure{until.error().message});
      });
    }));
  }
  void Cancel(const RpcToken& token) override {
    tokens_.Cancel(AsRenewer(token), token, [](const auto&) {});
  }

 private:
  static endpoints::yarn::Caller AsRenewer(const RpcToken& token) {
    endpoints::yarn::Caller caller;
    const base::Result<TokenIdentifier> read = ReadIdentifier(token);
    caller.user = read.ok() ? read->renewer : "";
    caller.method = model::LoginMethod::kKerberos;
    return caller;
  }

  env::Loop& loop_;
  DelegationTokens& tokens_;
  env::Alive alive_;
};

}  // namespace

std::vector<env::Endpoint> AddressOfService(const std::string& service) {
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(service);
  return endpoint.ok() ? std::vector<env::Endpoint>{*endpoint} : std::vector<env::Endpoint>{};
}

std::unique_ptr<TokenService> MakeRpcTokenService(env::Loop& loop, env::Net& net, TokenIssuer issuer,
                                                  rpc::RpcClientSecurity security, Manager manager) {
  return std::make_unique<RpcTokenService>(loop, net, std::move(issuer), std::move(security), std::move(manager));
}

std::unique_ptr<TokenService> MakeOwnTokenService(env::Loop& loop, DelegationTokens& tokens) {
  return std::make_unique<OwnTokenService>(loop, tokens);
}

}  // namespace fairlead::process::rm

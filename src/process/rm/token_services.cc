#include "process/rm/token_services.h"

#include <utility>

#include "env/alive.h"
#include "wire/hadoop_rpc/security.h"

namespace fairlead::process::rm {

namespace h = wire::hadoop_rpc;
using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcToken;

namespace {

constexpr base::Duration kTimeout = base::Duration::Seconds(60);  // …delegation-token-renewer.thread-timeout

class RpcTokenService final : public TokenService {
 public:
  RpcTokenService(env::Loop& loop, env::Net& net, TokenIssuer issuer, rpc::RpcClientSecurity security, std::string user)
      : loop_(loop), issuer_(std::move(issuer)), user_(std::move(user)), rpc_(loop, net, {}, std::move(security)) {}

  void Renew(const RpcToken& token, Renewed done) override {
    const auto fail = [&](const std::string& why) { loop_.Post(alive_([done, why] { done(Failure{why}); })); };
    if (issuer_.principal.empty()) return fail(issuer_.key + " is not set: nobody knows whose tokens these are");
    std::vector<env::Endpoint> addresses = issuer_.addresses(token.service);
    if (addresses.empty()) return fail("the service '" + token.service + "' is no address, and no configured name");
    h::RenewDelegationTokenRequestProto request;
    request.token = endpoints::yarn::ToWire(token);
    Ask("renewDelegationToken", request.Encode(), std::move(addresses), 0,
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
    Ask("cancelDelegationToken", request.Encode(), std::move(addresses), 0, [](const auto&) {});
  }

 private:
  using Done = std::function<void(const base::Result<std::string, rpc::RpcError>&)>;
  void Ask(const char* method, std::string request, std::vector<env::Endpoint> addresses, size_t at, Done done) {
    rpc::RpcTarget target;
    target.address = addresses[at];
    target.protocol = issuer_.protocol;
    target.user.user = user_;
    target.user.server_principal = issuer_.principal;
    std::string copy = request;
    rpc_.Call(target, method, std::move(copy), kTimeout,
              alive_([this, method, request = std::move(request), addresses = std::move(addresses), at,
                      done = std::move(done)](base::Result<std::string, rpc::RpcError> answer) {
                const bool elsewhere = !answer.ok() && !rpc::IsRefusal(answer.error()) && at + 1 < addresses.size();
                elsewhere ? Ask(method, request, addresses, at + 1, done) : done(answer);
              }));
  }

  env::Loop& loop_;
  const TokenIssuer issuer_;
  const std::string user_;
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
    const base::Result<std::string> renewer = RenewerOf(token);
    caller.user = renewer.ok() ? *renewer : "";
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
                                                  rpc::RpcClientSecurity security, std::string user) {
  return std::make_unique<RpcTokenService>(loop, net, std::move(issuer), std::move(security), std::move(user));
}

std::unique_ptr<TokenService> MakeOwnTokenService(env::Loop& loop, DelegationTokens& tokens) {
  return std::make_unique<OwnTokenService>(loop, tokens);
}

}  // namespace fairlead::process::rm

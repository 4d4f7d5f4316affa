#include "process/rm/web_token_service.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/url_token.h"
#include "env/alive.h"
#include "process/http/client.h"
#include "process/rm/token_services.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::rm {

namespace {

using endpoints::yarn::RpcToken;
using http::Response;

constexpr size_t kAnswerMax = 64 << 10;
constexpr int kServerError = 500;

/// The answer's RemoteException; a standby's may pass, and what no name node said.
TokenService::Failure Refusal(const Response& answer) {
  const auto said = endpoints::rest::ParseBody("application/json", answer.body, "RemoteException");
  const std::string name = said.ok() ? endpoints::rest::Text(*said, "exception") : "";
  const std::string why = said.ok() ? endpoints::rest::Text(*said, "message") : "";
  return {"HTTP status " + std::to_string(answer.status) + (why.empty() ? "" : ": " + why.substr(0, why.find('\n'))),
          name == "StandbyException" || answer.status >= kServerError};
}

class WebTokenService final : public TokenService {
 public:
  WebTokenService(env::Loop& loop, env::Net& net, env::Gss& gss, std::string principal, base::Duration timeout)
      : loop_(loop), net_(net), gss_(gss), principal_(std::move(principal)), timeout_(timeout) {}

  void Renew(const RpcToken& token, Renewed done) override {
    Ask("RENEWDELEGATIONTOKEN", token, [done](const base::Result<Response, Failure>& answer) {
      if (!answer.ok()) return done(answer.error());
      const auto said = endpoints::rest::ParseBody("application/json", answer->body, "long");
      if (!said.ok() || !said->is_number_integer()) return done(Failure{"the answer cannot be read"});
      done(said->get<int64_t>());
    });
  }
  /// One that cannot be cancelled ends by itself.
  void Cancel(const RpcToken& token) override {
    Ask("CANCELDELEGATIONTOKEN", token, [](const auto&) {});
  }

 private:
  using Done = std::function<void(const base::Result<Response, Failure>&)>;

  void Ask(const char* operation, const RpcToken& token, Done done) {
    const std::vector<env::Endpoint> addresses = AddressOfService(token.service);
    if (addresses.empty()) {
      return loop_.Post(
          alive_([done, why = "the service '" + token.service + "' is no address"] { done(Failure{why}); }));
    }
    http::ClientRequest request;
    request.endpoint = addresses.front();
    request.method = "PUT";
    request.target = std::string("/webhdfs/v1/?op=") + operation + "&token=" + endpoints::yarn::EncodeUrlToken(token);
    request.timeout = timeout_;
    request.body_bytes_max = kAnswerMax;
    const uint64_t number = ++last_login_;
    env::GssContext& login = *(logins_[number] = gss_.Initiate(principal_, request.endpoint.host));
    login.Step("", alive_([this, number, request, done](const base::Result<env::GssContext::Token>& ticket) {
                 loop_.Post(alive_([this, number] { logins_.erase(number); }));  // it ends outside of its own call
                 if (!ticket.ok()) return done(Failure{ticket.error().message, true});
                 Send(request, ticket->bytes, done);
               }));
  }

  void Send(http::ClientRequest request, const std::string& ticket, const Done& done) {
    request.headers.emplace_back("Authorization", "Negotiate " + wire::hadoop_rpc::EncodeBase64(ticket));
    http::Fetch(loop_, net_, std::move(request), alive_([done](const base::Result<Response>& answer) {
                  if (!answer.ok()) return done(Failure{answer.error().message, true});
                  constexpr int kOk = 200;
                  if (answer->status != kOk) return done(Refusal(*answer));
                  done(*answer);
                }));
  }

  env::Loop& loop_;
  env::Net& net_;
  env::Gss& gss_;
  const std::string principal_;
  const base::Duration timeout_;
  std::map<uint64_t, std::unique_ptr<env::GssContext>> logins_;  // that wait for a ticket
  uint64_t last_login_ = 0;
  env::Alive alive_;
};

}  // namespace

std::unique_ptr<TokenService> MakeWebTokenService(env::Loop& loop, env::Net& net, env::Gss& gss, std::string principal,
                                                  base::Duration timeout) {
  return std::make_unique<WebTokenService>(loop, net, gss, std::move(principal), timeout);
}

}  // namespace fairlead::process::rm

#include <nlohmann/json.hpp>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/url_token.h"
#include "process/login/web_login.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// Delegation tokens over HTTP: /ws/v1/cluster/delegation-token (RMWebServices), and ?op= on any path, as Hadoop's own
// client classes ask for them (DelegationTokenAuthenticationHandler).

namespace fairlead::process::rm {

namespace ex = endpoints::yarn::exceptions;
using endpoints::rest::Document;
using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcToken;

namespace {

constexpr char kTokenHeader[] = "Hadoop-YARN-RM-Delegation-Token";

http::Response Refusal(const RemoteException& why) {
  const int status = why.class_name == ex::kAccessControl ? 403 : why.class_name == ex::kInvalidToken ? 400 : 500;
  return http::TextResponse(status, why.message + "\n");
}

/// Nothing: a ticket has shown who asks.
std::optional<http::Response> PageWithoutTicket(const http::Request& request) {
  using model::LoginMethod;
  const LoginMethod method = login::RpcCallerOf(request).method;
  if (method == LoginMethod::kKerberos) return std::nullopt;
  return http::TextResponse(
      403,
      method == LoginMethod::kToken
          ? "Delegation token operations cannot be carried out using delegation token authentication.\n"
          : "Delegation token operations can only be carried out on a Kerberos authenticated channel. Expected auth "
            "type is kerberos, got type null\n");
}

Document TokenDocument(const RpcToken& token, const std::string& renewer, const DelegationTokens::About& about) {
  return Document::Object()
      .Add("token", endpoints::yarn::EncodeUrlToken(token))
      .Add("renewer", renewer)
      .Add("owner", about.owner)
      .Add("kind", token.kind)
      .Add("expiration-time", about.renewed_until_ms)
      .Add("max-validity", about.max_date_ms);
}

}  // namespace

void Web::DelegationToken(const http::Request& request, const Segments& path, const Reply& reply) {
  if (auto refused = PageWithoutTicket(request)) return reply(std::move(*refused));
  DelegationTokens& tokens = *manager_.delegation();
  const endpoints::yarn::Caller caller = login::RpcCallerOf(request);
  if (path.size() == 1 && request.method == "POST") {
    const auto body =
        endpoints::rest::ParseBody(http::FindHeader(request.headers, "Content-Type"), request.body, "delegation-token");
    if (!body.ok())
      return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + body.error().message));
    const std::string renewer = endpoints::rest::Text(*body, "renewer");
    return tokens.Get(caller, renewer,
                      [request, reply, renewer, &tokens](base::Result<RpcToken, RemoteException> token) {
                        if (!token.ok()) return reply(Refusal(token.error()));
                        reply(http::Rendered(request, TokenDocument(*token, renewer, tokens.Of(token->identifier)),
                                             BareRoot(request, "delegation-token")));
                      });
  }
  const bool renews =
      path.size() == 2 && path[1] == "expiration" && (request.method == "POST" || request.method == "PUT");
  const bool cancels = path.size() == 1 && request.method == "DELETE";
  if (!renews && !cancels)
    return reply(Error(request, 405, "WebApplicationException", "The method is not allowed here."));
  const std::string_view said = http::FindHeader(request.headers, kTokenHeader);
  const base::Result<RpcToken> token = endpoints::yarn::DecodeUrlToken(said);
  if (said.empty() || !token.ok()) {
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.Exception: " + (said.empty() ? "Header '" + std::string(kTokenHeader) +
                                                                     "' containing encoded token not found"
                                                               : token.error().message)));
  }
  if (cancels) {
    return tokens.Cancel(caller, *token, [reply](const base::Result<bool, RemoteException>& done) {
      reply(done.ok() ? http::TextResponse(200, "") : Refusal(done.error()));
    });
  }
  tokens.Renew(caller, *token, [request, reply](const base::Result<int64_t, RemoteException>& until) {
    if (!until.ok()) return reply(Refusal(until.error()));
    reply(http::Rendered(request, Document::Object().Add("expiration-time", *until),
                         BareRoot(request, "delegation-token")));
  });
}

bool Web::DelegationOperation(const http::Request& request, const Reply& reply) {
  const std::string_view op = Asked(request.query, "op");
  const bool gets = op == "GETDELEGATIONTOKEN" && request.method == "GET";
  const bool renews = op == "RENEWDELEGATIONTOKEN" && request.method == "PUT";
  if (!manager_.delegation() || (!gets && !renews)) return false;
  if (auto refused = PageWithoutTicket(request)) return reply(std::move(*refused)), true;
  DelegationTokens& tokens = *manager_.delegation();
  endpoints::yarn::Caller caller = login::RpcCallerOf(request);
  if (gets) {
    caller.full_name = caller.user;  // the owner has his short name there
    tokens.Get(caller, std::string(Asked(request.query, "renewer")),
               [reply](const base::Result<RpcToken, RemoteException>& token) {
                 if (!token.ok()) return reply(Refusal(token.error()));
                 const Document url = Document::Object().Add("urlString", endpoints::yarn::EncodeUrlToken(*token));
                 reply(http::JsonResponse(200, Document::Object().Add("Token", url).ToJson("")));
               });
    return true;
  }
  const base::Result<RpcToken> token = endpoints::yarn::DecodeUrlToken(Asked(request.query, "token"));
  if (!token.ok()) return reply(http::TextResponse(400, token.error().message + "\n")), true;
  tokens.Renew(caller, *token, [reply](const base::Result<int64_t, RemoteException>& until) {
    if (!until.ok()) return reply(Refusal(until.error()));
    reply(http::JsonResponse(200, Document::Object().Add("long", *until).ToJson("")));
  });
  return true;
}

void CancelByHolder(DelegationTokens& tokens, const http::Request& request, const http::Server::Reply& reply) {
  const std::string_view text = Asked(request.query, "token");
  if (text.empty()) {
    return reply(http::TextResponse(400, "Operation [CANCELDELEGATIONTOKEN] requires the parameter [token]\n"));
  }
  const auto none = [reply] { reply(http::TextResponse(404, "Invalid delegation token, cannot cancel\n")); };
  const base::Result<RpcToken> token = endpoints::yarn::DecodeUrlToken(text);
  if (!token.ok()) return none();
  tokens.CancelByHolder(*token, [reply, none](const base::Result<bool, RemoteException>& done) {
    done.ok() ? reply(http::TextResponse(200, "")) : none();
  });
}

}  // namespace fairlead::process::rm

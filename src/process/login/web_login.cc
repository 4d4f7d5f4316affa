#include "process/login/web_login.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/text_bounds.h"
#include "endpoints/yarn/tokens.h"
#include "endpoints/yarn/url_token.h"
#include "process/http/json_text.h"
#include "process/login/node_pass.h"
#include "process/login/spnego.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::login {

namespace {

using http::Server;
using Reply = Server::Reply;

constexpr std::string_view kNegotiate = "Negotiate";
/// Of a token's offer: browsers and Java offer five of some ten bytes each. The library goes through all of them for
/// who waits behind it.
constexpr size_t kMechanismBytesMost = 512;
constexpr std::string_view kBearer = "Bearer";
constexpr std::string_view kBasic = "Basic";
constexpr std::string_view kTokenParameter = "delegation";
constexpr std::string_view kDoAs = "doAs";
constexpr std::string_view kUserName = "user.name";
/// The cookie of a browser that was sent for a pass.
constexpr std::string_view kSent = "sent";

/// What tells nothing and is asked by whoever balances load or restarts daemons.
bool IsOpen(const http::Request& request) { return request.path == "/healthz" || request.path == "/readyz"; }

/// By a process that asks for somebody else (RFC 9110, 7.6.3; RFC 7239): the kernel knows that process alone. The
/// resource manager's proxy and the node agent's localizer fetch what strangers name, and say so.
bool IsPassedOn(const http::Request& request) {
  return std::ranges::any_of(request.headers, [](const auto& header) {
    return boost::algorithm::iequals(header.first, "Via") || boost::algorithm::iequals(header.first, "Forwarded") ||
           boost::algorithm::iequals(header.first, "X-Forwarded-For");
  });
}

bool IsRead(const http::Request& request) {
  return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
}

std::string Parameter(const http::Request& request, std::string_view name) {
  for (const auto& [key, value] : request.query) {
    if (boost::algorithm::iequals(key, name)) return value;
  }
  return "";
}

bool IsCancel(const http::Request& request) {
  return request.method == "PUT" && Parameter(request, "op") == "CANCELDELEGATIONTOKEN";
}

/// Takes the parameters out, from the target as well.
void Drop(http::Request& request, std::initializer_list<std::string_view> names) {
  const auto named = [&](std::string_view key) {
    return std::ranges::any_of(names, [&](std::string_view name) { return boost::algorithm::iequals(key, name); });
  };
  if (std::erase_if(request.query, [&](const auto& one) { return named(one.first); }) == 0) return;
  const size_t mark = std::min(request.target.find('?'), request.target.size() - 1);
  std::string kept;
  std::string_view rest = std::string_view(request.target).substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (!named(base::PercentDecode(pair.substr(0, pair.find('=')), true))) {
      kept += (kept.empty() ? "?" : "&") + std::string(pair);
    }
  }
  request.target = request.target.substr(0, mark) + kept;
}

/// StaticUserWebFilter. A name in the request and no visitor: nobody has shown that it is his.
void NameNobody(http::Request& request, const std::string& nobody) {
  std::string& named = request.query[std::string(kUserName)];
  if (named.empty()) named = nobody;
}

/// As HttpExceptionUtils.createServletErrorResponse writes it.
http::Response Forbidden(const std::string& exception, const std::string& message) {
  const std::string simple = exception.substr(exception.rfind('.') + 1);
  const nlohmann::ordered_json body = {{"message", message}, {"exception", simple}, {"javaClassName", exception}};
  return http::JsonResponse(403, http::JsonText(nlohmann::ordered_json{{"RemoteException", body}}));
}

}  // namespace

endpoints::yarn::Caller RpcCallerOf(const http::Request& request) {
  endpoints::yarn::Caller caller;
  caller.user = http::CallerOf(request);
  if (!request.visitor) return caller;
  caller.real_user = request.visitor->real_user;
  caller.principal = request.visitor->principal;
  caller.full_name = request.visitor->full_name;
  if (!caller.principal.empty()) caller.method = model::LoginMethod::kKerberos;
  if (request.visitor->by_token) caller.method = model::LoginMethod::kToken;
  return caller;
}

/// One request on its way in.
struct WebLogin::Visit {
  http::Request request;
  http::Server::Reply reply;
  Next next;
  std::unique_ptr<env::GssContext> context;  // while a ticket is looked at
  http::Headers headers;                     // of the answer, whatever it is
};

WebLogin::WebLogin(env::Loop& loop, WebLoginOptions options) : loop_(loop), options_(std::move(options)) {
  std::string& secret = options_.security.secret;
  if (!secret.empty()) return;
  secret.resize(32);
  loop.RandomBytes({reinterpret_cast<uint8_t*>(secret.data()), secret.size()});
}

void WebLogin::Enter(http::Request request, http::Server::Reply reply, Next next) {
  if (const std::string& strict = options_.security.strict_transport; !strict.empty()) {
    reply = [reply = std::move(reply), strict](http::Response response) {
      response.headers.emplace_back("Strict-Transport-Security", strict);
      reply(std::move(response));
    };
  }
  const auto visit = std::make_shared<Visit>(Visit{std::move(request), std::move(reply), std::move(next), nullptr, {}});
  http::Request& asked = visit->request;
  switch (options_.security.mode) {
    case WebMode::kNames:
      NameNobody(asked, options_.security.nobody);
      return ActFor(visit);
    case WebMode::kReadOnly:
      Drop(asked, {kUserName, kDoAs});
      NameNobody(asked, options_.security.nobody);
      if (IsRead(asked)) return Pass(visit);
      return Refuse(
          visit, "org.apache.hadoop.security.AccessControlException",
          "hadoop.security.authentication is kerberos, and hadoop.http.authentication.type is simple: nothing "
          "is changed here by a name that nobody has shown. Use RPC, after kinit, or let this port take "
          "tickets: hadoop.http.authentication.type=kerberos.");
    case WebMode::kTickets:
    case WebMode::kCallers:
      break;
  }
  if (IsOpen(asked)) return Pass(visit);
  if (options_.security.mode == WebMode::kCallers) return ByConnection(visit);
  if (options_.cancel && IsCancel(asked)) return options_.cancel(std::move(asked), std::move(visit->reply));
  Drop(asked, {kUserName});
  if (ByToken(visit)) return;
  if (ByCookie(visit)) return ActFor(visit);
  const std::string_view said = http::FindHeader(asked.headers, "Authorization");
  if (!boost::algorithm::istarts_with(said, kNegotiate) || options_.security.gss == nullptr) return AskForTicket(visit);
  ByTicket(visit, said.substr(kNegotiate.size()));
}

/// False: there is none.
bool WebLogin::ByToken(const Held& visit) {
  http::Request& asked = visit->request;
  std::string text(http::FindHeader(asked.headers, "X-Hadoop-Delegation-Token"));
  if (text.empty()) text = http::FindHeader(asked.headers, "Hadoop-YARN-Auth-Delegation-Token");
  if (text.empty()) text = Parameter(asked, kTokenParameter);
  if (text.empty()) return false;
  Drop(asked, {kTokenParameter, kDoAs});  // a token is its user's, and he acts for nobody
  const std::string invalid = "org.apache.hadoop.security.authentication.client.AuthenticationException";
  const auto refuse = [&](const std::string& why) {
    LoginFailed(visit, why);
    Refuse(visit, invalid, why);
    return true;
  };
  if (!options_.token) return refuse("no delegation tokens are taken here");
  const base::Result<endpoints::yarn::RpcToken> token = endpoints::yarn::DecodeUrlToken(text);
  if (!token.ok()) return refuse(token.error().message);
  const base::Result<endpoints::yarn::TokenSecret> secret = options_.token(token->identifier);
  if (!secret.ok()) return refuse(secret.error().message);
  if (!endpoints::yarn::SameSecret(secret->password, token->password)) {
    return refuse("the token's password is not the one that was given");
  }
  http::Visitor& visitor = asked.visitor.emplace();
  visitor.user = visitor.full_name = secret->user;
  visitor.real_user = secret->real_user;
  visitor.by_token = true;
  LoggedIn(visit, RpcCallerOf(asked).Shown());
  Pass(visit);
  return true;
}

/// Browsers show a credential as the password of any name (RFC 7617), programs as a bearer (RFC 6750).
void WebLogin::ByConnection(const Held& visit) {
  if (ByPass(visit)) return;
  http::Request& asked = visit->request;
  const std::string said(http::FindHeader(asked.headers, "Authorization"));
  // It is for this port, and for nobody whose page is fetched.
  std::erase_if(asked.headers, [](const auto& one) { return boost::algorithm::iequals(one.first, "Authorization"); });
  const size_t space = std::min(said.find(' '), said.size());
  const std::string_view scheme = std::string_view(said).substr(0, space);
  const std::string_view shown = std::string_view(said).substr(std::min(said.size(), space + 1));
  if (boost::algorithm::iequals(scheme, kBearer)) return ByCredential(visit, shown);
  if (boost::algorithm::iequals(scheme, kBasic)) {
    const auto words =
        shown.size() > endpoints::yarn::kUrlTokenMax ? std::nullopt : wire::hadoop_rpc::DecodeBase64(shown);
    if (!words) return AskForCredential(visit, "the password cannot be read");
    return ByCredential(visit, std::string_view(*words).substr(std::min(words->size(), words->find(':') + 1)));
  }
  if (IsPassedOn(asked)) return AskForCredential(visit, "");
  if (asked.visitor) {
    if (const std::string named = Parameter(asked, kUserName);
        asked.visitor->user == kRoot && http::IsVisible(named) && !named.empty()) {
      asked.visitor->user = asked.visitor->full_name = named;
    }
    Drop(asked, {kUserName});
    return ActFor(visit);
  }
  if (options_.security.callers && IsTrusted(*options_.security.callers, asked.peer, http::CallerOf(asked))) {
    return ActFor(visit);
  }
  AskForCredential(visit, "");
}

/// False: there is none that is good.
bool WebLogin::ByPass(const Held& visit) {
  if (!options_.pass) return false;
  http::Request& asked = visit->request;
  const std::string brought = Parameter(asked, kPassParameter);
  Drop(asked, {kPassParameter});
  std::optional<std::string> user = brought.empty() ? std::nullopt : options_.pass(brought);
  if (user) visit->headers.emplace_back("Set-Cookie", CookieHeader(brought) + "; SameSite=Lax");
  const std::vector<std::string_view> cookies = CookiesOf(asked);
  for (const std::string_view kept : cookies) {
    if (!user) user = options_.pass(kept);
  }
  if (!user && !brought.empty() && std::ranges::count(cookies, kSent) > 0) {
    // The manager would give the same again. The pass of an address that was kept may have ended.
    visit->headers.emplace_back("Set-Cookie", CookieHeader(""));
    LetNobodyIn(visit, "the pass is not good here; the clocks of this machine and of the resource manager may differ");
    return true;
  }
  if (!user) return false;
  Drop(asked, {kUserName, kDoAs});
  http::Visitor& visitor = asked.visitor.emplace();
  visitor.user = visitor.full_name = std::move(*user);
  visitor.by_token = true;
  Pass(visit);
  return true;
}

void WebLogin::ByCredential(const Held& visit, std::string_view text) {
  http::Request& asked = visit->request;
  asked.visitor.reset();
  Drop(asked, {kUserName, kDoAs});  // a credential is its user's, and he acts for nobody
  const size_t dot = text.size() > endpoints::yarn::kUrlTokenMax ? text.npos : text.rfind('.');
  if (dot == text.npos) return AskForCredential(visit, "this is no credential");
  if (!options_.credential) return AskForCredential(visit, "no credentials are taken here");
  const base::Result<endpoints::yarn::TokenSecret> secret = options_.credential(text.substr(0, dot));
  if (!secret.ok()) return AskForCredential(visit, secret.error().message);
  if (!endpoints::yarn::SameSecret(secret->password, std::string(text.substr(dot + 1)))) {
    return AskForCredential(visit, "this is not the credential's secret");
  }
  http::Visitor& visitor = asked.visitor.emplace();
  visitor.user = visitor.full_name = secret->user;
  visitor.by_token = true;
  Pass(visit);
}

void WebLogin::AskForCredential(const Held& visit, const std::string& why) {
  const http::Request& asked = visit->request;
  const bool browses =
      asked.method == "GET" && http::FindHeader(asked.headers, "Accept").find("text/html") != std::string_view::npos;
  if (const std::string page = browses && options_.pass_page ? options_.pass_page(asked.target) : ""; !page.empty()) {
    http::Response redirect = http::Redirect(page);
    redirect.headers.emplace_back("Set-Cookie", CookieHeader(std::string(kSent)) + "; SameSite=Lax");
    return visit->reply(std::move(redirect));
  }
  LetNobodyIn(visit, why);
}

void WebLogin::LoggedIn(const Held& visit, const std::string& who) const {
  options_.security.audit.Success("Auth successful for " + who + " from " + visit->request.peer + " (HTTP)");
}

void WebLogin::LoginFailed(const Held& visit, const std::string& why) const {
  options_.security.audit.Failure("Auth failed for " + visit->request.peer + ":null (HTTP) with true cause: (" + why +
                                  ")");
}

void WebLogin::LetNobodyIn(const Held& visit, const std::string& why) {
  if (!why.empty()) ++refused_;
  LoginFailed(visit, why.empty() ? "nothing shows who it is" : why);
  http::Response response = http::TextResponse(
      401, (why.empty() ? "Nobody here knows who you are" : "You are not let in: " + why) +
               ". Processes of this machine are known by their user; for another machine 'fairlead credentials make "
               "--client NAME' makes a file: 'fairlead join FILE' lets commands in, and a browser takes the credential "
               "in it as the password.\n");
  response.headers = std::move(visit->headers);
  response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"Fairlead\", charset=\"UTF-8\"");
  visit->reply(std::move(response));
}

http::Server::Vouch VouchOf(const WebSecurity& security) {
  if (security.mode != WebMode::kCallers) return {};
  return [callers = security.callers](const env::Endpoint& peer,
                                      const env::Endpoint& local) -> std::optional<http::Visitor> {
    const std::optional<std::string> user = callers->local_user(peer, local);
    if (!user) return std::nullopt;
    return http::Visitor{*user, "", "", *user, false};
  };
}

bool WebLogin::ByCookie(const Held& visit) {
  const std::optional<Cookie> cookie =
      FindCookie(visit->request, options_.security.secret, options_.cookie_type, loop_.Wall().ms);
  if (!cookie) return false;
  http::Visitor& visitor = visit->request.visitor.emplace();
  visitor.user = cookie->user;
  visitor.principal = visitor.full_name = cookie->principal;
  return true;
}

void WebLogin::ByTicket(const Held& visit, std::string_view credentials) {
  while (credentials.starts_with(' ')) credentials.remove_prefix(1);
  std::optional<std::string> token = wire::hadoop_rpc::DecodeBase64(credentials);
  if (!token || token->empty()) return AskForTicket(visit);
  if (OfferedMechanismBytes(*token) > kMechanismBytesMost) {
    return TicketStepped(visit, base::Error{"the token offers too many mechanisms"});
  }
  visit->context = options_.security.gss->Accept(visit->request.peer);
  visit->context->Step(std::move(*token), alive_([this, visit](const auto& stepped) {
                         http::Guard(visit->request, Reply(visit->reply), [&] { TicketStepped(visit, stepped); });
                       }));
}

void WebLogin::TicketStepped(const Held& visit, const base::Result<env::GssContext::Token>& token) {
  const std::string unproven = "org.apache.hadoop.security.authentication.client.AuthenticationException";
  const std::unique_ptr<env::GssContext> context = std::move(visit->context);
  if (!token.ok() || !token->done) {
    LoginFailed(visit, token.ok() ? "the ticket alone does not say who it is" : token.error().message);
    return Refuse(visit, unproven, "the ticket is not taken; the daemon's log says why");
  }
  const std::string principal = context->peer();
  const base::Result<std::string> user = options_.security.short_name(principal);
  if (!user.ok()) {
    LoginFailed(visit, user.error().message);
    return Refuse(visit, unproven, user.error().message);
  }
  LoggedIn(visit, principal + " (auth:KERBEROS)");
  http::Visitor& visitor = visit->request.visitor.emplace();
  visitor.user = *user;
  visitor.principal = visitor.full_name = principal;
  const int64_t expires = loop_.Wall().ms + options_.security.cookie_life.millis();
  if (const auto cookie = Sign({*user, principal, options_.cookie_type, expires}, options_.security.secret)) {
    visit->headers.emplace_back("Set-Cookie", CookieHeader(*cookie));
  }
  if (!token->bytes.empty()) {
    visit->headers.emplace_back("WWW-Authenticate",
                                std::string(kNegotiate) + " " + wire::hadoop_rpc::EncodeBase64(token->bytes));
  }
  ActFor(visit);
}

void WebLogin::ActFor(const Held& visit) {
  http::Request& asked = visit->request;
  const std::string user = Parameter(asked, kDoAs);
  if (user.empty()) return Pass(visit);
  const std::string denied = "org.apache.hadoop.security.authorize.AuthorizationException";
  if (const base::Status within = endpoints::yarn::Within("doAs", user.size(), endpoints::yarn::kNameMax);
      !within.ok() || !http::IsVisible(user)) {
    return Refuse(visit, denied, within.ok() ? "doAs names no user" : within.error().message);
  }
  endpoints::yarn::Caller caller = RpcCallerOf(asked);
  caller.real_user = caller.user;
  caller.user = caller.full_name = user;
  if (user.find_first_of("/@") != std::string::npos && options_.security.short_name) {
    const base::Result<std::string> name = options_.security.short_name(user);
    if (!name.ok()) return Refuse(visit, denied, name.error().message);
    caller.user = *name;
  }
  Drop(asked, {kDoAs, kUserName});
  http::Visitor& visitor = asked.visitor ? *asked.visitor : asked.visitor.emplace();
  visitor.user = caller.user;
  visitor.full_name = caller.full_name;
  visitor.real_user = caller.real_user;
  auto judged = alive_([this, visit, denied](const base::Status& may) {
    http::Guard(visit->request, Reply(visit->reply),
                [&] { may.ok() ? Pass(visit) : Refuse(visit, denied, may.error().message); });
  });
  if (!options_.impersonate) return judged(base::Error{"nobody acts for others here"});
  options_.impersonate(caller, asked.peer, judged);
}

void WebLogin::Pass(const Held& visit) {
  http::Server::Reply reply = std::move(visit->reply);
  if (!visit->headers.empty()) {
    reply = [reply = std::move(reply), headers = std::move(visit->headers)](http::Response response) {
      response.headers.insert(response.headers.end(), headers.begin(), headers.end());
      reply(std::move(response));
    };
  }
  visit->next(std::move(visit->request), std::move(reply));
}

void WebLogin::AskForTicket(const Held& visit) {
  http::Response response = http::TextResponse(
      401, options_.security.gss != nullptr
               ? "Authentication required: a ticket of Kerberos. kinit gets one, and curl --negotiate -u : shows it.\n"
               : "Nobody can log in here: write hadoop.http.authentication.kerberos.keytab and .principal (a key of "
                 "HTTP/HOST), or hadoop.http.authentication.type=simple, with which everybody reads and nobody "
                 "changes anything.\n");
  response.headers = {{"WWW-Authenticate", std::string(kNegotiate)}, {"Set-Cookie", CookieHeader("")}};
  visit->reply(std::move(response));
}

void WebLogin::Refuse(const Held& visit, const std::string& exception, const std::string& why) {
  ++refused_;
  http::Response response = Forbidden(exception, why);
  response.headers.insert(response.headers.end(), visit->headers.begin(), visit->headers.end());
  visit->reply(std::move(response));
}

std::string WebLogin::CookieHeader(const std::string& value) const {
  const WebSecurity& security = options_.security;
  std::string out = std::string(kCookieName) + "=" + (value.empty() ? "" : "\"" + value + "\"") + "; Path=/";
  if (!security.cookie_domain.empty()) out += "; Domain=" + security.cookie_domain;
  if (security.cookie_stays || value.empty()) {
    out += "; Max-Age=" + std::to_string(value.empty() ? 0 : security.cookie_life.millis() / 1000);
  }
  return out + (security.https ? "; Secure" : "") + "; HttpOnly";
}

}  // namespace fairlead::process::login
